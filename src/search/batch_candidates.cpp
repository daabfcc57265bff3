#include "search/batch_candidates.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "nn/device/device.h"
#include "search/logits_rules.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// Ids as places among the candidates; those that are none are left out: they cannot be chosen anyway.
std::vector<int32_t> to_places(const std::vector<int32_t>& ids, const std::vector<int32_t>& candidates) {
  std::vector<int32_t> places;
  for (const int32_t id : ids) {
    const auto found = std::ranges::lower_bound(candidates, id);
    if (found != candidates.end() && *found == id) places.push_back(static_cast<int32_t>(found - candidates.begin()));
  }
  return places;
}

/// Appends the rows of one sentence, whose tokens are places among its candidates.
void append(StepScores& all, StepScores own, const std::vector<int32_t>& candidates) {
  const int64_t rows = std::ssize(own.best.ids) / own.best.width;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < all.best.width; ++i) {
      const int64_t place = i < own.best.width ? own.best.ids[row * own.best.width + i] : BestTokens::kNone;
      const bool none = place == BestTokens::kNone;
      all.best.ids.push_back(none ? BestTokens::kNone : candidates[place]);
      all.best.log_probabilities.push_back(none ? -std::numeric_limits<float>::infinity()
                                                : own.best.log_probabilities[row * own.best.width + i]);
    }
  }
  for (auto& row : own.wanted) {
    for (auto& score : row) score.token = candidates[score.token];
    all.wanted.push_back(std::move(row));
  }
}

}  // namespace

BatchCandidates::BatchCandidates(std::span<const SearchInput* const> inputs, torch::Device device) {
  for (const auto* one : inputs) {
    const SearchInput& input = *one;
    TORCH_CHECK(!input.candidates.empty(), "all inputs of a search have candidates, or none");
    auto& own = sentences_.emplace_back().tokens;
    own = {SpecialIds::kPad, SpecialIds::kUnknown, SpecialIds::kBegin, SpecialIds::kEnd};
    own.insert(own.end(), input.candidates.begin(), input.candidates.end());
    own.insert(own.end(), input.prefix.begin(), input.prefix.end());
    for (const auto& phrase : input.must_appear) own.insert(own.end(), phrase.begin(), phrase.end());
    make_distinct(own);
    tokens_.insert(tokens_.end(), own.begin(), own.end());
  }
  make_distinct(tokens_);
  for (auto& sentence : sentences_) {
    sentence.columns = to_places(sentence.tokens, tokens_);
    if (!device.is_cpu())
      sentence.device_columns = copy_to_device(torch::tensor(sentence.columns, torch::kInt32), device);
  }
}

/// [rows, its candidates] of its rows [rows, candidates of all].
torch::Tensor BatchCandidates::own_logits(const torch::Tensor& rows, const Sentence& sentence) {
  if (sentence.device_columns.defined()) return rows.index_select(1, sentence.device_columns);
  const auto from_rows = rows.contiguous();  // LibTorch selects columns one by one
  const int64_t count = std::ssize(sentence.columns);
  auto own = torch::empty({rows.size(0), count}, torch::kFloat);
  for (int64_t row = 0; row < rows.size(0); ++row) {
    const float* from = from_rows.const_data_ptr<float>() + row * rows.size(1);
    float* to = own.mutable_data_ptr<float>() + row * count;
    for (int64_t i = 0; i < count; ++i) to[i] = from[sentence.columns[i]];
  }
  return own;
}

StepScores BatchCandidates::scores(const SearchState& state, const std::vector<torch::Tensor>& logits,
                                   std::span<const Rows> sentences, const LogitsRules& rules,
                                   std::span<const RowRules> all_rows, int64_t count, const DecodingConfig& options,
                                   std::span<const double> uniforms) const {
  std::vector<StepScores> found;
  StepScores all;
  int64_t first = 0;
  for (const auto& [number, rows] : sentences) {
    const Sentence& sentence = sentences_[number];
    std::vector<torch::Tensor> own;
    for (const auto& of_member : logits) own.push_back(own_logits(of_member.narrow(0, first, rows), sentence));
    const auto own_rows = all_rows.empty() ? all_rows : all_rows.subspan(first, rows);
    if (!own_rows.empty()) rules.change_each(own, own_rows, sentence.tokens);
    auto together = state.combined(own);  // [rows, candidates]
    if (!own_rows.empty()) rules.change(together, own_rows, sentence.tokens, std::ssize(own));
    std::vector<RowRules> in_places;
    for (const auto& row : own_rows)
      in_places.push_back({.banned = to_places(row.banned, sentence.tokens),
                           .wanted = to_places(row.wanted, sentence.tokens),
                           .only_wanted = row.only_wanted});
    found.push_back(
        step_scores(together, in_places, count, options, uniforms.empty() ? uniforms : uniforms.subspan(first, rows)));
    all.best.width = std::max(all.best.width, found.back().best.width);
    first += rows;
  }
  for (size_t i = 0; i < found.size(); ++i) append(all, std::move(found[i]), sentences_[sentences[i].sentence].tokens);
  return all;
}

}  // namespace nmt
