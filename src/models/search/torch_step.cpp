#include "models/search/torch_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "search/batch_candidates.h"
#include "search/step_scores.h"
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

namespace {

/// Logits on a device.
class DeviceLogits final : public Logits {
 public:
  explicit DeviceLogits(torch::Tensor& logits) : logits_(logits) { logits_ = logits_.contiguous(); }
  int64_t columns() const override { return logits_.size(1); }
  std::vector<float> at(std::span<const int64_t> places) const override {
    const auto values = logits_.view(-1).index_select(0, to_device(places)).cpu();
    return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
  }
  void set(std::span<const int64_t> places, std::span<const float> values) override {
    const auto on_device = copy_to_device(
        torch::tensor(at::ArrayRef<float>(values.data(), values.size()), torch::kFloat), logits_.device());
    logits_.view(-1).index_copy_(0, to_device(places), on_device);
  }
  void penalize(std::span<const int64_t> places, float penalty) override {
    const auto on_device = to_device(places);
    const auto values = logits_.view(-1).index_select(0, on_device);
    logits_.view(-1).index_copy_(0, on_device, at::where(values > 0, values / penalty, values * penalty));
  }

 private:
  torch::Tensor to_device(std::span<const int64_t> places) const {
    return copy_to_device(torch::tensor(at::ArrayRef<int64_t>(places.data(), places.size()), torch::kLong),
                          logits_.device());
  }
  torch::Tensor& logits_;
};

PlainLogits plain(torch::Tensor& logits) {
  logits = logits.contiguous();
  return {{logits.mutable_data_ptr<float>(), static_cast<size_t>(logits.numel())},
          logits.size(1),
          may_share() ? &step_threads() : nullptr};
}

BestTokens best_tokens_on_device(const torch::Tensor& logits, int64_t most) {
  constexpr float kInfiniteLogit = std::numeric_limits<float>::infinity();
  const int64_t count = std::min(most, logits.size(1));
  auto log_probabilities = at::log_softmax(logits, -1);
  log_probabilities.select(1, SpecialIds::kPad).fill_(-kInfiniteLogit);
  log_probabilities.select(1, SpecialIds::kBegin).fill_(-kInfiniteLogit);
  const auto [device_values, device_ids] = log_probabilities.topk(count, -1);
  // Both in one copy, the only time that a step waits for the device; float64 holds either exactly.
  const auto found = at::stack({device_values.to(torch::kFloat64), device_ids.to(torch::kFloat64)}).cpu();
  const double* values = found.const_data_ptr<double>();  // [2, rows, count]
  const int64_t size = device_values.numel();
  BestTokens result{.width = count, .ids = {}, .log_probabilities = {}};
  result.log_probabilities.assign(values, values + size);
  result.ids.assign(values + size, values + 2 * size);
  for (int64_t row = 0; row < logits.size(0); ++row) {
    float* value = result.log_probabilities.data() + row * count;
    int32_t* id = result.ids.data() + row * count;
    if (!std::isfinite(value[0])) fail_on_logits();
    for (int64_t i = 0; i < count;) {  // runs of equal probability by id; probability 0 is none
      int64_t end = i + 1;
      while (end < count && value[end] == value[i]) ++end;
      if (value[i] == -kInfiniteLogit) std::fill(id + i, id + end, BestTokens::kNone);
      std::sort(id + i, id + end);
      i = end;
    }
  }
  return result;
}

class TorchStep final : public DecodingStep {
 public:
  TorchStep(std::span<const SearchModel> models, std::span<const SearchInput* const> sentences,
            const SearchOptions& options, const LogitsRules& rules)
      : options_(options), rules_(rules), device_(device_of(*models.front().model)) {
    double sum = 0;
    for (const auto& member : models) sum += member.weight;
    for (const auto& [model, source_form, weight] : models) {
      std::vector<const std::vector<int32_t>*> sources;
      for (const auto* sentence : sentences) sources.push_back(&sentence->sources.at(members_.size()));
      const auto source = to_source_tensors(sources, source_form, device_);
      members_.push_back({model, std::log(weight / sum), weight / sum, model->start(source.ids, source.lengths), {}});
    }
    if (sentences.front()->candidates.empty()) return;
    candidates_.emplace(sentences, std::ssize(sentences));
    for (const auto& sentence : candidates_->sentences())
      if (!device_.is_cpu()) device_columns_.push_back(copy_to_device(torch::tensor(sentence.columns), device_));
    for (auto& member : members_) member.model->restrict_outputs(*member.state, candidates_->groups().front());
  }

  int64_t rows() const override { return members_.front().state->rows(); }

  void feed(const StepInput& input) override {
    const auto& [ancestors, row_tokens] = input;
    if (!stays(ancestors, rows())) select(ancestors);
    auto tokens = torch::tensor(row_tokens, torch::kLong);
    is_block_ = row_tokens.size() > ancestors.size();
    if (is_block_) tokens = tokens.view({rows(), -1});
    tokens = copy_to_device(tokens, device_);
    for (auto& member : members_) member.logits.reset();  // their memory is wanted
    for (auto& [model, log_weight, weight, state, logits] : members_)
      logits = model->step(*state, tokens, is_block_ ? StepLogits::kEach : StepLogits::kLast);
  }

