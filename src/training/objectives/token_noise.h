#pragma once

#include <torch/types.h>

#include "nn/ops/forward_context.h"
#include "text/tokenizer.h"

namespace nmt {

/// Puts `by` in the place of each piece with probability `rate`, one by one; <pad>, <s> and </s> stay. With <unk> it is
/// word dropout (Iyyer et al. 2015; Sennrich et al. 2016); with <pad>, whose embedding is zero, also token cut-off
/// (Shen et al. 2020): the position stays. ids int64 [batch, width]. A function of (the pass's key of this place,
/// index), on every device; ids unchanged outside training or for rate = 0.
torch::Tensor drop_tokens(const torch::Tensor& ids, double rate, int64_t by, ForwardContext& pass);

}  // namespace nmt
