#pragma once

#include <torch/types.h>

namespace nmt {

/// Key's place less query's place, int64 [target, source]: j - (first_query + i).
torch::Tensor distances(int64_t first_query, int64_t target, int64_t source, torch::Device device);

/// table [batch, heads, target, n] looked up by index [target, source] (int64 below n): result[..., i, j] =
/// table[..., i, index[i, j]], [batch, heads, target, source].
torch::Tensor pick(const torch::Tensor& table, const torch::Tensor& index);

/// T5's bucket of a distance (key's place less query's; Raffel et al. 2020, sec. 2.1): half of the buckets hold one
/// distance each, the other half grow logarithmically up to max_distance, the last one holds all beyond. Two-sided: the
/// upper half of the buckets is for keys behind their query; one-sided: such keys share bucket 0.
int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t max_distance, bool two_sided);

/// ALiBi's slopes (Press et al. 2022, sec. 3), float32 [heads]: 2^(-8 h / heads), h = 1..heads, where heads is a power
/// of two; else those of the power below, then every other one of the power above.
torch::Tensor alibi_slopes(int64_t heads);

}  // namespace nmt
