#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "search/list_search.h"
#include "search/scripted_model.h"

namespace nmt::test {

/// Slow searches in plain loops, one sentence at a time, which look at every token of the vocabulary: what search() is
/// compared with. Nothing of src/decoding is used but its options.

/// Logits of the token after `prefix` (without <s>) in a translation of `source` (without </s>).
using Logits = std::function<std::vector<double>(const Ids& source, const Ids& prefix)>;

inline Logits logits_of(const Script& script) {
  return [=](const Ids& source, const Ids& prefix) {
    auto values = script(source, prefix);
    for (double& x : values) x = std::log(x);
    return values;
  };
}

/// The logits of a vocabulary that holds only the special tokens and `others`.
inline Logits with_only(const Logits& logits, const std::set<int32_t>& others) {
  return [=](const Ids& source, const Ids& prefix) {
    auto values = logits(source, prefix);
    for (int32_t id = kEnd + 1; id < std::ssize(values); ++id)
      if (!others.contains(id)) values[id] = -std::numeric_limits<double>::infinity();
    return values;
  };
}

/// The logits by a full pass over source and prefix, nothing cached.
inline Logits logits_of(TranslationModel& model) {
  return [&model](const Ids& source, const Ids& prefix) {
    const c10::NoGradGuard no_gradients;
    std::vector<int64_t> read(source.begin(), source.end()), fed(prefix.begin(), prefix.end());
    read.push_back(kEnd);
    fed.insert(fed.begin(), SpecialIds::kBegin);
    const auto row = [](const std::vector<int64_t>& ids) { return torch::tensor(ids, torch::kLong).unsqueeze(0); };
    const auto length = [](const std::vector<int64_t>& ids) { return torch::tensor({std::ssize(ids)}, torch::kLong); };
    ForwardContext pass;
    const auto hidden = model.forward({.source = row(read),
                                       .source_lengths = length(read),
                                       .target_in = row(fed),
                                       .target_out = row(fed),
                                       .target_lengths = length(fed)},
                                      pass);
    const auto last = model.logits(hidden.select(1, std::ssize(fed) - 1)).to(torch::kDouble).contiguous();
    return std::vector<double>(last.const_data_ptr<double>(), last.const_data_ptr<double>() + last.numel());
  };
}

inline std::vector<double> log_distribution(const Logits& logits, const Ids& source, const Ids& prefix,
                                            double repetition_penalty = 1) {
  auto x = logits(source, prefix);
  for (const int32_t id : std::set<int32_t>(prefix.begin(), prefix.end()))
    x[id] = x[id] > 0 ? x[id] / repetition_penalty : x[id] * repetition_penalty;
  double sum = 0;
  for (const double value : x) sum += std::exp(value);
  for (double& value : x) value -= std::log(sum);
  return x;
}

inline bool holds(const Ids& ids, const Ids& phrase) {
  return std::search(ids.begin(), ids.end(), phrase.begin(), phrase.end()) != ids.end();
}

inline bool holds_all(const Ids& ids, const std::vector<Ids>& phrases) {
  return std::ranges::all_of(phrases, [&](const Ids& phrase) { return holds(ids, phrase); });
}

/// Tokens of the phrases that `ids` holds, and of the longest beginning of another one at its end.
inline int64_t met_tokens(const Ids& ids, const std::vector<Ids>& phrases) {
  int64_t met = 0, begun = 0;
  for (const Ids& phrase : phrases) {
    if (holds(ids, phrase)) {
      met += std::ssize(phrase);
      continue;
    }
    for (int64_t n = 1; n < std::ssize(phrase) && n <= std::ssize(ids); ++n)
      if (std::equal(phrase.begin(), phrase.begin() + n, ids.end() - n)) begun = std::max(begun, n);
  }
  return met + begun;
}

inline bool may_follow(int32_t id) { return id != SpecialIds::kPad && id != SpecialIds::kBegin; }

inline bool may_follow(const Ids& prefix, int32_t id, const SearchInput& input, const SearchOptions& options) {
  if (prefix.size() < input.prefix.size()) return id == input.prefix[prefix.size()];
  if (!may_follow(id)) return false;
  if (id == SpecialIds::kUnknown && options.ban_unknown) return false;
  if (id == kEnd && std::ssize(prefix) < options.min_length) return false;
  if (id == kEnd && !holds_all(prefix, input.must_appear)) return false;
  Ids longer = prefix;
  longer.push_back(id);
  for (const auto* banned : {&options.banned, &input.banned})
    for (const Ids& phrase : *banned)
      if (longer.size() >= phrase.size() && std::equal(phrase.rbegin(), phrase.rend(), longer.rbegin())) return false;
  const int64_t n = options.no_repeat_ngram_size;
  if (n > 0 && id != kEnd && std::ssize(longer) > n) {
    const Ids ngram(longer.end() - n, longer.end());
    if (holds(Ids(longer.begin(), longer.end() - 1), ngram)) return false;
  }
  return true;
}

struct Candidate {
  Ids ids;
  double log_probability = 0, rank = 0;
  int64_t parent = 0;
};

/// The rules at search() for one beam, without the first way to be done: that one is only to save time.
class ReferenceBeam {
 public:
  ReferenceBeam(const Logits& logits, const SearchInput& input, const SearchOptions& options, int64_t beam_size)
      : logits_(logits), input_(input), options_(options), beam_size_(beam_size) {
    const int64_t limit = options.length_limit(std::ssize(input.sources.front()));
    limit_ = std::max(limit, std::ssize(input.prefix) + 1);
  }