  StepScores scores(const StepQuery& query) override {
    std::vector<torch::Tensor> logits;  // of each member [rows, vocabulary]
    for (auto& member : members_)
      logits.push_back(is_block_ ? member.logits.select(1, query.token).contiguous() : std::move(member.logits));
    if (!candidates_) return judge(std::move(logits), query, {});
    return candidates_->scores(query, nullptr, [&](const BatchCandidates::Run& run, const StepQuery& own_query) {
      std::vector<torch::Tensor> own;
      for (const auto& of_member : logits) own.push_back(logits_of(of_member.narrow(0, run.first_row, run.rows), run));
      return judge(std::move(own), own_query, candidates_->sentences()[run.sentence].tokens);
    });
  }

  void join(std::unique_ptr<DecodingStep> other) override {
    auto& joined = dynamic_cast<TorchStep&>(*other);
    for (size_t i = 0; i < members_.size(); ++i) members_[i].state->join(std::move(joined.members_[i].state));
  }

 private:
  struct Member {
    TranslationModel* model;
    double log_weight, weight;
    std::unique_ptr<DecoderState> state;
    torch::Tensor logits;  // [rows, vocabulary], of a block [rows, n, vocabulary]
  };

  void select(const std::vector<int64_t>& ancestors) {
    const auto rows = torch::tensor(ancestors, torch::kLong);
    for (auto& member : members_) member.state->select(rows);
    if (candidates_) candidates_->select(ancestors);
  }

  /// The logits [rows, its candidates] of a sentence's rows.
  torch::Tensor logits_of(const torch::Tensor& rows, const BatchCandidates::Run& run) const {
    if (!device_columns_.empty()) return rows.index_select(1, device_columns_[run.sentence]);
    const auto from = rows.contiguous();  // LibTorch selects columns one by one
    const std::span values(from.const_data_ptr<float>(), static_cast<size_t>(from.numel()));
    const auto own = columns_of(values, rows.size(1), candidates_->sentences()[run.sentence].columns);
    return torch::tensor(own, torch::kFloat).view({run.rows, -1});
  }

  /// logits: of each member [rows, columns]. columns: their tokens, or none where they are the vocabulary.
  StepScores judge(std::vector<torch::Tensor> logits, const StepQuery& query, std::span<const int32_t> columns) const {
    using Of = LogitsRules::Of;
    const bool several = logits.size() > 1;
    if (several)
      for (auto& of_member : logits) change(of_member, Of::kMember, query.rules, columns);
    auto together = combined(logits);
    change(together, several ? Of::kEnsemble : Of::kModel, query.rules, columns);
    if (columns.empty()) return step_scores(together, query, options_);
    const auto rules = in_places(query.rules, columns);
    StepQuery placed = query;
    placed.rules = rules;
    return step_scores(together, placed, options_);
  }

  void change(torch::Tensor& logits, LogitsRules::Of of, std::span<const RowRules> rows,
              std::span<const int32_t> columns) const {
    if (rows.empty()) return;
    if (logits.device().is_cpu()) {
      auto values = plain(logits);
      rules_.change(values, of, rows, columns);
    } else {
      DeviceLogits values(logits);
      rules_.change(values, of, rows, columns);
    }
  }

  torch::Tensor combined(const std::vector<torch::Tensor>& logits) const {
    if (members_.size() == 1) return logits.front();
    torch::Tensor together;
    for (size_t i = 0; i < members_.size(); ++i) {
      const auto& member = members_[i];
      const auto own = at::log_softmax(logits[i], -1);
      const bool is_linear = options_.combination == Combination::kLinear;
      const auto vote = is_linear ? own + member.log_weight : own * member.weight;
      if (!together.defined()) {
        together = vote;
      } else {
        together = is_linear ? at::logaddexp(together, vote) : together + vote;
      }
    }
    return together;
  }

  const SearchOptions& options_;
  const LogitsRules& rules_;
  torch::Device device_;
  std::vector<Member> members_;
  bool is_block_ = false;  // what was fed
  std::optional<BatchCandidates> candidates_;
  std::vector<torch::Tensor> device_columns_;  // of each sentence's candidates, on a GPU
};

}  // namespace

StepScores step_scores(const torch::Tensor& logits, const StepQuery& query, const DecodingConfig& options) {
  TORCH_CHECK(logits.dim() == 2 && logits.scalar_type() == torch::kFloat, "logits: float32 [rows, vocabulary]");
  if (logits.device().is_cpu() || options.sampling) {
    auto here = logits.cpu();
    return step_scores(plain(here), query, options);
  }
  auto there = logits;
  return judged(DeviceLogits(there), best_tokens_on_device(there, needed_best(query)), query.rules);
}

std::unique_ptr<DecodingStep> TorchModels::start(std::span<const SearchInput* const> sentences,
                                                 const SearchOptions& options, const LogitsRules& rules) {
  return std::make_unique<TorchStep>(models_, sentences, options, rules);
}

bool TorchModels::joins() const {
  return std::ranges::all_of(models_, [](const auto& one) { return one.model->capabilities().ragged_positions; });
}

bool TorchModels::exact_blocks() const {
  return std::ranges::all_of(models_, [](const auto& one) { return one.model->capabilities().exact_prefill; });
}

}  // namespace nmt
