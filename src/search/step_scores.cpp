#include "search/step_scores.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "base/error.h"
#include "nn/inference/operations.h"
#include "nn/kernels/kernels.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Entry {
  float value;
  int32_t id;
};

bool may_be_chosen(int64_t id) { return id != SpecialIds::kPad && id != SpecialIds::kBegin; }

/// The best entries of a row seen so far, in order.
class BestEntries {
 public:
  explicit BestEntries(int64_t count) : count_(static_cast<size_t>(count)) { entries_.reserve(count_ + 1); }
  /// Begins a row: `maxima`, its logits or the greatest of each block of them. Of kParts parts of these, as many as are
  /// wanted have an entry of at least so much, even if two have their greatest where none may be chosen: lower ones
  /// need no look.
  void start(std::span<const float> maxima) {
    entries_.clear();
    floor_ = -kInfinity;
    constexpr size_t kParts = 16;
    const size_t enough = count_ + 2;
    if (maxima.size() < kParts || enough > kParts) return;
    std::array<float, kParts> parts;
    std::copy_n(maxima.begin(), kParts, parts.begin());
    for (const float* from = maxima.data() + kParts; from + kParts <= maxima.data() + maxima.size(); from += kParts)
      for (size_t i = 0; i < kParts; ++i) parts[i] = from[i] > parts[i] ? from[i] : parts[i];
    std::array<uint32_t, kParts> greater{};
    for (const float other : parts)
      for (size_t i = 0; i < kParts; ++i) greater.data()[i] += other > parts.data()[i] ? 1 : 0;
    floor_ = kInfinity;
    for (size_t i = 0; i < kParts; ++i)
      if (greater[i] < enough) floor_ = std::min(floor_, parts[i]);
    floor_ = std::nextafter(floor_, -kInfinity);
  }
  /// What an entry has to exceed. Ids come in ascending order, so the lower id of equal ones is kept.
  float threshold() const { return entries_.size() < count_ ? floor_ : entries_.back().value; }
  void add(Entry entry) {
    entries_.insert(std::ranges::upper_bound(entries_, entry.value, std::greater<>(), &Entry::value), entry);
    if (entries_.size() > count_) entries_.pop_back();
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  size_t count_;
  float floor_ = -kInfinity;
  std::vector<Entry> entries_;
};

/// Most blocks hold nothing that is good enough: their maxima tell so.
void scan_row(std::span<const float> row, std::span<const float> block_maxima, BestEntries& best) {
  constexpr size_t kManyBlocks = 64;
  best.start(block_maxima.size() < kManyBlocks ? row : block_maxima);
  const float* const logits = row.data();
  float threshold = best.threshold();
  for (int64_t start = 0; start < std::ssize(row); start += kernels::kLogitBlock) {
    if (!(block_maxima[start / kernels::kLogitBlock] > threshold)) continue;
    const int64_t end = std::min(start + kernels::kLogitBlock, std::ssize(row));
    // Which are good enough cannot be foretold: they are gathered without a branch.
    std::array<int32_t, kernels::kLogitBlock> found;
    int32_t* behind = found.data();
    for (int64_t i = start; i < end; ++i) {
      *behind = static_cast<int32_t>(i);
      behind += logits[i] > threshold ? 1 : 0;
    }
    for (const int32_t i : std::span(found.data(), behind)) {
      if (!(logits[i] > threshold) || !may_be_chosen(i)) continue;
      best.add({logits[i], i});
      threshold = best.threshold();
    }
  }
}

}  // namespace

