#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/strict_json.h"
#include "config/kinds.h"
#include "text/tokenizer.h"

namespace nmt {

/// What happens to a text before it is cut into pieces, apart from SentencePiece's own rule.
struct Normalization {
  bool nfkc = false;       ///< Unicode normalisation form KC
  bool lowercase = false;  ///< after it
  /// After these: deletes every character but white space, the letters of the Latin script (Unicode's Script=Latin, so
  /// with diacritics, but no combining mark of its own) and the ASCII apostrophe, as Kyubyong's program of 2017.
  bool latin_only = false;
};

/// Characters without a form of their own (invisible_length: soft hyphens, word joiners, marks of direction) and white
/// space at both ends removed, then as asked. Bytes that are not UTF-8 become U+FFFD where anything is asked for,
/// and stay (for the tokenizer to take as unknown) elsewhere: any bytes are taken.
std::string normalize(std::string_view text, const Normalization& normalization);

/// How many they are, 0 to 2.
int64_t marker_count(SourceMarkers markers);

/// Tokens of a sentence of so many pieces as the encoder reads it.
int64_t source_length(int64_t pieces, SourceMarkers markers);

/// How an encoder reads a sentence: what stands around its pieces, and whether these come last to first (Sutskever et
/// al. 2014, sec. 3.3). Markers keep their places.
struct SourceForm {
  SourceForm(SourceMarkers markers = SourceMarkers::kEnd, bool reversed = false)  // NOLINT: most are not reversed
      : markers(markers), reversed(reversed) {}
  bool operator==(const SourceForm&) const = default;

  SourceMarkers markers;
  bool reversed;
};

/// Writes a sentence as the encoder reads it: source_length() ids from `row` on.
void write_source(std::span<const int32_t> pieces, const SourceForm& form, int64_t* row);

/// The other way: which token of the encoder's, of source_length(pieces), is the i-th of the text, markers counted.
/// Without reversal 0, 1, 2, ...
std::vector<int64_t> text_order(int64_t pieces, const SourceForm& form);

/// Both languages' way from raw text to ids and back: normalisation options and tokenizers, and what stands around the
/// source's ids. It travels with the prepared data and with every model directory: as files beside (spm.model, or
/// source.spm and target.spm; of words de.vocab.tsv and en.vocab.tsv, say, or joint.vocab.tsv) and a JSON object
/// "tokenizer".
class TextCodec {
 public:
  struct Options {
    bool lowercase = false;  ///< the source text before encoding (targets were lower-cased by nmt-prepro)
    bool nfkc = false;
    bool latin_only = false;
    std::string source_language = {}, target_language = {};
    SourceMarkers source_markers = SourceMarkers::kEnd;
    bool reverse_source = false;     ///< the encoder reads the source's pieces last to first
    std::string source_prefix = {};  ///< text before each source sentence, which the tokenizer gets with it
    /// The pieces ">>de<<" of source_language before each source and ">>fr<<" of target_language before each target
    /// tell the languages (M2M-100, Fan et al. 2021). No text is cut into them.
    bool tags_both_sides = false;
    SourceForm source_form() const { return {source_markers, reverse_source}; }
    Normalization normalization() const { return {.nfkc = nfkc, .lowercase = lowercase, .latin_only = latin_only}; }
  };

  /// source and target may be the same object: a joint vocabulary.
  TextCodec(Options options, std::shared_ptr<const Tokenizer> source, std::shared_ptr<const Tokenizer> target);

  /// The same tokenizers under other options.
  TextCodec with(Options options) const { return {std::move(options), source_, target_}; }

  /// Reads what save() wrote. Throws Error ("DIR/spm.model: ...") for missing or damaged files.
  static TextCodec load(const std::filesystem::path& directory, const nlohmann::json& settings);
  /// Writes the files into the folder and returns the JSON object for the manifest or model.json.
  nlohmann::json save(const std::filesystem::path& directory) const;

  /// The names of the files that save() writes: the source's or the joint one, and, where not joint, the target's.
  std::vector<std::string> file_names() const;
  /// The same before there are tokenizers.
  static std::vector<std::string> file_names(bool of_words, bool joint, const Options& options);

  std::string normalized(std::string_view text) const;  ///< as it is encoded
  /// Normalised, behind source_prefix, as pieces without specials. A text that has no pieces has none with it either.
  std::vector<int32_t> encode_source(std::string_view text) const;
  /// The same of a normalised text.
  std::vector<int32_t> encode_normalized_source(std::string_view normalized) const;
  /// How many of encode_source()'s pieces are those of source_prefix.
  int64_t prefix_length(std::span<const int32_t> source) const;
  int64_t prefix_length() const { return std::ssize(prefix_ids_); }
  const std::vector<int32_t>& prefix_ids() const { return prefix_ids_; }  ///< of source_prefix or the tag alone
  std::vector<int32_t> encode_target(std::string_view text) const;
  /// The tag of the target language, with which every target begins as the decoder reads it; nullopt: it has none.
  std::optional<int32_t> target_tag() const { return target_tag_; }
  /// Such a target, of its pieces.
  std::vector<int32_t> tagged_target(std::vector<int32_t> pieces) const {
    if (target_tag_) pieces.insert(pieces.begin(), *target_tag_);
    return pieces;
  }
  std::string decode_target(std::span<const int32_t> ids) const;

  const Tokenizer& source() const { return *source_; }
  const Tokenizer& target() const { return *target_; }
  bool joint() const { return source_ == target_; }
  const Options& options() const { return options_; }

 private:
  Options options_;
  std::shared_ptr<const Tokenizer> source_, target_;
  std::vector<int32_t> prefix_ids_;
  std::optional<int32_t> target_tag_;
};

/// The vocabulary for a reader: `piece TAB score` a line, as SentencePiece's own trainer writes it beside a model, or
/// `word TAB count`; line i + 1 has the piece of id i. Words that are unknown to the tokenizer are not in it.
std::string readable_vocabulary(const Tokenizer& tokenizer);

/// The files that stand beside those that TextCodec::save() writes: spm.vocab beside spm.model, source.vocab beside
/// source.spm, de.vocab beside de.vocab.tsv, with their text.
std::map<std::string, std::string> readable_vocabularies(const TextCodec& codec);

/// The name of the readable file beside one of TextCodec::save().
std::string readable_name(const std::string& file);

/// How two ways from text to ids differ, "data.lowercase is true there and false here"; none: they give the same ids.
/// Languages and the source's prefix (another task of the same model) are not compared.
std::vector<std::string> codec_differences(const TextCodec& theirs, const TextCodec& ours);

}  // namespace nmt
