#include "search/beams.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "base/random.h"
#include "search/logits_rules.h"
#include "text/tokenizer.h"

namespace nmt {

PhraseConstraints::PhraseConstraints(std::vector<std::vector<int32_t>> phrases) {
  for (auto& tokens : phrases) {
    std::vector<int32_t> fallback(tokens.size() + 1, 0);
    for (size_t i = 1; i < tokens.size(); ++i) {
      int32_t border = fallback[i];
      while (border > 0 && tokens[border] != tokens[i]) border = fallback[border];
      fallback[i + 1] = border + (tokens[border] == tokens[i] ? 1 : 0);
    }
    phrases_.push_back({std::move(tokens), std::move(fallback)});
  }
}

void PhraseConstraints::advance(State& state, int32_t token) const {
  for (size_t i = 0; i < phrases_.size(); ++i) {
    if (is_met(state, i)) continue;
    const auto& [tokens, fallback] = phrases_[i];
    int32_t matched = state[i];
    while (matched > 0 && tokens[matched] != token) matched = fallback[matched];
    state[i] = matched + (tokens[matched] == token ? 1 : 0);
  }
}

bool PhraseConstraints::all_met(const State& state) const {
  for (size_t i = 0; i < phrases_.size(); ++i)
    if (!is_met(state, i)) return false;
  return true;
}

int64_t PhraseConstraints::met_tokens(const State& state) const {
  int64_t met = 0, farthest = 0;
  for (size_t i = 0; i < phrases_.size(); ++i) {
    if (is_met(state, i)) {
      met += state[i];
    } else {
      farthest = std::max<int64_t>(farthest, state[i]);
    }
  }
  return met + farthest;
}

std::vector<int32_t> PhraseConstraints::next_tokens(const State& state) const {
  std::vector<int32_t> next;
  for (size_t i = 0; i < phrases_.size(); ++i) {
    if (is_met(state, i)) continue;
    const auto& [tokens, fallback] = phrases_[i];
    int32_t matched = state[i];
    for (; matched > 0; matched = fallback[matched]) next.push_back(tokens[matched]);
    next.push_back(tokens.front());
  }
  return next;
}

SentenceBeam::SentenceBeam(const SearchOptions& options, const LogitsRules& rules, const SearchInput& input,
                           int64_t limit)
    : options_(options), rules_(rules), input_(input), constraints_(input.must_appear), limit_(limit) {
  live_.push_back({.met = constraints_.start()});
}

void SentenceBeam::add_rules(std::vector<RowRules>& rows) const {
  if (done_) return;
  for (const Live& hypothesis : live_) {
    RowRules& row = rows.emplace_back();
    row.input = &input_;
    row.tokens = tree_.tokens(hypothesis.node);
    rules_.judge(row);
    if (row.only_wanted) continue;
    if (!constraints_.all_met(hypothesis.met)) {
      row.banned.push_back(SpecialIds::kEnd);
      std::ranges::copy(constraints_.next_tokens(hypothesis.met), std::back_inserter(row.wanted));
    }
    make_distinct(row.wanted);
    std::erase_if(row.wanted, [&](int32_t token) { return std::ranges::find(row.banned, token) != row.banned.end(); });
  }
}

void SentenceBeam::advance(const StepScores& scores, int64_t first_row, std::span<const int64_t> penalized,
                           StepInput& next) {
  const auto ranked = ranked_extensions(scores, first_row, penalized);
  std::vector<const Extension*> chosen;
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    const Extension& extension = ranked[rank];
    if (extension.token == SpecialIds::kEnd) {
      if (std::cmp_less(rank, options_.beam_size)) finish(extended(extension));
    } else if (std::ssize(chosen) < options_.beam_size) {
      chosen.push_back(&extension);
    }
  }
  if (chosen.empty()) {  // every hypothesis could only end; if not even that, what was live is the result
    if (!finished_.empty()) live_.clear();
    done_ = true;
    return;
  }
  if (!penalized.empty() || !constraints_.empty())  // ranked by more than log-probability
    std::ranges::stable_sort(chosen, std::ranges::greater(), &Extension::log_probability);
  std::vector<Live> continued;
  for (const Extension* extension : chosen) continued.push_back(extended(*extension));
  ++length_;
  live_ = std::move(continued);
  done_ = is_over();
  if (done_) return;
  if (may_prune()) std::erase_if(live_, [&](const Live& live) { return can_be_pruned(live); });
  chosen.resize(live_.size());  // the pruned ones were the last
  for (const Extension* extension : chosen) {
    next.ancestors.push_back(first_row + extension->parent);
    next.tokens.push_back(extension->token);
  }
}