void share(ThreadPool* threads, int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  std::atomic_flag has_failed;
  std::exception_ptr error;
  inference::share(threads, count, grain, [&](int64_t begin, int64_t end) noexcept {
    try {
      body(begin, end);
    } catch (...) {
      if (!has_failed.test_and_set()) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

std::vector<float> PlainLogits::at(std::span<const int64_t> places) const {
  std::vector<float> values;
  for (const int64_t place : places) values.push_back(values_[place]);
  return values;
}

void PlainLogits::set(std::span<const int64_t> places, std::span<const float> values) {
  for (size_t i = 0; i < places.size(); ++i) values_[places[i]] = values[i];
}

void fail_on_logits() {
  throw Error("the model's output is not a number: its weights are damaged; use another checkpoint");
}

BestTokens best_tokens(const PlainLogits& logits, int64_t most) {
  const int64_t rows = logits.rows(), vocabulary = logits.columns(), count = std::min(most, vocabulary);
  const int64_t blocks = kernels::logit_block_count(vocabulary);
  BestTokens result{.width = count, .ids = {}, .log_probabilities = {}};
  result.ids.assign(rows * count, BestTokens::kNone);
  result.log_probabilities.assign(rows * count, -kInfinity);
  if (rows == 0) return result;
  std::vector<float> block_maxima(rows * blocks), maxima(rows), log_sums(rows);
  const kernels::LogitRows task{.logits = logits.row(0).data(),
                                .classes = vocabulary,
                                .block_maxima = block_maxima.data(),
                                .maxima = maxima.data(),
                                .log_sums = log_sums.data()};
  constexpr int64_t kLogitsPerThread = 1 << 17;  // fewer are not worth waking a thread
  share(logits.threads(), rows, std::max<int64_t>(1, kLogitsPerThread / vocabulary), [&](int64_t begin, int64_t end) {
    BestEntries best(count);
    for (int64_t row = begin; row < end; ++row) {
      kernels::kernels().logit_rows(task, {row, row + 1});
      if (!std::isfinite(log_sums[row])) fail_on_logits();
      scan_row(logits.row(row), std::span(block_maxima).subspan(row * blocks, blocks), best);
      if (best.entries().empty()) fail_on_logits();
      for (int64_t i = 0; const Entry& entry : best.entries()) {
        result.ids[row * count + i] = entry.id;
        result.log_probabilities[row * count + i++] = (entry.value - maxima[row]) - log_sums[row];
      }
    }
  });
  return result;
}

namespace {

/// The tokens that may be drawn from one row.
class Candidates {
 public:
  /// weights: exp((logit - greatest logit) / temperature) of each token.
  Candidates(std::span<const float> logits, std::vector<float> weights, std::span<const int32_t> banned,
             const DecodingConfig& options)
      : logits_(logits), weights_(std::move(weights)) {
    for (const int32_t id : banned) weights_[id] = 0;
    weights_[SpecialIds::kPad] = weights_[SpecialIds::kBegin] = 0;
    for (size_t id = 0; id < logits.size(); ++id)
      if (!std::isfinite(logits[id])) weights_[id] = 0;
    if (*std::ranges::max_element(weights_) < 1e-20F) weigh_again(options.temperature);
    for (int64_t first = 0; first < std::ssize(weights_); first += kBlock) masses_.push_back(sum_of(first));
    if (options.top_k == 0 && options.top_p == 1) return;
    for (size_t id = 0; id < weights_.size(); ++id)
      if (weights_[id] > 0) best_.push_back(static_cast<int32_t>(id));
    if (best_.empty()) return;
    if (options.top_k > 0) keep_most_probable(std::min(std::ssize(best_), options.top_k));
    if (options.top_p < 1) keep_mass(options.top_p);
  }

  /// The token at which the cumulative weight passes `uniform` of all.
  int32_t draw(double uniform) const {
    double left = uniform * mass();
    if (!best_.empty()) return drawn_of(best_, left);
    int32_t last = BestTokens::kNone;
    for (size_t block = 0; block < masses_.size(); ++block) {
      if (masses_[block] == 0) continue;
      last = static_cast<int32_t>(block);
      if (left < masses_[block]) break;
      left -= masses_[block];
    }
    if (last == BestTokens::kNone) return last;
    std::vector<int32_t> ids;
    for (int32_t id = last * kBlock; id < std::min<int64_t>((last + 1) * kBlock, std::ssize(weights_)); ++id)
      if (weights_[id] > 0) ids.push_back(id);
    return drawn_of(ids, left);
  }

 private:
  static constexpr int32_t kBlock = 64;

  int32_t drawn_of(std::span<const int32_t> ids, double left) const {
    for (const int32_t id : ids) {
      left -= weights_[id];
      if (left < 0) return id;
    }
    return ids.back();  // rounding
  }
  /// Beside a banned token that has nearly all of the probability, float32 cannot tell the others apart.
  void weigh_again(double temperature) {
    float highest = -kInfinity;
    for (size_t id = 0; id < weights_.size(); ++id)
      if (weights_[id] > 0) highest = std::max(highest, logits_[id]);
    for (size_t id = 0; id < weights_.size(); ++id)
      if (weights_[id] > 0)
        weights_[id] = static_cast<float>(std::exp((static_cast<double>(logits_[id]) - highest) / temperature));
  }
  double sum_of(int64_t first) const {
    const auto end = weights_.begin() + std::min<int64_t>(first + kBlock, std::ssize(weights_));
    return std::accumulate(weights_.begin() + first, end, 0.0);
  }
  double mass() const {
    if (best_.empty()) return std::accumulate(masses_.begin(), masses_.end(), 0.0);
    return std::accumulate(best_.begin(), best_.end(), 0.0, [&](double sum, int32_t id) { return sum + weights_[id]; });
  }
  bool is_more_probable(int32_t a, int32_t b) const {
    return logits_[a] != logits_[b] ? logits_[a] > logits_[b] : a < b;
  }

  /// The first `count` of best_ become the most probable ones, in order; the others follow in any order.
  void sort_first(int64_t count) {
    std::partial_sort(best_.begin(), best_.begin() + count, best_.end(),
                      [&](int32_t a, int32_t b) { return is_more_probable(a, b); });
  }
  void keep_most_probable(int64_t count) {
    sort_first(count);
    best_.resize(count);
  }
  /// The fewest tokens whose probabilities sum to `share`. Mostly these are few, so the rest is not sorted.
  void keep_mass(double share) {
    const double wanted = share * mass();
    for (int64_t sorted = std::min<int64_t>(64, std::ssize(best_));; sorted = std::min(8 * sorted, std::ssize(best_))) {
      sort_first(sorted);
      double sum = 0;
      for (int64_t i = 0; i < sorted; ++i) {
        sum += weights_[best_[i]];
        if (sum >= wanted) return best_.resize(i + 1);
      }
      if (sorted == std::ssize(best_)) return;
    }
  }

  std::span<const float> logits_;
  std::vector<float> weights_;  // 0 for what may not be drawn
  std::vector<double> masses_;  // of each block of tokens
  std::vector<int32_t> best_;   // with top_k or top_p: what may be drawn, the most probable first
};

}  // namespace

BestTokens draw_tokens(const PlainLogits& logits, const StepQuery& query, const DecodingConfig& options) {
  const int64_t draws = std::ssize(query.uniforms);
  const auto row_of = [&](int64_t draw) { return query.rows.empty() ? draw : query.rows[draw]; };
  std::vector<int64_t> order(draws);  // draws of a row follow one another: its weights are computed once
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, row_of);
  std::vector<int64_t> firsts;  // of each row
  for (int64_t i = 0; i < draws; ++i)
    if (i == 0 || row_of(order[i]) != row_of(order[i - 1])) firsts.push_back(i);
  BestTokens drawn{.width = 1, .ids = {}, .log_probabilities = {}};
  drawn.ids.resize(draws);
  drawn.log_probabilities.assign(draws, -kInfinity);
  const int64_t groups = std::ssize(firsts);
  firsts.push_back(draws);
  share(logits.threads(), groups, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> block_maxima(kernels::logit_block_count(logits.columns()));
    for (int64_t group = begin; group < end; ++group) {
      const int64_t row = row_of(order[firsts[group]]);
      const auto of_row = logits.row(row);
      std::vector<float> weights(of_row.size());
      float maximum = 0, log_sum = 0;
      kernels::kernels().logit_rows({.logits = of_row.data(),
                                     .classes = logits.columns(),
                                     .block_maxima = block_maxima.data(),
                                     .maxima = &maximum,
                                     .log_sums = &log_sum,
                                     .weights = weights.data(),
                                     .sharpness = static_cast<float>(1 / options.temperature)},
                                    {0, 1});
      if (!std::isfinite(log_sum)) fail_on_logits();
      const auto banned = query.rules.empty() ? std::span<const int32_t>() : std::span(query.rules[row].banned);
      const Candidates candidates(of_row, std::move(weights), banned, options);
      for (int64_t i = firsts[group]; i < firsts[group + 1]; ++i) {
        const int32_t id = drawn.ids[order[i]] = candidates.draw(query.uniforms[order[i]]);
        if (id != BestTokens::kNone) drawn.log_probabilities[order[i]] = (of_row[id] - maximum) - log_sum;
      }
    }
  });
  return drawn;
}

namespace {

/// Log-probabilities differ as logits do: each is that of the row's best token and the difference.
std::vector<std::vector<TokenScore>> wanted_scores(const Logits& logits, std::span<const RowRules> rules,
                                                   const BestTokens& best) {
  std::vector<std::vector<TokenScore>> scores(rules.size());
  std::vector<int64_t> places;  // of each wanted token, and of the best one of its row
  for (int64_t row = 0; row < std::ssize(rules); ++row) {
    for (const int32_t token : rules[row].wanted) {
      places.push_back(row * logits.columns() + token);
      places.push_back(row * logits.columns() + best.ids[row * best.width]);
    }
  }
  if (places.empty()) return scores;
  const auto values = logits.at(places);
  const float* next = values.data();
  for (size_t row = 0; row < rules.size(); ++row)
    for (const int32_t token : rules[row].wanted) {
      const float log_probability = (next[0] - next[1]) + best.log_probabilities[row * best.width];
      next += 2;
      if (rules[row].only_wanted || std::isfinite(log_probability)) scores[row].push_back({token, log_probability});
    }
  return scores;
}

void remove_banned(std::span<const RowRules> rules, BestTokens& best) {
  for (size_t row = 0; row < rules.size(); ++row) {
    if (rules[row].banned.empty() && !rules[row].only_wanted) continue;
    int32_t* ids = best.ids.data() + row * best.width;
    float* values = best.log_probabilities.data() + row * best.width;
    int64_t kept = 0;
    for (int64_t i = 0; i < best.width && !rules[row].only_wanted; ++i) {
      if (std::ranges::find(rules[row].banned, ids[i]) != rules[row].banned.end()) continue;
      ids[kept] = ids[i];
      values[kept++] = values[i];
    }
    std::fill(ids + kept, ids + best.width, BestTokens::kNone);
    std::fill(values + kept, values + best.width, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace

int64_t needed_best(const StepQuery& query) {
  size_t max_banned = 0;
  for (const auto& row : query.rules) max_banned = std::max(max_banned, row.banned.size());
  return query.count + static_cast<int64_t>(max_banned);
}

StepScores judged(const Logits& logits, BestTokens best, std::span<const RowRules> rules) {
  StepScores scores{.best = std::move(best), .wanted = {}};
  if (rules.empty()) return scores;
  scores.wanted = wanted_scores(logits, rules, scores.best);
  remove_banned(rules, scores.best);
  return scores;
}

StepScores step_scores(const PlainLogits& logits, const StepQuery& query, const DecodingConfig& options) {
  auto best = options.sampling ? draw_tokens(logits, query, options) : best_tokens(logits, needed_best(query));
  return judged(logits, std::move(best), query.rules);
}

std::vector<int32_t> all_candidates(const SearchInput& input) {
  std::vector<int32_t> all = {SpecialIds::kPad, SpecialIds::kUnknown, SpecialIds::kBegin, SpecialIds::kEnd};
  all.insert(all.end(), input.candidates.begin(), input.candidates.end());
  all.insert(all.end(), input.prefix.begin(), input.prefix.end());
  for (const auto& phrase : input.must_appear) all.insert(all.end(), phrase.begin(), phrase.end());
  make_distinct(all);
  return all;
}

std::vector<RowRules> in_places(std::span<const RowRules> rows, std::span<const int32_t> candidates) {
  // What is no candidate cannot be chosen anyway.
  const auto places = [&](const std::vector<int32_t>& ids) {
    std::vector<int32_t> found;
    for (const int32_t id : ids) {
      const auto at = std::ranges::lower_bound(candidates, id);
      if (at != candidates.end() && *at == id) found.push_back(static_cast<int32_t>(at - candidates.begin()));
    }
    return found;
  };
  std::vector<RowRules> placed;
  for (const auto& row : rows)
    placed.push_back({.banned = places(row.banned), .wanted = places(row.wanted), .only_wanted = row.only_wanted});
  return placed;
}

void append(StepScores& all, StepScores rows, std::span<const int32_t> candidates) {
  const BestTokens& best = rows.best;
  for (int64_t row = 0; row < std::ssize(best.ids) / best.width; ++row) {
    for (int64_t i = 0; i < all.best.width; ++i) {
      const int32_t place = i < best.width ? best.ids[row * best.width + i] : BestTokens::kNone;
      const bool none = place == BestTokens::kNone;
      all.best.ids.push_back(none ? BestTokens::kNone : candidates[place]);
      all.best.log_probabilities.push_back(none ? -kInfinity : best.log_probabilities[row * best.width + i]);
    }
  }
  for (auto& row : rows.wanted) {
    for (auto& score : row) score.token = candidates[score.token];
    all.wanted.push_back(std::move(row));
  }
}

}  // namespace nmt
