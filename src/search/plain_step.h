#pragma once

#include <memory>
#include <span>

#include "nn/inference/weights.h"
#include "search/step.h"
#include "search/torch_step.h"

namespace nmt {

namespace inference {
struct Workspace;
}

/// A Transformer in a search on the CPU whose steps know no tensor: src/nn/inference. The same bits as TorchModels.
class PlainModel final : public DecodingModel {
 public:
  /// Borrows the model; weights: its TranslationModel::inference_weights().
  PlainModel(const SearchModel& model, std::shared_ptr<const inference::TransformerWeights> weights);
  ~PlainModel() override;

  std::unique_ptr<DecodingStep> start(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                                      const LogitsRules& rules) override;
  bool joins() const override { return true; }
  bool exact_blocks() const override { return true; }
  int64_t target_vocabulary() const override { return weights_->output.weight.out; }
  void add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                     std::vector<std::vector<Hypothesis>>& results) override;

 private:
  SearchModel model_;
  std::shared_ptr<const inference::TransformerWeights> weights_;
  std::unique_ptr<inference::Workspace> work_;  // of all its steps: a search has one thread
};

/// The weights for a PlainModel, as they are now, where there is one model that it can be made of; else null, and a
/// debug line of the log says why. Gradients are off and the model is in evaluation mode.
std::shared_ptr<const inference::TransformerWeights> plain_weights(std::span<const SearchModel> models);

/// What one thread searches with: a PlainModel where there are weights for it, else TorchModels. Borrows the models.
std::unique_ptr<DecodingModel> make_decoding_model(std::span<const SearchModel> models,
                                                   std::shared_ptr<const inference::TransformerWeights> plain);

}  // namespace nmt
