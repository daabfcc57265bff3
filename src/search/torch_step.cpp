#include "search/torch_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "nn/device/device.h"
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
  return {{logits.mutable_data_ptr<float>(), static_cast<size_t>(logits.numel())}, logits.size(1)};
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

/// True if the rows of the next step are those of this one, in their order: then nothing moves.
bool stay(const std::vector<int64_t>& ancestors, int64_t rows) {
  if (std::ssize(ancestors) != rows) return false;
  for (int64_t row = 0; row < rows; ++row) {
    if (ancestors[row] != row) return false;
  }
  return true;
}

/// The candidates of the sentences of a batch. The models compute the logits of all of them; each sentence is judged by
/// its own alone, as if it were searched by itself: its rows are gathered into [rows, own candidates], which stand for
/// the vocabulary.
class BatchCandidates {
 public:
  BatchCandidates(std::span<const SearchInput* const> inputs, torch::Device device) {
    for (const auto* input : inputs) {
      TORCH_CHECK(!input->candidates.empty(), "all inputs of a search have candidates, or none");
      const auto& own = sentences_.emplace_back(Sentence{.tokens = all_candidates(*input)}).tokens;
      tokens_.insert(tokens_.end(), own.begin(), own.end());
    }
    make_distinct(tokens_);
    for (auto& [tokens, columns, device_columns] : sentences_) {
      for (const int32_t token : tokens)
        columns.push_back(static_cast<int32_t>(std::ranges::lower_bound(tokens_, token) - tokens_.begin()));
      if (!device.is_cpu()) device_columns = copy_to_device(torch::tensor(columns, torch::kInt32), device);
    }
  }

  /// The candidates of all sentences, ascending.
  const std::vector<int32_t>& tokens() const { return tokens_; }
  const std::vector<int32_t>& tokens(int64_t sentence) const { return sentences_[sentence].tokens; }
  /// The logits [rows, its candidates] of a sentence's rows [rows, tokens() or more].
  torch::Tensor logits(const torch::Tensor& rows, int64_t sentence) const {
    const auto& [tokens, columns, device_columns] = sentences_[sentence];
    if (device_columns.defined()) return rows.index_select(1, device_columns);
    const auto from_rows = rows.contiguous();  // LibTorch selects columns one by one
    const int64_t count = std::ssize(columns);
    auto own = torch::empty({rows.size(0), count}, torch::kFloat);
    for (int64_t row = 0; row < rows.size(0); ++row) {
      const float* from = from_rows.const_data_ptr<float>() + row * rows.size(1);
      float* to = own.mutable_data_ptr<float>() + row * count;
      for (int64_t i = 0; i < count; ++i) to[i] = from[columns[i]];
    }
    return own;
  }

 private:
  struct Sentence {
    std::vector<int32_t> tokens = {};   // ascending: the special symbols stand at their ids
    std::vector<int32_t> columns = {};  // where they stand in tokens_
    torch::Tensor device_columns = {};  // the same on a GPU, undefined on the CPU
  };
  std::vector<Sentence> sentences_;
  std::vector<int32_t> tokens_;
};

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
    candidates_.emplace(sentences, device_);
    sentence_of_row_.resize(sentences.size());
    std::iota(sentence_of_row_.begin(), sentence_of_row_.end(), 0);
    for (auto& member : members_) member.model->restrict_outputs(*member.state, candidates_->tokens());
  }

  int64_t rows() const override { return members_.front().state->rows(); }

  void feed(const StepInput& input) override {
    const auto& [ancestors, row_tokens] = input;
    if (!stay(ancestors, rows())) select(ancestors);
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
    std::vector<StepScores> found;
    std::vector<int64_t> sentences;
    StepScores all;
    for (int64_t row = 0, end = 0; row < rows(); row = end) {
      const int64_t sentence = sentence_of_row_[row];
      while (end < rows() && sentence_of_row_[end] == sentence) ++end;
      std::vector<torch::Tensor> own;
      for (const auto& of_member : logits)
        own.push_back(candidates_->logits(of_member.narrow(0, row, end - row), sentence));
      StepQuery own_query = query;
      if (!query.rules.empty()) own_query.rules = query.rules.subspan(row, end - row);
      if (!query.uniforms.empty()) own_query.uniforms = query.uniforms.subspan(row, end - row);
      found.push_back(judge(std::move(own), own_query, candidates_->tokens(sentence)));
      sentences.push_back(sentence);
      all.best.width = std::max(all.best.width, found.back().best.width);
    }
    for (size_t i = 0; i < found.size(); ++i) append(all, std::move(found[i]), candidates_->tokens(sentences[i]));
    return all;
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
    if (!candidates_) return;
    std::vector<int64_t> sentences;
    for (const int64_t row : ancestors) sentences.push_back(sentence_of_row_[row]);
    sentence_of_row_ = std::move(sentences);
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
  bool is_block_ = false;                      // what was fed
  std::optional<BatchCandidates> candidates_;  // and with them:
  std::vector<int64_t> sentence_of_row_;
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
