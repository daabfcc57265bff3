#include "text/codec/codec.h"

#include <fmt/format.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"
#include "text/codec/tag_form.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/tokenizer.h"
#include "text/words.h"

namespace nmt {
namespace {

bool is_latin(UChar32 c) {
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(c, &status) == USCRIPT_LATIN;
}

std::string keep_latin(std::string_view text) {
  std::string kept;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char32_t c = next_code_point(text, i);
    if (is_python_space(c) || c == '\'' || is_latin(c)) kept.append(text, begin, i - begin);
  }
  return kept;
}

}  // namespace

std::string normalize(std::string_view text, const Normalization& normalization) {
  std::string result(strip(without_invisible(text)));
  if (!normalization.nfkc && !normalization.lowercase && !normalization.latin_only) return result;
  if (find_invalid_utf8(result)) result = repair_utf8(result);
  if (normalization.nfkc) result = std::string(strip(nfkc(result)));
  if (normalization.lowercase) result = lower_case(result);
  if (normalization.latin_only) result = std::string(strip(keep_latin(result)));
  return result;
}

int64_t marker_count(SourceMarkers markers) {
  return markers == SourceMarkers::kBoth ? 2 : markers == SourceMarkers::kEnd ? 1 : 0;
}

int64_t source_length(int64_t pieces, SourceMarkers markers) {
  return std::max<int64_t>(1, pieces + marker_count(markers));
}

void write_source(std::span<const int32_t> pieces, const SourceForm& form, int64_t* row) {
  if (form.markers == SourceMarkers::kBoth) *row++ = SpecialIds::kBegin;
  row = form.reversed ? std::reverse_copy(pieces.begin(), pieces.end(), row)
                      : std::copy(pieces.begin(), pieces.end(), row);
  if (form.markers != SourceMarkers::kNone || pieces.empty()) *row = SpecialIds::kEnd;
}

std::vector<int64_t> text_order(int64_t pieces, const SourceForm& form) {
  std::vector<int64_t> order(source_length(pieces, form.markers));
  std::iota(order.begin(), order.end(), 0);
  const auto first = order.begin() + (form.markers == SourceMarkers::kBoth ? 1 : 0);
  if (form.reversed) std::reverse(first, first + pieces);
  return order;
}

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
  constexpr size_t kLargest = 1 << 30;
  std::string bytes = read_regular_file(path, kLargest);
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
  if (!options_.tags_both_sides) return;
  if (const auto tag = tag_piece(*source_, options_.source_language)) prefix_ids_ = {*tag};
  target_tag_ = tag_piece(*target_, options_.target_language);
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
                  .source_prefix = field_or<std::string>(settings, "source_prefix", "", directory),
                  .tags_both_sides = field_or(settings, "tags_both_sides", false, directory)};
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
  if (options_.tags_both_sides) settings["tags_both_sides"] = true;
  if (const auto* words = dynamic_cast<const WordTokenizer*>(source_.get())) {
    settings["min_cnt"] = words->limits().min_count;
    settings["vocab_size"] = words->limits().max_size;
  }
  return settings;
}

std::string TextCodec::normalized(std::string_view text) const { return normalize(text, options_.normalization()); }

std::vector<int32_t> TextCodec::encode_source(std::string_view text) const {
  return encode_normalized_source(normalized(text));
}

std::vector<int32_t> TextCodec::encode_normalized_source(std::string_view normalized) const {
  if (prefix_ids_.empty()) return source_->encode(normalized);
  if (options_.tags_both_sides) {
    auto pieces = source_->encode(normalized);
    if (!pieces.empty()) pieces.insert(pieces.begin(), prefix_ids_.begin(), prefix_ids_.end());
    return pieces;
  }
  auto ids = source_->encode(options_.source_prefix + std::string(normalized));
  return ids == prefix_ids_ ? std::vector<int32_t>() : ids;
}

