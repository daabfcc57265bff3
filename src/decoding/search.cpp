#include "decoding/search.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "decoding/batch_candidates.h"
#include "decoding/beam_groups.h"
#include "decoding/hypothesis_attention.h"
#include "decoding/token_bans.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// True if the rows of the next step are those of this one, in their order: then nothing moves.
bool stay(const std::vector<int64_t>& parents, int64_t rows) {
  if (std::ssize(parents) != rows) return false;
  for (int64_t row = 0; row < rows; ++row) {
    if (parents[row] != row) return false;
  }
  return true;
}

/// Whether a row can have a rule at all.
bool has_rules(std::span<const SearchInput> inputs, const SearchOptions& options) {
  return has_bans(options) || options.repetition_penalty != 1 ||
         std::ranges::any_of(inputs, [](const SearchInput& input) {
           return !input.prefix.empty() || !input.must_appear.empty() || !input.banned.empty();
         });
}

/// The rows of the first step: one for each beam of a sentence.
NextRows first_rows(const std::vector<BeamGroups>& sentences) {
  NextRows rows;
  for (size_t sentence = 0; sentence < sentences.size(); ++sentence)
    rows.parents.insert(rows.parents.end(), sentences[sentence].count(), static_cast<int64_t>(sentence));
  rows.tokens.assign(rows.parents.size(), SpecialIds::kBegin);
  return rows;
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(std::span<const SearchModel> models, std::span<const SearchInput> inputs,
                                            const SearchOptions& options) {
  options.validate();
  if (inputs.empty()) return {};
  std::vector<const std::vector<std::vector<int32_t>>*> sources;
  for (const auto& input : inputs) sources.push_back(&input.sources);
  SearchState state(models, options.combination, sources);

  std::optional<BatchCandidates> candidates;
  if (!inputs.front().candidates.empty()) {
    candidates.emplace(inputs, state.device());
    state.restrict_outputs(candidates->tokens());
  }

  const SearchOptions group = group_options(options);
  const bool ruled = has_rules(inputs, options);
  std::vector<BeamGroups> sentences;
  for (const auto& input : inputs) sentences.emplace_back(options, group, input);
  std::vector<int64_t> active(inputs.size());
  std::iota(active.begin(), active.end(), 0);
  auto rows = first_rows(sentences);
  while (true) {
    if (!stay(rows.parents, state.rows())) state.select(rows.parents);
    const auto logits = state.member_logits(rows.tokens);  // of each model [rows, vocabulary]
    std::vector<RowRules> rules;
    std::vector<double> uniforms;
    std::vector<BatchCandidates::Rows> owners;
    for (const int64_t sentence : active) {
      owners.push_back({.sentence = sentence, .count = sentences[sentence].rows()});
      if (ruled) sentences[sentence].add_rules(rules);
      if (options.sampling) sentences[sentence].add_uniforms(uniforms);
    }
    // What the groups before have chosen may fill the places of beam_size less their own.
    const int64_t count = options.beam_size + 1;
    StepScores scores;
    if (candidates) {
      scores = candidates->scores(state, logits, owners, rules, count, options, uniforms);
    } else {
      auto together = state.combined(logits);
      scores = step_scores(together, rules, count, options, uniforms);
    }
    NextRows next;
    int64_t first_row = 0;
    for (const int64_t sentence : active) {
      const int64_t own_rows = sentences[sentence].rows();
      sentences[sentence].advance(scores, first_row, next);
      first_row += own_rows;
    }
    std::erase_if(active, [&](int64_t sentence) { return sentences[sentence].done(); });
    if (active.empty()) break;
    rows = std::move(next);
  }

  std::vector<std::vector<Hypothesis>> results;
  for (auto& sentence : sentences) results.push_back(sentence.take_results());
  if (options.attention || options.coverage_penalty > 0) add_attention(models.front(), inputs, options, results);
  return results;
}

std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const std::vector<std::vector<int32_t>>& sources,
                                            const SearchOptions& options) {
  std::vector<SearchInput> inputs;
  for (const auto& source : sources) inputs.push_back({.sources = {source}});
  const SearchModel only{.model = &model};
  return search(std::span(&only, 1), inputs, options);
}

}  // namespace nmt
