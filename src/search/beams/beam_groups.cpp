#include "search/beams/beam_groups.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace nmt {

int64_t group_count(const SearchOptions& options) {
  return options.sampling ? options.n_best : options.diversity_groups;
}

SearchOptions group_options(const SearchOptions& options) {
  SearchOptions group = options;
  group.beam_size = options.beam_size / options.diversity_groups;
  // What coverage ranks again must not be only those that were to win without it.
  group.n_best = options.coverage_penalty > 0 ? group.beam_size : std::min(options.n_best, group.beam_size);
  return group;
}

BeamGroups::BeamGroups(const SearchOptions& whole, const SearchOptions& group, const LogitsRules& rules,
                       const SearchInput& input)
    : options_(whole), input_(input) {
  const int64_t limit =
      std::max(whole.length_limit(std::ssize(input.sources.front())), std::ssize(rules.beginning(input)) + 1);
  for (int64_t i = 0; i < group_count(whole); ++i) beams_.emplace_back(group, rules, input, limit);
}

int64_t BeamGroups::rows() const {
  int64_t rows = 0;
  for (const auto& beam : beams_) rows += beam.rows();
  return rows;
}

void BeamGroups::add_rules(std::vector<RowRules>& rows) const {
  for (const auto& beam : beams_) beam.add_rules(rows);
}

void BeamGroups::add_uniforms(std::vector<double>& uniforms) const {
  for (uint64_t sample = 0; sample < beams_.size(); ++sample) {
    if (beams_[sample].done()) continue;
    CounterRandom random({static_cast<uint64_t>(options_.seed), static_cast<uint64_t>(input_.number),
                          static_cast<uint64_t>(input_.part), sample, static_cast<uint64_t>(beams_[sample].length())});
    uniforms.push_back(random.uniform());
  }
}

void BeamGroups::advance(const StepScores& scores, int64_t first_row, NextRows& next) {
  const size_t first_token = next.tokens.size();
  std::vector<int64_t> penalized;
  for (auto& beam : beams_) {
    const int64_t own_rows = beam.rows();
    if (own_rows == 0) continue;
    if (options_.diversity_groups > 1) penalized.assign(next.tokens.begin() + first_token, next.tokens.end());
    beam.advance(scores, first_row, penalized, next);
    first_row += own_rows;
  }
}

std::vector<Hypothesis> BeamGroups::take_results() {
  auto results = beams_.front().take_results();
  for (size_t i = 1; i < beams_.size(); ++i)
    for (auto& hypothesis : beams_[i].take_results()) {
      const bool known = !options_.sampling && std::ranges::any_of(results, [&](const Hypothesis& other) {
        return other.ids == hypothesis.ids && other.finished == hypothesis.finished;
      });
      if (!known) results.push_back(std::move(hypothesis));
    }
  if (options_.diversity_groups == 1) return results;
  sort_best_first(results);
  const int64_t asked = input_.n_best > 0 ? std::min(input_.n_best, options_.beam_size) : options_.n_best;
  const auto wanted = options_.coverage_penalty > 0 ? options_.beam_size : asked;
  if (std::ssize(results) > wanted) results.resize(wanted);
  return results;
}

}  // namespace nmt
