#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "config/loading/schema.h"
#include "models/tiny_batch.h"
#include "support.h"

namespace nmt::test {

constexpr int64_t kPresetVocabulary = 24;

/// Names of all files in configs/.
inline std::vector<std::string> presets() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(source_directory() / "configs"))
    names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// A preset of configs/ with small layers and without dropout, whose random numbers are the device's own.
inline Config tiny_preset(const std::string& name) {
  const auto path = source_directory() / "configs" / (name + ".yaml");
  const auto whole = load_config(path).config;
  constexpr int64_t kModel = 16;
  std::vector<std::string> changes = {
      "model.d_model=16",
      "model.dropout_rate=" + std::string(whole.training.objective == ObjectiveKind::kRDrop ? "1e-9" : "0"),
      "training.max_updates=4", "training.accumulate=1",
      "training.warmup_steps=" + std::string(whole.training.schedule == ScheduleKind::kConstant ? "0" : "2")};
  const auto& model = whole.model;
  if (model.architecture == Architecture::kTransformer) {
    changes.insert(changes.end(), {"model.d_ff=24", "model.num_heads=2"});
  }
  if (model.num_blocks > 2) changes.emplace_back("model.num_blocks=2");
  const auto share = [&](const char* option, int64_t size) {
    if (size > 0)
      changes.push_back(std::string("model.") + option + "=" +
                        std::to_string(std::max<int64_t>(2, size * kModel / model.d_model)));
  };
  share("embedding_size", model.embedding_size);
  share("encoder_size", model.encoder_size);
  share("attention_size", model.attention_size);
  share("readout_size", model.readout_size);
  for (const auto& [option, rate] : {std::pair("input", model.input_dropout_rate),
                                     {"attention", model.attention_dropout_rate},
                                     {"residual", model.residual_dropout_rate},
                                     {"ffn", model.ffn_dropout_rate}})
    if (rate) changes.push_back(std::string("model.") + option + "_dropout_rate=0");
  return load_config(path, changes).config;
}

/// Pairs of 1 to `longest` words; the target is no copy: words change and their order turns round.
inline std::vector<Pair> preset_pairs(int64_t count, uint64_t seed, uint64_t longest = 7) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < count; ++i) {
    CounterRandom random({seed, static_cast<uint64_t>(i)});
    Pair pair;
    for (uint64_t n = 0, words = 1 + random.below(longest); n < words; ++n) {
      pair.first.push_back(4 + static_cast<int64_t>(random.below(kPresetVocabulary - 4)));
      pair.second.insert(pair.second.begin(), 4 + pair.first.back() * 7 % (kPresetVocabulary - 4));
    }
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace nmt::test
