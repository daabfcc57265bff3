#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/search/search_operations.h"
#include "models/search/torch_step.h"

namespace nmt {

/// A product's weight [out, in] and bias [out] (undefined: none).
struct SearchProduct {
  torch::Tensor weight, bias;
};

/// A decoder block: products of n, the normalised sum, and what is added to the sum with its bias, float32 [width].
struct SearchLayer {
  SearchProduct qkv, self_output, query, source_output, inner, outer;
  SearchNorm after_self, after_source, after_feed_forward;  ///< of the sums
};

/// A Transformer's weights for DeviceSearch, on its device in its type; norms and the biases of *output and outer are
/// float32. Those that stand side by side are copies.
struct SearchWeights {
  int64_t width = 0, heads = 0, vocabulary = 0;
  bool pre_norm = false;    ///< continues with the sum, else with its normalisation
  torch::Tensor table;      ///< [vocabulary, width]
  torch::Tensor positions;  ///< [target positions, width]
  SearchNorm first;         ///< pre_norm: of the embeddings
  std::vector<SearchLayer> layers;
  SearchProduct source_keys_and_values;  ///< of all layers: [layers * 2 * width, width]
  SearchProduct output;                  ///< rows are a multiple of 16
};

/// Null where the model is no Transformer that DeviceSearch computes, and a debug line of the log says why. capacity:
/// target positions at most.
std::shared_ptr<const SearchWeights> search_weights(TranslationModel& model, int64_t capacity);

}  // namespace nmt
