#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "decoding/search.h"
#include "scripted_model.h"

namespace nmt::test {

/// Slow searches over a script, one sentence at a time, in plain loops: what search() is compared with.

inline std::vector<double> log_distribution(const Script& script, const Ids& source, const Ids& prefix) {
  auto p = script(source, prefix);
  double sum = 0;
  for (const double x : p) sum += x;
  for (double& x : p) x = std::log(x / sum);
  return p;
}

inline bool may_follow(int32_t id) { return id != SpecialIds::kPad && id != SpecialIds::kBegin; }

/// The rules at search(), without the first way to be done: that one is only to save time.
inline std::vector<Hypothesis> reference_beam_search(const Script& script, const Ids& source,
                                                     const SearchOptions& options) {
  struct Candidate {
    Ids ids;
    double log_probability;
  };
  std::vector<Candidate> live = {{{}, 0}};
  std::vector<Hypothesis> finished;
  const int64_t limit = options.length_limit(std::ssize(source));
  for (int64_t n = 1; n <= limit; ++n) {
    std::vector<Candidate> all;
    for (const auto& hypothesis : live) {
      const auto p = log_distribution(script, source, hypothesis.ids);
      for (int32_t id = 0; id < std::ssize(p); ++id) {
        if (!may_follow(id)) continue;
        all.push_back({hypothesis.ids, hypothesis.log_probability + p[id]});
        all.back().ids.push_back(id);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
    live.clear();
    for (size_t rank = 0; rank < all.size(); ++rank) {
      auto& [ids, log_probability] = all[rank];
      if (ids.back() != kEnd) {
        if (std::ssize(live) < options.beam_size) live.push_back(all[rank]);
      } else if (static_cast<int64_t>(rank) < options.beam_size) {
        ids.pop_back();
        finished.push_back({ids, log_probability, log_probability / options.penalty(n), true});
      }
    }
    double best_score = -std::numeric_limits<double>::infinity();
    for (const auto& hypothesis : finished) best_score = std::max(best_score, hypothesis.score);
    if (std::ssize(finished) >= options.beam_size && live.front().log_probability / options.penalty(n) <= best_score)
      break;
  }
  std::stable_sort(finished.begin(), finished.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  for (const auto& [ids, log_probability] : live) {
    finished.push_back({ids, log_probability, log_probability / options.penalty(std::ssize(ids)), false});
  }
  if (std::ssize(finished) > options.n_best) finished.resize(options.n_best);
  return finished;
}

/// Every translation of at most `limit` tokens, </s> counted, best first.
inline std::vector<Hypothesis> enumerate_all(const Script& script, const Ids& source, const SearchOptions& options) {
  std::vector<Hypothesis> all;
  const int64_t limit = options.length_limit(std::ssize(source));
  const std::function<void(const Ids&, double)> extend = [&](const Ids& prefix, double log_probability) {
    const int64_t n = std::ssize(prefix) + 1;
    if (n > limit) return;
    const auto p = log_distribution(script, source, prefix);
    all.push_back({prefix, log_probability + p[kEnd], (log_probability + p[kEnd]) / options.penalty(n), true});
    for (int32_t id = 0; id < std::ssize(p); ++id) {
      if (!may_follow(id) || id == kEnd) continue;
      Ids longer = prefix;
      longer.push_back(id);
      extend(longer, log_probability + p[id]);
    }
  };
  extend({}, 0);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

/// The most probable token, again and again, until </s> or the limit.
inline Hypothesis reference_greedy(const Script& script, const Ids& source, const SearchOptions& options) {
  Hypothesis result{.ids = {}, .log_probability = 0, .score = 0, .finished = false};
  const int64_t limit = options.length_limit(std::ssize(source));
  int64_t n = 0;
  while (n < limit && !result.finished) {
    const auto p = log_distribution(script, source, result.ids);
    int32_t best = SpecialIds::kUnknown;
    for (int32_t id = 0; id < std::ssize(p); ++id) {
      if (may_follow(id) && p[id] > p[best]) best = id;
    }
    result.log_probability += p[best];
    ++n;
    if (best == kEnd) {
      result.finished = true;
    } else {
      result.ids.push_back(best);
    }
  }
  result.score = result.log_probability / options.penalty(n);
  return result;
}

}  // namespace nmt::test
