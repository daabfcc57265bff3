#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmt/error.h"
#include "nmt/export.h"
#include "nmt/stop_token.h"

NMT_API_BEGIN

/// Source and target have vocabularies of their own, or one together.
enum class Side { kSource, kTarget };

/// A model's way from text to pieces and ids and back, as it travels with a model directory and with prepared data.
/// Immutable: any number of threads may use it; copies share it.
class NMT_EXPORT Tokenizer {
 public:
  /// Ids that every vocabulary has.
  static constexpr std::int32_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3;

  /// Reads the tokenizers of a model directory or a folder of prepared data. Throws UserError where it is neither, or
  /// damaged.
  explicit Tokenizer(const std::string& directory);
  Tokenizer(const Tokenizer&) = default;  ///< what is moved from stays as it was
  Tokenizer& operator=(const Tokenizer&) = default;

  /// A text, normalised as the model's input is and cut; without `<s>` and `</s>`. Any bytes are taken: what is not
  /// UTF-8, and what no piece stands for, becomes kUnknown.
  std::vector<std::int32_t> encode(std::string_view text, Side side = Side::kSource) const;
  /// The same, as pieces.
  std::vector<std::string> encode_pieces(std::string_view text, Side side = Side::kSource) const;
  /// The text of ids or pieces; `<pad>`, `<s>` and `</s>` say nothing. Throws UserError for what the vocabulary has
  /// not.
  std::string decode(const std::vector<std::int32_t>& ids, Side side = Side::kTarget) const;
  /// The same, of pieces.
  std::string decode_pieces(const std::vector<std::string>& pieces, Side side = Side::kTarget) const;
  /// A text as it is before it is cut: normalised as the model's input is.
  std::string normalized(std::string_view text) const;

  std::int64_t size(Side side) const;                                       ///< pieces
  std::string piece(std::int32_t id, Side side) const;                      ///< throws UserError beyond size()
  std::optional<std::int32_t> id(std::string_view piece, Side side) const;  ///< none: there is no such piece
  bool is_joint() const;                                                    ///< both sides are one vocabulary
  std::string language(Side side) const;                                    ///< may be empty

 private:
  class State;
  std::shared_ptr<const State> state_;
};

/// How a SentencePiece vocabulary is learned: as nmt-prepro does.
struct SentencePieceOptions {
  std::string type = "bpe";        ///< bpe or unigram
  std::int64_t vocab_size = 8000;  ///< pieces, at most 1,000,000
  /// Share of the text's characters that get pieces, the most frequent ones first; 0.98 to 1.
  double character_coverage = 0.9995;
  bool byte_fallback = false;                  ///< other characters become pieces of their bytes
  std::vector<std::string> user_symbols = {};  ///< strings that are one piece always; none empty, none twice
  std::string normalization = "nmt_nfkc";      ///< SentencePiece's: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity
  StopToken stop = {};                         ///< ends the work
};

/// Learns a SentencePiece model from lines of UTF-8; the bytes of a spm.model, the same for the same lines and options.
/// It runs in a child process made by fork(). Throws UserError (an option out of range, a size that the text does not
/// allow, with the possible one), MachineError, Stopped.
NMT_EXPORT std::string train_sentencepiece(const std::vector<std::string>& lines, const SentencePieceOptions& options);

/// A tokenizer of metrics, as sacreBLEU's BLEU uses it: text in, tokens with spaces between out. Thread-safe.
class NMT_EXPORT MetricTokenizer {
 public:
  /// name: one of metric_tokenizers(). Throws UserError for others and for one whose model is not there.
  explicit MetricTokenizer(const std::string& name, const std::string& sentencepiece_model = {});
  MetricTokenizer(const MetricTokenizer&) = default;  ///< what is moved from stays as it was
  MetricTokenizer& operator=(const MetricTokenizer&) = default;
  std::string tokenize(std::string_view text) const;  ///< throws UserError where it is not UTF-8 and has to be

 private:
  std::shared_ptr<const void> tokenizer_;
};

/// "none", "zh", "13a", "intl", "char", "ja-mecab", "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K".
NMT_EXPORT std::vector<std::string> metric_tokenizers();

/// Moses' tokens of German, English and French ("de", "en", "fr"), as sacremoses 0.2.0 makes them; UserError for other
/// languages.
NMT_EXPORT std::string moses_tokenize(std::string_view text, const std::string& language, bool escape = true,
                                      bool split_dashes = false);
/// The text of Moses' tokens; `unescape` turns `&amp;` and the like into characters.
NMT_EXPORT std::string moses_detokenize(std::string_view tokens, const std::string& language, bool unescape = true);

/// The sentences of running text, by Unicode's rules and the language's abbreviations (BCP 47: "de", "pt-BR").
NMT_EXPORT std::vector<std::string> split_sentences(std::string_view text, const std::string& language);

NMT_API_END
