#include "search/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "nn/device/device.h"
#include "text/tokenizer.h"

namespace nmt {

SourceTensors to_source_tensors(std::span<const std::vector<int32_t>* const> sources, const SourceForm& form,
                                torch::Device device) {
  int64_t width = 0;
  for (const auto* source : sources) width = std::max(width, source_length(std::ssize(*source), form.markers));
  const int64_t batch = std::ssize(sources);
  const auto ids = torch::full({batch, width}, int64_t{SpecialIds::kPad}, torch::kLong);
  const auto lengths = torch::empty({batch}, torch::kLong);
  for (int64_t i = 0; i < batch; ++i) {
    write_source(*sources[i], form, ids.data_ptr<int64_t>() + i * width);
    lengths.data_ptr<int64_t>()[i] = source_length(std::ssize(*sources[i]), form.markers);
  }
  return {copy_to_device(ids, device), lengths};
}

torch::Device device_of(const TranslationModel& model) {
  // Asked for each sentence that joins a search: the list of all parameters has a name to build for each.
  for (const bool of_all : {false, true})
    for (const auto& parameter : model.parameters(of_all)) return parameter.device();
  return torch::kCPU;
}

SearchState::SearchState(std::span<const SearchModel> models, Combination combination,
                         std::span<const std::vector<std::vector<int32_t>>* const> sources)
    : combination_(combination), device_(device_of(*models.front().model)) {
  double sum = 0;
  for (const auto& member : models) sum += member.weight;
  for (const auto& member : models) {
    const double weight = member.weight / sum;
    members_.push_back({member.model, member.source_form, std::log(weight), weight, nullptr});
  }
  for (size_t i = 0; i < members_.size(); ++i) members_[i].state = start(i, sources);
}

std::unique_ptr<DecoderState> SearchState::start(
    size_t member, std::span<const std::vector<std::vector<int32_t>>* const> sources) const {
  std::vector<const std::vector<int32_t>*> own;
  for (const auto* sentence : sources) own.push_back(&sentence->at(member));
  const auto source = to_source_tensors(own, members_[member].source_form, device_);
  return members_[member].model->start(source.ids, source.lengths);
}

void SearchState::join(SearchState other) {
  for (size_t i = 0; i < members_.size(); ++i) members_[i].state->join(std::move(other.members_[i].state));
}

bool SearchState::exact_prefill() const {
  return std::ranges::all_of(members_, [](const auto& one) { return one.model->capabilities().exact_prefill; });
}

std::vector<torch::Tensor> SearchState::member_logits(const std::vector<int64_t>& row_tokens) {
  const auto tokens = copy_to_device(torch::tensor(row_tokens, torch::kLong), device_);
  std::vector<torch::Tensor> logits;  // [rows, vocabulary]
  for (auto& member : members_) logits.push_back(member.model->step(*member.state, tokens));
  return logits;
}

std::vector<torch::Tensor> SearchState::prefill_logits(const std::vector<int64_t>& tokens_of_rows) {
  const auto tokens = copy_to_device(torch::tensor(tokens_of_rows, torch::kLong).view({rows(), -1}), device_);
  std::vector<torch::Tensor> logits;  // [rows, n, vocabulary]
  for (auto& member : members_) logits.push_back(member.model->step(*member.state, tokens, StepLogits::kEach));
  return logits;
}

torch::Tensor SearchState::combined(const std::vector<torch::Tensor>& logits) const {
  if (members_.size() == 1) return logits.front();
  torch::Tensor together;
  for (size_t i = 0; i < members_.size(); ++i) {
    const auto& member = members_[i];
    const auto own = at::log_softmax(logits[i], -1);
    const auto vote = combination_ == Combination::kLinear ? own + member.log_weight : own * member.weight;
    if (!together.defined()) {
      together = vote;
    } else {
      together = combination_ == Combination::kLinear ? at::logaddexp(together, vote) : together + vote;
    }
  }
  return together;
}

void SearchState::restrict_outputs(const std::vector<int32_t>& tokens) {
  for (auto& member : members_) member.model->restrict_outputs(*member.state, tokens);
}

void SearchState::select(const std::vector<int64_t>& rows) {
  const auto chosen = torch::tensor(rows, torch::kLong);
  for (auto& member : members_) member.state->select(chosen);
}

void require_one_target(std::span<const LoadedModel> models) {
  const auto& first = models.front();
  for (const auto& other : models.subspan(1)) {
    const Tokenizer &a = first.codec.target(), &b = other.codec.target();
    const auto refuse = [&](const std::string& difference) {
      throw Error(
          fmt::format("{} and {}: an ensemble needs one target vocabulary, but {}; take models trained on the "
                      "same prepared data",
                      first.directory.string(), other.directory.string(), difference));
    };
    if (a.size() != b.size()) refuse(fmt::format("they have {} and {} pieces", a.size(), b.size()));
    for (int32_t id = 0; id < a.size(); ++id)
      if (a.piece(id) != b.piece(id)) refuse(fmt::format("piece {} is '{}' and '{}'", id, a.piece(id), b.piece(id)));
  }
}

}  // namespace nmt
