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
  /// Borrows the model, as its weights are now. Throws inference::Unsupported, as
  /// TranslationModel::inference_weights().
  explicit PlainModel(const SearchModel& model);
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

/// What searches with these models: a PlainModel where there is one model that it can be made of, else TorchModels; a
/// debug line of the log says why. Borrows them, as TorchModels does.
std::unique_ptr<DecodingModel> make_decoding_model(std::span<const SearchModel> models);

}  // namespace nmt