std::vector<SentenceBeam::Extension> SentenceBeam::ranked_extensions(const StepScores& scores, int64_t first_row,
                                                                     std::span<const int64_t> penalized) const {
  std::vector<Extension> all;
  const auto add = [&](int64_t parent, int32_t token, float token_log_probability) {
    const double log_probability = live_[parent].log_probability + token_log_probability;
    const auto penalty = options_.diversity_strength * static_cast<double>(std::ranges::count(penalized, token));
    all.push_back({parent, token, token_log_probability, log_probability, log_probability - penalty});
  };
  const BestTokens& best = scores.best;
  const std::span ids(best.ids);
  for (int64_t parent = 0; parent < rows(); ++parent) {
    const int64_t row = first_row + parent;
    const auto listed = ids.subspan(row * best.width, best.width);
    for (int64_t i = 0; i < best.width && listed[i] != BestTokens::kNone; ++i)
      add(parent, listed[i], best.log_probabilities[row * best.width + i]);
    if (scores.wanted.empty()) continue;
    for (const auto& [token, log_probability] : scores.wanted[row])
      if (std::ranges::find(listed, token) == listed.end()) add(parent, token, log_probability);
  }
  // Beyond the best 2 * beam_size there is nothing to take: each live hypothesis ends in one way only. Banks, and
  // hypotheses that continue alone, take from further down.
  const bool all_count = is_distinct() || !constraints_.empty();
  const auto wanted = all_count ? std::ssize(all) : std::min(std::ssize(all), 2 * options_.beam_size);
  std::partial_sort(all.begin(), all.begin() + wanted, all.end(), [](const Extension& a, const Extension& b) {
    if (a.rank != b.rank) return a.rank > b.rank;
    return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
  });
  all.resize(wanted);
  if (!constraints_.empty()) allocate_banks(all);
  if (is_distinct()) keep_best_of_each(all);
  return all;
}

/// Reorders them: the best of each bank, most tokens met first, then the second best of each, and so on.
void SentenceBeam::allocate_banks(std::vector<Extension>& extensions) const {
  struct Place {
    int64_t round, bank;
    Extension extension;
  };
  std::vector<Place> places;
  std::map<int64_t, int64_t> turns;  // of each bank
  for (const Extension& extension : extensions) {
    auto met = live_[extension.parent].met;
    constraints_.advance(met, extension.token);
    const int64_t bank = constraints_.met_tokens(met);
    places.push_back({turns[bank]++, bank, extension});
  }
  std::ranges::sort(places, {}, [](const Place& place) { return std::pair(place.round, -place.bank); });
  std::ranges::transform(places, extensions.begin(), &Place::extension);
}

bool SentenceBeam::is_distinct() const { return input_.distinct && length_ > std::ssize(input_.prefix); }

void SentenceBeam::keep_best_of_each(std::vector<Extension>& extensions) const {
  std::vector<char> has_one(live_.size());
  std::erase_if(extensions, [&](const Extension& one) { return std::exchange(has_one[one.parent], 1) != 0; });
}

int64_t SentenceBeam::n_best() const {
  return input_.n_best > 0 && options_.coverage_penalty == 0 && !options_.sampling
             ? std::min(input_.n_best, options_.beam_size)
             : options_.n_best;
}

SentenceBeam::Live SentenceBeam::extended(const Extension& extension) {
  const Live& parent = live_[extension.parent];
  Live child{.node = tree_.add(parent.node, extension.token, extension.token_log_probability),
             .log_probability = extension.log_probability,
             .met = parent.met};
  constraints_.advance(child.met, extension.token);
  return child;
}

void SentenceBeam::finish(const Live& ended) {
  auto hypothesis = to_hypothesis(ended, true);
  const auto place = std::upper_bound(finished_.begin(), finished_.end(), hypothesis,
                                      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  finished_.insert(place, std::move(hypothesis));
}

bool SentenceBeam::is_over() const {
  if (length_ >= limit_) return true;
  if (input_.distinct) return false;
  if (can_be_pruned(live_.front())) return true;
  const bool enough = std::ssize(finished_) >= options_.beam_size;
  if (options_.beam_size == 1 || options_.stopping == Stopping::kFirst) return enough;
  return options_.stopping == Stopping::kHeuristic && length_counts() && enough && has_fallen_behind();
}

bool SentenceBeam::can_be_pruned(const Live& live) const {
  if (std::ssize(finished_) < n_best()) return false;
  return live.log_probability / options_.penalty(limit_) <= finished_[n_best() - 1].score;
}

// A hypothesis that can be pruned ends below the n best, and so does all that extends it: the search is the same
// without it. Unless something counts the hypotheses that have finished, or ranks by more than log-probability.
bool SentenceBeam::may_prune() const {
  const bool finished_are_counted =
      options_.stopping == Stopping::kFirst || (options_.stopping == Stopping::kHeuristic && length_counts());
  return !finished_are_counted && !input_.distinct && options_.diversity_groups == 1 && constraints_.empty();
}

bool SentenceBeam::length_counts() const { return options_.penalty(1) != options_.penalty(limit_); }

bool SentenceBeam::has_fallen_behind() const {
  return live_.front().log_probability / options_.penalty(length_) <= finished_.front().score;
}

Hypothesis SentenceBeam::to_hypothesis(const Live& hypothesis, bool finished) const {
  auto tokens = tree_.tokens(hypothesis.node);
  const int64_t count = std::ssize(tokens);
  if (finished) tokens.pop_back();  // </s>
  return {.ids = std::move(tokens),
          .log_probability = hypothesis.log_probability,
          .score = count > 0 ? hypothesis.log_probability / options_.penalty(count) : 0,
          .finished = finished,
          .meets_constraints = constraints_.all_met(hypothesis.met),
          .token_log_probabilities = tree_.log_probabilities(hypothesis.node)};
}

std::vector<Hypothesis> SentenceBeam::take_results() {
  auto results = std::move(finished_);
  if (!constraints_.empty())
    std::ranges::stable_sort(live_, std::ranges::greater(),
                             [&](const Live& live) { return constraints_.met_tokens(live.met); });
  for (const Live& cut : live_) {  // all of one length: in the order of their scores
    if (std::ssize(results) >= n_best()) break;
    results.push_back(to_hypothesis(cut, false));
  }
  if (std::ssize(results) > n_best()) results.resize(n_best());
  return results;
}

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

void BeamGroups::advance(const StepScores& scores, int64_t first_row, StepInput& next) {
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
