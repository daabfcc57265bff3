#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/threads.h"
#include "nn/inference/weights.h"
#include "search/step.h"
#include "text/codec/codec.h"

namespace nmt {

namespace inference {
struct Workspace;
}

/// A Transformer in a search on the CPU whose steps know no tensor: src/nn/inference. The same bits as TorchModels.
class PlainModel final : public DecodingModel {
 public:
  /// DecodingModel::add_attention(), for which a model is needed that can be looked into.
  using AddAttention = std::function<void(std::span<const SearchInput* const>, const SearchOptions&,
                                          std::vector<std::vector<Hypothesis>>&)>;
  /// threads: that help with each step; none: the caller's does all.
  PlainModel(const SourceForm& source_form, std::shared_ptr<const inference::TransformerWeights> weights,
             ThreadPool* threads, AddAttention add_attention);
  ~PlainModel() override;

  std::unique_ptr<DecodingStep> start(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                                      const LogitsRules& rules) override;
  bool joins() const override { return true; }
  bool exact_blocks() const override { return true; }
  int64_t target_vocabulary() const override { return weights_->output.weight.out; }
  void add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                     std::vector<std::vector<Hypothesis>>& results) override {
    add_attention_(sentences, options, results);
  }

 private:
  SourceForm source_form_;
  std::shared_ptr<const inference::TransformerWeights> weights_;
  std::unique_ptr<inference::Workspace> work_;  // of all its steps: a search has one thread
  AddAttention add_attention_;
};

}  // namespace nmt
