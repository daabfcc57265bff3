#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scoring/tokenizers/bleu_tokenizer.h"

namespace nmt::scoring {

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
