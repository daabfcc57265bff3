#pragma once

#include <memory>
#include <string>

#include "scoring/tokenizers/bleu_tokenizer.h"

namespace nmt::scoring {

/// ja-mecab (dictionary IPADIC) or ko-mecab (mecab-ko-dic): the morphological analyser MeCab. The dictionary is
/// $MECAB_DICTIONARY, else the one that MeCab is set up with. Throws nmt::Error: another dictionary than the one that
/// sacreBLEU asks for, a user dictionary besides, or a build without libmecab.
std::shared_ptr<const BleuTokenizer> make_mecab_tokenizer(const std::string& name);

}  // namespace nmt::scoring
