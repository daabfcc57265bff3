#include "text/codec.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "text/normalization.h"
#include "text/sentencepiece_tokenizer.h"

namespace nmt {
namespace {

constexpr const char* kType = "sentencepiece";
constexpr const char* kJointFile = "spm.model";
constexpr const char* kSourceFile = "source.spm";
constexpr const char* kTargetFile = "target.spm";

/// A field of the JSON object "tokenizer". Throws Error.
template <typename T>
T field(const nlohmann::json& settings, const char* name, const std::filesystem::path& directory) {
  try {
    return settings.at(name).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw Error(
        fmt::format("{}: the tokenizer's settings lack a valid \"{}\"; make it again", directory.string(), name));
  }
}

/// The file's hash is compared: a protocol buffer that was cut short between two pieces still parses.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& path, const std::string& sha256) {
  std::string bytes = read_file(path);
  if (sha256_of_bytes(bytes) != sha256) {
    throw Error(path.string() + ": damaged, or of another model (its checksum differs); make or copy it again");
  }
  return std::make_shared<const SentencePieceTokenizer>(std::move(bytes), path.string());
}

/// Writes the model and returns its SHA-256.
std::string save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& path) {
  const auto* sentencepiece = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer);
  if (!sentencepiece) throw Error(path.string() + ": this kind of tokenizer cannot be saved");
  write_file_atomically(path, sentencepiece->serialized());
  return sha256_of_bytes(sentencepiece->serialized());
}

std::string normalized(std::string_view text, const TextCodec::Options& options) {
  return normalize(text, {.nfkc = options.nfkc, .lowercase = options.lowercase});
}

}  // namespace

TextCodec::TextCodec(Options options, std::shared_ptr<const Tokenizer> source, std::shared_ptr<const Tokenizer> target)
    : options_(std::move(options)), source_(std::move(source)), target_(std::move(target)) {}

TextCodec TextCodec::load(const std::filesystem::path& directory, const nlohmann::json& settings) {
  const auto type = field<std::string>(settings, "type", directory);
  if (type != kType) {
    throw Error(fmt::format("{}: a tokenizer of type {}, which this version does not know; use a newer one",
                            directory.string(), type));
  }
  Options options{.lowercase = field<bool>(settings, "lowercase", directory),
                  .nfkc = field<bool>(settings, "nfkc", directory),
                  .source_language = field<std::string>(settings, "source_language", directory),
                  .target_language = field<std::string>(settings, "target_language", directory)};
  const auto hashes = field<std::map<std::string, std::string>>(settings, "files", directory);
  const auto hash_of = [&](const char* name) {
    const auto found = hashes.find(name);
    if (found == hashes.end()) {
      throw Error(fmt::format("{}: the tokenizer's settings do not name {}; make it again", directory.string(), name));
    }
    return found->second;
  };
  if (field<bool>(settings, "joint", directory)) {
    const auto both = load_tokenizer(directory / kJointFile, hash_of(kJointFile));
    return {std::move(options), both, both};
  }
  return {std::move(options), load_tokenizer(directory / kSourceFile, hash_of(kSourceFile)),
          load_tokenizer(directory / kTargetFile, hash_of(kTargetFile))};
}

nlohmann::json TextCodec::save(const std::filesystem::path& directory) const {
  nlohmann::json files = nlohmann::json::object();
  if (joint()) {
    files[kJointFile] = save_tokenizer(*source_, directory / kJointFile);
  } else {
    files[kSourceFile] = save_tokenizer(*source_, directory / kSourceFile);
    files[kTargetFile] = save_tokenizer(*target_, directory / kTargetFile);
  }
  return {{"type", kType},
          {"joint", joint()},
          {"files", files},
          {"lowercase", options_.lowercase},
          {"nfkc", options_.nfkc},
          {"source_language", options_.source_language},
          {"target_language", options_.target_language}};
}

std::vector<int32_t> TextCodec::encode_source(std::string_view text) const {
  return source_->encode(normalized(text, options_));
}

std::vector<int32_t> TextCodec::encode_target(std::string_view text) const {
  return target_->encode(normalized(text, options_));
}

std::string TextCodec::decode_target(std::span<const int32_t> ids) const { return target_->decode(ids); }

}  // namespace nmt