int64_t TextCodec::prefix_length(std::span<const int32_t> source) const {
  return std::ranges::mismatch(source, prefix_ids_).in1 - source.begin();
}

std::vector<int32_t> TextCodec::encode_target(std::string_view text) const { return target_->encode(normalized(text)); }

std::string TextCodec::decode_target(std::span<const int32_t> ids) const { return target_->decode(ids); }

std::string readable_vocabulary(const Tokenizer& tokenizer) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (const auto* words = dynamic_cast<const WordTokenizer*>(&tokenizer)) {
    for (int32_t id = 0; id < words->size(); ++id) fmt::format_to(out, "{}\t{}\n", words->piece(id), words->count(id));
    return text;
  }
  if (const auto* pieces = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer)) {
    // Six significant digits, as a C++ stream prints them.
    for (const auto& piece : read_pieces(pieces->serialized(), "SentencePiece"))
      fmt::format_to(out, "{}\t{:g}\n", piece.text, static_cast<double>(piece.score));
    return text;
  }
  for (int32_t id = 0; id < tokenizer.size(); ++id) fmt::format_to(out, "{}\n", tokenizer.piece(id));
  return text;
}

std::string readable_name(const std::string& file) {
  std::string_view stem = file;
  for (const std::string_view ending : {".vocab.tsv", ".model", ".spm"})
    if (stem.ends_with(ending)) return fmt::format("{}.vocab", stem.substr(0, stem.size() - ending.size()));
  return file + ".vocab";
}

std::map<std::string, std::string> readable_vocabularies(const TextCodec& codec) {
  const auto names = codec.file_names();
  std::map<std::string, std::string> files;
  files[readable_name(names.front())] = readable_vocabulary(codec.source());
  if (!codec.joint()) files[readable_name(names.back())] = readable_vocabulary(codec.target());
  return files;
}

namespace {

std::string tokenizer_difference(const Tokenizer& theirs, const Tokenizer& ours) {
  if (theirs.size() != ours.size())
    return fmt::format("the vocabulary has {} entries there and {} here", theirs.size(), ours.size());
  for (int32_t id = 0; id < ours.size(); ++id)
    if (theirs.piece(id) != ours.piece(id))
      return fmt::format("entry {} of the vocabulary is '{}' there and '{}' here", id, theirs.piece(id),
                         ours.piece(id));
  const auto* a = dynamic_cast<const SentencePieceTokenizer*>(&theirs);
  const auto* b = dynamic_cast<const SentencePieceTokenizer*>(&ours);
  if (!a != !b || (a && a->serialized() != b->serialized()))
    return "the tokenizers have the same vocabulary but cut text in other ways";
  return "";
}

}  // namespace

std::vector<std::string> codec_differences(const TextCodec& theirs, const TextCodec& ours) {
  const auto &a = theirs.options(), &b = ours.options();
  std::vector<std::string> found;
  const auto compare = [&](const char* option, const auto& there, const auto& here) {
    if (there != here) found.push_back(fmt::format("{} is {} there and {} here", option, there, here));
  };
  const auto characters = [](bool latin_only) { return latin_only ? "latin" : "all"; };
  compare("data.lowercase", a.lowercase, b.lowercase);
  compare("data.nfkc", a.nfkc, b.nfkc);
  compare("data.characters", std::string(characters(a.latin_only)), std::string(characters(b.latin_only)));
  compare("data.source_markers", name_of(a.source_markers), name_of(b.source_markers));
  compare("data.reverse_source", a.reverse_source, b.reverse_source);
  compare("tags_both_sides", a.tags_both_sides, b.tags_both_sides);
  for (const auto& [side, there, here] :
       {std::tuple("source", &theirs.source(), &ours.source()), std::tuple("target", &theirs.target(), &ours.target())})
    if (const auto difference = tokenizer_difference(*there, *here); !difference.empty())
      found.push_back(fmt::format("{}: {}", side, difference));
  return found;
}

}  // namespace nmt