  bool done() const { return done_; }

  /// One step; returns the tokens chosen. Tokens in `others` were chosen by groups before.
  std::vector<int32_t> step(const std::vector<int32_t>& others) {
    ++length_;
    std::vector<Candidate> all;
    for (int64_t parent = 0; parent < std::ssize(live_); ++parent) {
      const auto& [ids, log_probability, rank, unused] = live_[parent];
      const auto p = log_distribution(logits_, input_.sources.front(), ids, options_.repetition_penalty);
      for (int32_t id = 0; id < std::ssize(p); ++id) {
        if (!may_follow(ids, id, input_, options_) || std::isinf(p[id])) continue;
        Candidate longer{.ids = ids, .log_probability = log_probability + p[id], .parent = parent};
        longer.ids.push_back(id);
        longer.rank =
            longer.log_probability - options_.diversity_strength * static_cast<double>(std::ranges::count(others, id));
        all.push_back(longer);
      }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &Candidate::rank);
    if (!input_.must_appear.empty()) deal(all);
    const auto before = std::exchange(live_, {});
    for (int64_t rank = 0; rank < std::ssize(all); ++rank) {
      auto& candidate = all[rank];
      if (candidate.ids.back() != kEnd) {
        if (std::ssize(live_) < beam_size_) live_.push_back(candidate);
      } else if (rank < beam_size_) {
        candidate.ids.pop_back();
        const double score = candidate.log_probability / options_.penalty(length_);
        finished_.push_back({.ids = candidate.ids,
                             .log_probability = candidate.log_probability,
                             .score = score,
                             .meets_constraints = holds_all(candidate.ids, input_.must_appear)});
      }
    }
    std::ranges::stable_sort(live_, std::ranges::greater(), &Candidate::log_probability);
    double best_score = -std::numeric_limits<double>::infinity();
    for (const auto& hypothesis : finished_) best_score = std::max(best_score, hypothesis.score);
    const bool enough = std::ssize(finished_) >= beam_size_;
    done_ = live_.empty() || length_ == limit_;
    if (live_.empty() && finished_.empty()) live_ = before;  // nothing may follow
    if (enough && (beam_size_ == 1 || options_.stopping == Stopping::kFirst)) done_ = true;
    const bool length_counts = options_.penalty(1) != options_.penalty(limit_);
    if (enough && !live_.empty() && options_.stopping == Stopping::kHeuristic && length_counts &&
        live_.front().log_probability / options_.penalty(length_) <= best_score)
      done_ = true;
    std::vector<int32_t> chosen;
    if (!done_)
      for (const auto& candidate : live_) chosen.push_back(candidate.ids.back());
    return chosen;
  }

  std::vector<Hypothesis> results() {
    std::ranges::stable_sort(finished_, std::ranges::greater(), &Hypothesis::score);
    std::ranges::stable_sort(live_, std::ranges::greater(),
                             [&](const Candidate& c) { return met_tokens(c.ids, input_.must_appear); });
    for (const auto& cut : live_)
      finished_.push_back({.ids = cut.ids,
                           .log_probability = cut.log_probability,
                           .score = cut.log_probability / options_.penalty(std::ssize(cut.ids)),
                           .finished = false,
                           .meets_constraints = holds_all(cut.ids, input_.must_appear)});
    const int64_t n = std::min(options_.n_best, beam_size_);
    if (std::ssize(finished_) > n) finished_.resize(n);
    return finished_;
  }

