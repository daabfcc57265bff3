#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/interface/model.h"
#include "search/search_options.h"
#include "search/step.h"
#include "text/codec/codec.h"

namespace nmt {

/// Sentences padded to a rectangle, as TranslationModel::start takes them.
struct SourceTensors {
  torch::Tensor ids;      ///< int64 [batch, source] pieces </s> <pad>..., or as write_source() has it; on the device
  torch::Tensor lengths;  ///< int64 [batch], on the CPU
};

/// sources: pieces without markers.
SourceTensors to_source_tensors(std::span<const std::vector<int32_t>* const> sources, const SourceForm& form,
                                torch::Device device);

/// A model that takes part in a search.
struct SearchModel {
  TranslationModel* model = nullptr;
  SourceForm source_form = {};
  double weight = 1;  ///< of its vote; weights are divided by their sum
};

/// Where the model's parameters are (the CPU if it has none).
torch::Device device_of(const TranslationModel& model);

/// Models of LibTorch, which have one target vocabulary and stand on one device; with several they vote as
/// SearchOptions::combination says. The caller of a search holds a NoGradGuard and has put them into evaluation mode.
class TorchModels final : public DecodingModel {
 public:
  explicit TorchModels(std::span<const SearchModel> models) : models_(models) {}  ///< borrows them

  std::unique_ptr<DecodingStep> start(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                                      const LogitsRules& rules) override;
  bool joins() const override;
  bool exact_blocks() const override;
  int64_t target_vocabulary() const override { return models_.front().model->target_vocabulary(); }
  void add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                     std::vector<std::vector<Hypothesis>>& results) override;

 private:
  std::span<const SearchModel> models_;
};

/// What a step says of logits float32 [rows, vocabulary] on any device; the rules change nothing. On CUDA which of
/// several equally probable tokens at the very end of a list is named is the device's choice.
StepScores step_scores(const torch::Tensor& logits, const StepQuery& query, const DecodingConfig& options = {});

}  // namespace nmt
