#include "search/batch_candidates.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "search/step_scores.h"

namespace nmt {

BatchCandidates::BatchCandidates(std::span<const SearchInput* const> inputs) : sentence_of_row_(inputs.size()) {
  std::iota(sentence_of_row_.begin(), sentence_of_row_.end(), 0);
  for (const auto* input : inputs) {
    if (input->candidates.empty()) throw std::logic_error("all inputs of a search have candidates, or none");
    const auto& own = sentences_.emplace_back(Sentence{.tokens = all_candidates(*input)}).tokens;
    tokens_.insert(tokens_.end(), own.begin(), own.end());
  }
  make_distinct(tokens_);
  for (auto& [tokens, columns] : sentences_) {
    int32_t at = 0;  // both are ascending
    for (const int32_t token : tokens) {
      while (tokens_[at] != token) ++at;
      columns.push_back(at);
    }
  }
}

void BatchCandidates::select(std::span<const int64_t> rows) {
  std::vector<int64_t> sentences;
  for (const int64_t row : rows) sentences.push_back(sentence_of_row_[row]);
  sentence_of_row_ = std::move(sentences);
}

StepScores BatchCandidates::scores(
    const StepQuery& query, const std::function<StepScores(const Run& run, const StepQuery& query)>& judge) const {
  std::vector<StepScores> found;
  std::vector<int64_t> sentences;
  StepScores all;
  const int64_t rows = std::ssize(sentence_of_row_);
  for (int64_t row = 0, end = 0; row < rows; row = end) {
    const int64_t sentence = sentence_of_row_[row];
    while (end < rows && sentence_of_row_[end] == sentence) ++end;
    StepQuery own = query;
    if (!query.rules.empty()) own.rules = query.rules.subspan(row, end - row);
    if (!query.uniforms.empty()) own.uniforms = query.uniforms.subspan(row, end - row);
    found.push_back(judge({row, end - row, sentence}, own));
    sentences.push_back(sentence);
    all.best.width = std::max(all.best.width, found.back().best.width);
  }
  for (size_t i = 0; i < found.size(); ++i) append(all, std::move(found[i]), sentences_[sentences[i]].tokens);
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