 private:
  /// The best of each bank, then the second best of each, and so on; the bank with most tokens first.
  void deal(std::vector<Candidate>& all) const {
    std::vector<Candidate> dealt;
    while (!all.empty()) {
      std::set<int64_t, std::greater<>> banks;
      for (const auto& c : all) banks.insert(met_tokens(c.ids, input_.must_appear));
      for (const int64_t bank : banks) {
        const auto best = std::ranges::find_if(
            all, [&](const Candidate& c) { return met_tokens(c.ids, input_.must_appear) == bank; });
        dealt.push_back(*best);
        all.erase(best);
      }
    }
    all = dealt;
  }

  const Logits& logits_;
  const SearchInput& input_;
  const SearchOptions& options_;
  int64_t beam_size_, limit_ = 0, length_ = 0;
  std::vector<Candidate> live_ = {{}};
  std::vector<Hypothesis> finished_;
  bool done_ = false;
};

inline std::vector<Hypothesis> reference_beam_search(const Logits& logits, const SearchInput& input,
                                                     const SearchOptions& options) {
  std::vector<ReferenceBeam> groups(
      options.diversity_groups, ReferenceBeam(logits, input, options, options.beam_size / options.diversity_groups));
  while (std::ranges::any_of(groups, [](const auto& group) { return !group.done(); })) {
    std::vector<int32_t> chosen;
    for (auto& group : groups) {
      if (group.done()) continue;
      const auto own = group.step(chosen);
      chosen.insert(chosen.end(), own.begin(), own.end());
    }
  }
  std::vector<Hypothesis> results;
  for (auto& group : groups)
    for (auto& hypothesis : group.results())
      if (std::ranges::none_of(results, [&](const Hypothesis& other) {
            return other.ids == hypothesis.ids && other.finished == hypothesis.finished;
          }))
        results.push_back(hypothesis);
  if (groups.size() > 1)
    std::ranges::stable_sort(results, std::ranges::greater(), [](const Hypothesis& one) {
      return std::tuple(one.finished, one.meets_constraints, one.score);
    });
  if (std::ssize(results) > options.n_best) results.resize(options.n_best);
  return results;
}

/// Every translation of at most `limit` tokens, </s> counted, best first.
inline std::vector<Hypothesis> enumerate_all(const Logits& logits, const Ids& source, const SearchOptions& options) {
  std::vector<Hypothesis> all;
  const int64_t limit = options.length_limit(std::ssize(source));
  const std::function<void(const Ids&, double)> extend = [&](const Ids& prefix, double log_probability) {
    const int64_t n = std::ssize(prefix) + 1;
    if (n > limit) return;
    const auto p = log_distribution(logits, source, prefix);
    all.push_back({.ids = prefix,
                   .log_probability = log_probability + p[kEnd],
                   .score = (log_probability + p[kEnd]) / options.penalty(n)});
    for (int32_t id = 0; id < std::ssize(p); ++id) {
      if (!may_follow(id) || id == kEnd) continue;
      Ids longer = prefix;
      longer.push_back(id);
      extend(longer, log_probability + p[id]);
    }
  };
  extend({}, 0);
  std::ranges::stable_sort(all, std::ranges::greater(), &Hypothesis::score);
  return all;
}

/// The most probable token, again and again, until </s> or the limit.
inline Hypothesis reference_greedy(const Logits& logits, const Ids& source, const SearchOptions& options) {
  Hypothesis result{.finished = false};
  const int64_t limit = options.length_limit(std::ssize(source));
  int64_t n = 0;
  while (n < limit && !result.finished) {
    const auto p = log_distribution(logits, source, result.ids);
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

inline void expect_equal(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& expected,
                         double tolerance = 1e-5) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].ids, expected[i].ids) << "hypothesis " << i;
    EXPECT_EQ(found[i].finished, expected[i].finished) << "hypothesis " << i;
    EXPECT_EQ(found[i].meets_constraints, expected[i].meets_constraints) << "hypothesis " << i;
    EXPECT_NEAR(found[i].log_probability, expected[i].log_probability, tolerance) << "hypothesis " << i;
    EXPECT_NEAR(found[i].score, expected[i].score, tolerance) << "hypothesis " << i;
    double sum = 0;
    for (const float p : found[i].token_log_probabilities) sum += p;
    EXPECT_NEAR(sum, found[i].log_probability, tolerance) << "hypothesis " << i << ": token by token";
  }
}

/// Sentences of 0 to 5 words.
inline std::vector<Ids> some_sources(uint64_t seed, int64_t count) {
  CounterRandom random({seed, 77});
  std::vector<Ids> sources(count);
  for (auto& source : sources) {
    source.resize(random.below(6));
    for (auto& id : source) id = static_cast<int32_t>(4 + random.below(4));
  }
  return sources;
}

}  // namespace nmt::test
