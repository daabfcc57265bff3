#pragma once

#include <torch/types.h>

#include <memory>

#include "nn/decode/key_value_cache.h"

namespace nmt {

/// The form of `options`; the plain one where a layer's attention does not fit the kernels.
std::unique_ptr<KeyValueCache> make_key_value_cache(const CacheOptions& options, const AttentionForm& form);

/// Of sentences that start together, keys and values side by side [sentences, source, features]: the first group. Not
/// for CacheForm::kStatic, whose caches are made for rows instead of sentences: static_cache.h.
std::unique_ptr<SourceCache> make_source_cache(CacheForm form, const torch::Tensor& keys_and_values,
                                               const AttentionForm& attention);

}  // namespace nmt
