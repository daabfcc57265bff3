#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nmt::scoring {

/// A tokeniser of BLEU: text in, text out, whose tokens are what Python's str.split() finds.
/// Objects are immutable and may be used by several threads.
class BleuTokenizer {
 public:
  virtual ~BleuTokenizer() = default;
  /// Replaces `out` by the tokenised line. Throws nmt::Error if the line is not UTF-8 and the tokeniser must know.
  virtual void tokenize(std::string_view line, std::string& out) const = 0;
  virtual std::string signature() const = 0;  ///< "13a", "flores200", "ja-mecab-0.996-IPA"

  std::string tokenize(std::string_view line) const;
};

/// spm, flores101, flores200 or spBLEU-1K. model: a file, or empty for sacreBLEU's own place.
/// The plain name spm with a model of one's own is signed with the model's checksum, "spm-1a2b3c4d".
/// Throws nmt::Error if there is no such model.
std::shared_ptr<const BleuTokenizer> make_sentencepiece_tokenizer(const std::string& name, const std::string& model);

/// ja-mecab (dictionary IPADIC) or ko-mecab (mecab-ko-dic): the morphological analyser MeCab. The dictionary is
/// $MECAB_DICTIONARY, else the one that MeCab is set up with. Throws nmt::Error: another dictionary than the one that
/// sacreBLEU asks for, a user dictionary besides, or a build without libmecab.
std::shared_ptr<const BleuTokenizer> make_mecab_tokenizer(const std::string& name);

/// The names that sacreBLEU knows: none, zh, 13a, intl, char, ja-mecab, ko-mecab, spm, flores101, flores200, spBLEU-1K.
const std::vector<std::string>& tokenizer_names();

/// The tokeniser of that name. `sentencepiece_model` is the model file of the SentencePiece ones; empty: the place
/// where sacreBLEU keeps what it has downloaded ($SACREBLEU or ~/.sacrebleu, folder models). Throws nmt::Error: unknown
/// name, no such model, a tokeniser that this build lacks.
std::shared_ptr<const BleuTokenizer> make_tokenizer(const std::string& name,
                                                    const std::string& sentencepiece_model = "");

/// sacreBLEU's choice for a target language code: zh, ja-mecab, ko-mecab or 13a.
std::string tokenizer_for_language(std::string_view language);

}  // namespace nmt::scoring
