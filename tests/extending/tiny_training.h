#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "training/loop/objectives.h"
#include "training/loop/train_update.h"
#include "training/optimizers/optimizer.h"

namespace nmt::test {

constexpr int64_t kTinyVocabulary = 17;

inline ModelConfig tiny_config(const std::string& more = "") {
  return model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, dropout_rate: 0.1" + more);
}

/// Sentences whose translation is the same words in the other order.
inline std::vector<Pair> made_up_pairs() {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < 12; ++i) {
    Pair pair;
    for (int64_t k = 0; k <= i % 5; ++k) pair.first.push_back(4 + (i * 7 + k * 5) % 13);
    pair.second.assign(pair.first.rbegin(), pair.first.rend());
    pairs.push_back(pair);
  }
  return pairs;
}

/// Trains on made-up pairs; the loss per token of each update.
inline std::vector<double> train(TranslationModel& model, Objective& objective, int64_t updates) {
  model.train();
  Adam adam(named_parameters(model), {});
  std::vector<double> losses;
  for (int64_t update = 1; update <= updates; ++update) {
    const auto stats = train_update({.model = model, .optimizer = adam, .objective = objective},
                                    {batch_of(made_up_pairs())}, {.seed = 1, .update = update}, 0.01);
    losses.push_back(stats.loss / static_cast<double>(stats.target_tokens));
  }
  model.eval();
  return losses;
}

/// From its initial values, and that it learns.
inline void expect_to_learn(TranslationModel& model, const ModelConfig& config, int64_t updates = 20) {
  initialise(model, config, 1);
  CrossEntropy objective({}, {});
  const auto losses = train(model, objective, updates);
  EXPECT_LT(losses.back(), 0.8 * losses.front());
}

/// Four pairs as model_checks.h takes them.
inline const std::vector<Pair>& check_pairs() {
  static const std::vector<Pair> pairs = {
      {{5, 9, 4, 11}, {4, 8, 15, 6, 9, 12, 5, 7}},
      {{7}, {9, 6, 5, 10}},
      {{10, 6, 8, 5, 4, 16, 12, 14, 9}, {7}},
      {{1, 15, 13}, {}},
  };
  return pairs;
}

}  // namespace nmt::test
