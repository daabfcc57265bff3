#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/interface/model.h"
#include "models/model_directory.h"
#include "search/search_options.h"
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

/// The hypotheses of a search in one model or several: as DecoderState and TranslationModel::step for all of them.
class SearchState {
 public:
  /// Encodes sentences: sources[sentence][model], pieces without markers. One row a sentence. Borrows the models, which
  /// have one target vocabulary and stand on one device.
  SearchState(std::span<const SearchModel> models, Combination combination,
              std::span<const std::vector<std::vector<int32_t>>* const> sources);

  /// Where all models have DecodingCapabilities::ragged_positions: adds the rows of another state of the same models
  /// behind its own ones. Sentences join a search that is under way.
  void join(SearchState other);

  int64_t rows() const { return members_.front().state->rows(); }
  /// Feeds each row its next token (first <s>). Logits of the one after, float32 [rows, target vocabulary]: those of a
  /// single model as they are, else the log-probabilities of all together.
  torch::Tensor step(const std::vector<int64_t>& tokens) { return combined(member_logits(tokens)); }
  /// The same in two parts: the logits of each model, and what they are together, a row at a time (all columns of the
  /// models' logits, or some of them).
  std::vector<torch::Tensor> member_logits(const std::vector<int64_t>& tokens);
  /// The logits of each model after each of n tokens that every row is fed at once, of each model [rows, n,
  /// vocabulary]: where exact_prefill(), the bits of n single steps. tokens: those of the first row, then those of the
  /// second, ...
  std::vector<torch::Tensor> prefill_logits(const std::vector<int64_t>& tokens);
  bool exact_prefill() const;
  int64_t target_vocabulary() const { return members_.front().model->target_vocabulary(); }
  torch::Tensor combined(const std::vector<torch::Tensor>& logits) const;
  /// From now on the logits are those of these tokens only: see TranslationModel::restrict_outputs.
  void restrict_outputs(const std::vector<int32_t>& tokens);
  torch::Device device() const { return device_; }
  /// New row r continues old row rows[r].
  void select(const std::vector<int64_t>& rows);

 private:
  struct Member {
    TranslationModel* model;
    SourceForm source_form;
    double log_weight, weight;
    std::unique_ptr<DecoderState> state;
  };
  std::unique_ptr<DecoderState> start(size_t member,
                                      std::span<const std::vector<std::vector<int32_t>>* const> sources) const;

  std::vector<Member> members_;
  Combination combination_;
  torch::Device device_;
};

/// Throws Error unless all models write with the same target pieces: names two directories that do not.
void require_one_target(std::span<const LoadedModel> models);

}  // namespace nmt
