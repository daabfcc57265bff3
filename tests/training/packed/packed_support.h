#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "training/packed/batch_plan.h"
#include "training/packed/flat_weights.h"
#include "training/packed/packed_transformer.h"

/// What the tests of updates on packed words share.
namespace nmt::test {

constexpr int64_t kPackedVocabulary = 27;  // no multiple of 16

/// Small, with a head of 64 and without dropout where `model` does not say otherwise.
inline Config packed_config(const std::string& model = "", const std::string& training = "") {
  std::string options = model;
  for (const std::string option : {"d_model: 64", "d_ff: 48", "num_blocks: 1", "num_heads: 1", "dropout_rate: 0"})
    if ((", " + model).find(", " + option.substr(0, option.find(' '))) == std::string::npos)
      options += (options.empty() ? "" : ", ") + option;
  return parse_config("{data: {maxlen1: 8, maxlen2: 8}, model: {" + options + "}, training: {" + training + "}}",
                      "test")
      .config;
}

/// Pairs of these lengths without end symbols, of words that repeat.
inline Batch packed_batch(const std::vector<std::pair<int64_t, int64_t>>& lengths) {
  std::vector<Pair> pairs;
  int64_t i = 0;
  const auto words = [&](int64_t count) {
    std::vector<int64_t> made;
    for (int64_t n = 0; n < count; ++n, ++i) made.push_back(4 + i * i * 7 % 11 * (i % 3) % (kPackedVocabulary - 4));
    return made;
  };
  for (const auto& [source, target] : lengths) {
    auto from = words(source);
    pairs.emplace_back(std::move(from), words(target));
  }
  return batch_of(pairs);
}

inline std::shared_ptr<TranslationModel> packed_model(const ModelConfig& config) {
  auto model = formula_model(config, kPackedVocabulary, kPackedVocabulary);
  model->train();
  return model;
}

}  // namespace nmt::test
