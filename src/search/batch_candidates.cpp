#include "search/batch_candidates.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "search/step_scores.h"

namespace nmt {

BatchCandidates::BatchCandidates(std::span<const SearchInput* const> inputs, int64_t group)
    : group_size_(group), sentence_of_row_(inputs.size()) {
  std::iota(sentence_of_row_.begin(), sentence_of_row_.end(), 0);
  for (const auto* input : inputs) {
    if (input->candidates.empty()) throw std::logic_error("all inputs of a search have candidates, or none");
    sentences_.push_back({.tokens = all_candidates(*input)});
  }
  for (int64_t first = 0; first < std::ssize(sentences_); first += group) {
    const auto members = std::span(sentences_).subspan(first, std::min(group, std::ssize(sentences_) - first));
    auto& all = groups_.emplace_back(members.front().tokens);
    for (const auto& sentence : members.subspan(1))
      all.insert(all.end(), sentence.tokens.begin(), sentence.tokens.end());
    if (members.size() > 1) make_distinct(all);
    for (auto& [tokens, columns] : members) {
      int32_t at = 0;  // both are ascending
      for (const int32_t token : tokens) {
        while (all[at] != token) ++at;
        columns.push_back(at);
      }
    }
  }
}

void BatchCandidates::select(std::span<const int64_t> rows) {
  std::vector<int64_t> sentences;
  for (const int64_t row : rows) sentences.push_back(sentence_of_row_[row]);
  sentence_of_row_ = std::move(sentences);
}

std::vector<BatchCandidates::Run> BatchCandidates::runs() const {
  std::vector<Run> runs;
  for (int64_t row = 0; row < std::ssize(sentence_of_row_); ++row) {
    if (runs.empty() || runs.back().sentence != sentence_of_row_[row])
      runs.push_back({.first_row = row, .sentence = sentence_of_row_[row]});
    ++runs.back().rows;
  }
  return runs;
}

StepScores BatchCandidates::scores(
    const StepQuery& query, ThreadPool* threads,
    const std::function<StepScores(const Run& run, const StepQuery& query)>& judge) const {
  const auto all_runs = runs();
  std::vector<StepScores> found(all_runs.size());
  share(threads, std::ssize(all_runs), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto& run = all_runs[i];
      StepQuery own = query;
      if (!query.rules.empty()) own.rules = query.rules.subspan(run.first_row, run.rows);
      if (!query.uniforms.empty()) own.uniforms = query.uniforms.subspan(run.first_row, run.rows);
      found[i] = judge(run, own);
    }
  });
  StepScores all;
  for (const auto& one : found) all.best.width = std::max(all.best.width, one.best.width);
  for (size_t i = 0; i < found.size(); ++i) append(all, std::move(found[i]), sentences_[all_runs[i].sentence].tokens);
  return all;
}

std::vector<float> columns_of(std::span<const float> logits, int64_t width, std::span<const int32_t> columns) {
  std::vector<float> own(logits.size() / width * columns.size());
  float* next = own.data();
  for (size_t row = 0; row < logits.size(); row += width)
    for (const int32_t column : columns) *next++ = logits[row + column];
  return own;
}

}  // namespace nmt
