#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/threads.h"
#include "config/config.h"
#include "nn/inference/weights.h"
#include "search/searchable_model.h"

namespace nmt {

/// The threads beside the caller's that help where one thread searches alone, one less than wanted: translators of one
/// process that want as many share them.
ThreadPool& search_threads(int threads);

/// A Transformer on the CPU of which nothing is in memory but the packed weights (inference::read_transformer). What is
/// found by looking into its layers, attention, is left to a whole model of the same directory.
class PlainTransformer final : public SearchableModel {
 public:
  /// threads: of its searches. whole: loads that other model, when it is first needed; called once.
  PlainTransformer(std::shared_ptr<const inference::TransformerWeights> weights, const ModelConfig& config, int threads,
                   std::function<std::shared_ptr<SearchableModel>()> whole);

  LengthLimits limits() const override;
  std::unique_ptr<SearchGroup> group(std::span<const SearchMember> members) override;
  std::vector<AttentionLayer> attention_layers(std::span<const int64_t> source,
                                               std::span<const int64_t> target_in) override {
    return whole().attention_layers(source, target_in);
  }

  const std::shared_ptr<const inference::TransformerWeights>& weights() const { return weights_; }
  const ModelConfig& config() const { return config_; }
  int threads() const { return threads_; }
  SearchableModel& whole();

 private:
  std::shared_ptr<const inference::TransformerWeights> weights_;
  ModelConfig config_;
  int threads_;
  std::function<std::shared_ptr<SearchableModel>()> load_whole_;
  std::once_flag whole_is_loaded_;
  std::shared_ptr<SearchableModel> whole_;
};

}  // namespace nmt
