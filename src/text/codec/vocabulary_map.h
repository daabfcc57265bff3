#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/codec/codec.h"
#include "text/tokenizer.h"

namespace nmt {

/// The old pieces that stand for each piece of a new vocabulary: itself where the old one has it, else those that
/// spell it, as the old tokenizer cuts its text; none where these are unknown. The special pieces stand for themselves.
/// normalization: how the old vocabulary's texts are normalised.
std::vector<std::vector<int32_t>> map_vocabulary(const Tokenizer& from, const Normalization& normalization,
                                                 const Tokenizer& to);

/// What a map does not change: how two ways differ in what the encoder and the decoder read beside a sentence's own
/// pieces, and in their order; some of codec_differences().
std::vector<std::string> sentence_differences(const TextCodec& theirs, const TextCodec& ours);

}  // namespace nmt
