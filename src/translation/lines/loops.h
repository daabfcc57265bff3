#pragma once

#include <cstdint>
#include <span>

#include "translation/lines/request.h"

namespace nmt {

/// With decoding.retry_loops: of n-grams of this size none comes twice in the second search.
constexpr int64_t kRetryNgram = 4;

/// Whether one group of tokens comes four times in a row or more, eight tokens in all at least.
bool repeats_itself(std::span<const int32_t> tokens);

/// Whether the translation of one of the parts has lost its way: it repeats itself where its source does not, or was
/// cut at more than twice the source and 20 tokens.
bool is_loop(const Alternative& alternative);

}  // namespace nmt
