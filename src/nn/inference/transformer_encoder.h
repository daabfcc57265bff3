#pragma once

#include <cstdint>
#include <span>

#include "nn/inference/operations.h"
#include "nn/inference/weights.h"

namespace nmt::inference {

/// The encoder's output for sentences that lie end to end, without padding: ids of all of them, the number of tokens of
/// each -> x [ids, model].
void encode(const TransformerWeights& weights, std::span<const int64_t> ids, std::span<const int64_t> lengths, float* x,
            Workspace& work);

}  // namespace nmt::inference
