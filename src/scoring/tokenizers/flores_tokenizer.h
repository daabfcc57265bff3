#pragma once

#include <memory>
#include <string>

#include "scoring/tokenizers/bleu_tokenizer.h"

namespace nmt::scoring {

/// spm, flores101, flores200 or spBLEU-1K. model: a file, or empty for sacreBLEU's own place.
/// The plain name spm with a model of one's own is signed with the model's checksum, "spm-1a2b3c4d".
/// Throws nmt::Error if there is no such model.
std::shared_ptr<const BleuTokenizer> make_sentencepiece_tokenizer(const std::string& name, const std::string& model);

}  // namespace nmt::scoring
