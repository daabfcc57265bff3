#include "text/codec/codec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/file_descriptor.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/words/word_tokenizer.h"

namespace nmt {
namespace {

constexpr const char* kPieces = "sentencepiece";
constexpr const char* kWords = "words";

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

/// The same for a field that older versions did not write.
template <typename T>
T field_or(const nlohmann::json& settings, const char* name, T absent, const std::filesystem::path& directory) {
  return settings.is_object() && !settings.contains(name) ? absent : field<T>(settings, name, directory);
}

SourceMarkers markers_of(const nlohmann::json& settings, const std::filesystem::path& directory) {
  const auto name = field_or<std::string>(settings, "source_markers", "end", directory);
  try {
    return Choice<SourceMarkers>(name);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: the tokenizer's settings: {}", directory.string(), error.what()));
  }
}

/// A language becomes part of a file's name.
std::string language_of(const nlohmann::json& settings, const char* name, const std::filesystem::path& directory) {
  auto language = field<std::string>(settings, name, directory);
  if (language.find('/') != language.npos || language.find('\0') != language.npos)
    throw Error(fmt::format("{}: the tokenizer's settings: \"{}\" is no name of a language; make it again",
                            directory.string(), name));
  return language;
}

/// The files beside the settings.
struct FileNames {
  std::string joint, source, target;
};

FileNames names_of(const std::string& type, const TextCodec::Options& options) {
  if (type == kPieces) return {.joint = "spm.model", .source = "source.spm", .target = "target.spm"};
  const bool differ = options.source_language != options.target_language;
  return {.joint = "joint.vocab.tsv",
          .source = (differ ? options.source_language : "source") + ".vocab.tsv",
          .target = (differ ? options.target_language : "target") + ".vocab.tsv"};
}

/// The file's hash is compared: a protocol buffer that was cut short between two pieces still parses.
std::string read_checked(const std::filesystem::path& path, const std::string& sha256) {
  require_regular_file(path);
  std::string bytes = read_file(path);
  if (sha256_of_bytes(bytes) != sha256) {
    throw Error(path.string() + ": damaged, or of another model (its checksum differs); make or copy it again");
  }
  return bytes;
}

std::string type_of(const Tokenizer& tokenizer) {
  if (dynamic_cast<const SentencePieceTokenizer*>(&tokenizer)) return kPieces;
  if (dynamic_cast<const WordTokenizer*>(&tokenizer)) return kWords;
  throw Error("this kind of tokenizer cannot be saved");
}

const std::string& serialized(const Tokenizer& tokenizer) {
  if (const auto* words = dynamic_cast<const WordTokenizer*>(&tokenizer)) return words->serialized();
  return dynamic_cast<const SentencePieceTokenizer&>(tokenizer).serialized();
}

}  // namespace

TextCodec::TextCodec(Options options, std::shared_ptr<const Tokenizer> source, std::shared_ptr<const Tokenizer> target)
    : options_(std::move(options)), source_(std::move(source)), target_(std::move(target)) {
  if (!options_.source_prefix.empty()) prefix_ids_ = source_->encode(options_.source_prefix);
}

TextCodec TextCodec::load(const std::filesystem::path& directory, const nlohmann::json& settings) {
  const auto type = field<std::string>(settings, "type", directory);
  if (type != kPieces && type != kWords) {
    throw Error(fmt::format("{}: a tokenizer of type {}, which this version does not know; use a newer one",
                            directory.string(), type));
  }
  Options options{.lowercase = field<bool>(settings, "lowercase", directory),
                  .nfkc = field<bool>(settings, "nfkc", directory),
                  .latin_only = field_or(settings, "latin_only", false, directory),
                  .source_language = language_of(settings, "source_language", directory),
                  .target_language = language_of(settings, "target_language", directory),
                  .source_markers = markers_of(settings, directory),
                  .reverse_source = field_or(settings, "reverse_source", false, directory),
                  .source_prefix = field_or<std::string>(settings, "source_prefix", "", directory)};
  const auto hashes = field<std::map<std::string, std::string>>(settings, "files", directory);
  const auto load_one = [&](const std::string& name) -> std::shared_ptr<const Tokenizer> {
    const auto sum = hashes.find(name);
    if (sum == hashes.end()) {
      throw Error(fmt::format("{}: the tokenizer's settings do not name {}; make it again", directory.string(), name));
    }
    const auto path = directory / name;
    std::string bytes = read_checked(path, sum->second);
    if (type == kPieces) return std::make_shared<const SentencePieceTokenizer>(std::move(bytes), path.string());
    const WordLimits limits{.min_count = field<int64_t>(settings, "min_cnt", directory),
                            .max_size = field<int64_t>(settings, "vocab_size", directory)};
    return std::make_shared<const WordTokenizer>(std::move(bytes), path.string(), limits);
  };
  const FileNames names = names_of(type, options);
  if (field<bool>(settings, "joint", directory)) {
    const auto both = load_one(names.joint);
    return {std::move(options), both, both};
  }
  return {std::move(options), load_one(names.source), load_one(names.target)};
}

std::vector<std::string> TextCodec::file_names() const {
  return file_names(type_of(*source_) == kWords, joint(), options_);
}

std::vector<std::string> TextCodec::file_names(bool of_words, bool joint, const Options& options) {
  const FileNames names = names_of(of_words ? kWords : kPieces, options);
  return joint ? std::vector{names.joint} : std::vector{names.source, names.target};
}

nlohmann::json TextCodec::save(const std::filesystem::path& directory) const {
  const std::string type = type_of(*source_);
  nlohmann::json files = nlohmann::json::object();
  const auto save_one = [&](const Tokenizer& tokenizer, const std::string& name) {
    write_file_atomically(directory / name, serialized(tokenizer));
    files[name] = sha256_of_bytes(serialized(tokenizer));
  };
  const auto names = file_names();
  save_one(*source_, names.front());
  if (!joint()) save_one(*target_, names.back());
  nlohmann::json settings = {{"type", type},
                             {"joint", joint()},
                             {"files", files},
                             {"lowercase", options_.lowercase},
                             {"nfkc", options_.nfkc},
                             {"latin_only", options_.latin_only},
                             {"source_language", options_.source_language},
                             {"target_language", options_.target_language},
                             {"source_markers", name_of(options_.source_markers)},
                             {"reverse_source", options_.reverse_source}};
  // Only where there is one: the hash of prepared data is that of these settings, and older data have none.
  if (!options_.source_prefix.empty()) settings["source_prefix"] = options_.source_prefix;
  if (const auto* words = dynamic_cast<const WordTokenizer*>(source_.get())) {
    settings["min_cnt"] = words->limits().min_count;
    settings["vocab_size"] = words->limits().max_size;
  }
  return settings;
}

std::string TextCodec::normalized(std::string_view text) const { return normalize(text, options_.normalization()); }

std::vector<int32_t> TextCodec::encode_source(std::string_view text) const {
  return encode_normalized_source(normalized(text), [&](std::string_view whole) { return source_->encode(whole); });
}

int64_t TextCodec::prefix_length(std::span<const int32_t> source) const {
  return std::ranges::mismatch(source, prefix_ids_).in1 - source.begin();
}

std::vector<int32_t> TextCodec::encode_target(std::string_view text) const { return target_->encode(normalized(text)); }

std::string TextCodec::decode_target(std::span<const int32_t> ids) const { return target_->decode(ids); }

}  // namespace nmt
