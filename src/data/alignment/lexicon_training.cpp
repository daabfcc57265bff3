#include "data/alignment/lexicon_training.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/threads.h"

namespace nmt {
namespace {

constexpr int64_t kCellsOfBlock = 1 << 25;   // doubles: of the expected counts of some source pieces, all targets
constexpr int64_t kPlacesOfChunk = 1 << 22;  // of what is looked up at a time; a longer pair is left out
constexpr float kLeastProbability = 1e-4f;   // less probable translations are noise
constexpr int64_t kPairsPerThread = 64;      // fewer are not worth a thread

struct TrainingStopped {};

/// Expectation maximisation. A row is a source piece; its cells are the targets that it may translate to, ascending.
/// The row of the empty word, which every source has, holds all targets.
class ModelOne {
 public:
  ModelOne(const PiecePairs& pairs, int64_t source_vocabulary, int64_t target_vocabulary, const LexiconOptions& options)
      : pairs_(pairs), sources_(source_vocabulary), targets_(target_vocabulary), options_(options) {}

  PieceTranslations run() {
    first_iteration();
    for (int i = 1; i < options_.iterations; ++i) iterate();
    return result();
  }

 private:
  /// Pairs [begin, end), and where in their buffers each begins.
  struct Chunk {
    int64_t begin = 0, end = 0;
    std::vector<int64_t> first_place, first_target;  // of each pair
  };

  int64_t places(int64_t pair) const { return std::ssize(pairs_.source(pair)) * std::ssize(pairs_.target(pair)); }
  bool is_usable(int64_t pair) const { return places(pair) > 0 && places(pair) <= kPlacesOfChunk; }
  void advance(int64_t pairs) {
    done_ += pairs;
    if (options_.should_stop()) throw TrainingStopped();
    if (options_.progress) options_.progress(done_, pairs_.size() * options_.iterations);
  }
  /// Calls body(owner) on each thread: owner k sums up the rows of source pieces k, k + threads, ...
  template <typename Body>
  void for_owners(const Body& body) const {
    parallel_for(options_.threads, 1, options_.threads, [&](int64_t begin, int64_t end) {
      for (int64_t owner = begin; owner < end; ++owner) body(owner);
    });
  }
  bool owns(int64_t owner, int64_t source) const { return source % options_.threads == owner; }

  void first_iteration();
  void add_block(int64_t first, int64_t end, std::vector<std::vector<std::pair<int32_t, double>>>& rows);
  void iterate();
  Chunk next_chunk(int64_t begin);
  void expect(const Chunk& chunk, int64_t pair);
  void count_rows(const Chunk& chunk, int64_t owner);
  void count_empty(const Chunk& chunk);
  void maximise();
  PieceTranslations result() const;

  PiecePairs pairs_;
  int64_t sources_, targets_;
  const LexiconOptions& options_;
  int64_t done_ = 0;
  std::vector<uint64_t> begins_;  // [sources + 1] of the rows in what follows
  std::vector<int32_t> cells_;
  std::vector<float> probabilities_;
  std::vector<double> counts_;
  std::vector<double> empty_probabilities_, empty_counts_;  // [targets]
  // For a chunk: where each target of a pair stands in the row of each of its source pieces (-1: nowhere), and the sum
  // of each target's probabilities over them.
  std::vector<int32_t> found_;
  std::vector<double> sums_;
};

/// Where all probabilities are equal, the expected count of a translation in a pair is 1 / (source pieces + 1) for each
/// time the two stand there. These counts also decide which cells there are.
void ModelOne::first_iteration() {
  const int64_t in_block = std::clamp<int64_t>(kCellsOfBlock / std::max<int64_t>(targets_, 1), 1, sources_);
  std::vector<std::vector<std::pair<int32_t, double>>> rows(sources_);
  for (int64_t first = 0; first < sources_; first += in_block)
    add_block(first, std::min(sources_, first + in_block), rows);
  size_t cells = 0;
  for (const auto& row : rows) cells += row.size();
  cells_.reserve(cells);
  counts_.reserve(cells);
  begins_.assign(1, 0);
  for (auto& row : rows) {
    for (const auto& [target, count] : row) {
      cells_.push_back(target);
      counts_.push_back(count);
    }
    begins_.push_back(cells_.size());
    row = {};
  }
  probabilities_.resize(cells_.size());
  empty_counts_.assign(targets_, 0);
  for (int64_t pair = 0; pair < pairs_.size(); ++pair) {
    if (!is_usable(pair)) continue;
    const double share = 1.0 / static_cast<double>(pairs_.source(pair).size() + 1);
    for (const int32_t target : pairs_.target(pair)) empty_counts_[target] += share;
  }
  maximise();
  advance(pairs_.size());
}

/// The rows of source pieces [first, end) from a table of all targets.
void ModelOne::add_block(int64_t first, int64_t end, std::vector<std::vector<std::pair<int32_t, double>>>& rows) {
  std::vector<double> table((end - first) * targets_);
  const int64_t kept = options_.kept > 0 ? options_.kept : std::max<int64_t>(256, 4 * options_.candidates);
  for_owners([&](int64_t owner) {
    for (int64_t pair = 0; pair < pairs_.size(); ++pair) {
      if (!is_usable(pair)) continue;
      const auto source = pairs_.source(pair), target = pairs_.target(pair);
      const double share = 1.0 / static_cast<double>(source.size() + 1);
      for (const int32_t s : source) {
        if (s < first || s >= end || !owns(owner, s)) continue;
        double* row = table.data() + (s - first) * targets_;
        for (const int32_t t : target) row[t] += share;
      }
    }
    for (int64_t s = first; s < end; ++s) {
      if (!owns(owner, s)) continue;
      auto& row = rows[s];
      for (int64_t t = 0; t < targets_; ++t) {
        const double count = table[(s - first) * targets_ + t];
        if (count > 0) row.emplace_back(static_cast<int32_t>(t), count);
      }
      if (std::ssize(row) <= kept) continue;
      std::ranges::nth_element(row, row.begin() + kept, [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
      });
      row.resize(kept);
      std::ranges::sort(row);
      row.shrink_to_fit();
    }
  });
  if (options_.should_stop()) throw TrainingStopped();
}

void ModelOne::iterate() {
  std::ranges::fill(counts_, 0);
  std::ranges::fill(empty_counts_, 0);
  for (int64_t begin = 0; begin < pairs_.size();) {
    const Chunk chunk = next_chunk(begin);
    parallel_for(chunk.end - chunk.begin, kPairsPerThread, options_.threads, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) expect(chunk, chunk.begin + i);
    });
    for_owners([&](int64_t owner) {
      count_rows(chunk, owner);
      if (owner == 0) count_empty(chunk);
    });
    advance(chunk.end - chunk.begin);
    begin = chunk.end;
  }
  maximise();
}

ModelOne::Chunk ModelOne::next_chunk(int64_t begin) {
  Chunk chunk{.begin = begin, .end = begin, .first_place = {}, .first_target = {}};
  int64_t place = 0, target = 0;
  for (; chunk.end < pairs_.size(); ++chunk.end) {
    const int64_t own = is_usable(chunk.end) ? places(chunk.end) : 0;
    if (place + own > kPlacesOfChunk) break;
    chunk.first_place.push_back(place);
    chunk.first_target.push_back(target);
    place += own;
    if (own > 0) target += std::ssize(pairs_.target(chunk.end));
  }
  found_.resize(place);
  sums_.resize(target);
  return chunk;
}

void ModelOne::expect(const Chunk& chunk, int64_t pair) {
  if (!is_usable(pair)) return;
  const auto source = pairs_.source(pair), target = pairs_.target(pair);
  int32_t* found = found_.data() + chunk.first_place[pair - chunk.begin];
  double* sums = sums_.data() + chunk.first_target[pair - chunk.begin];
  for (size_t j = 0; j < target.size(); ++j) sums[j] = empty_probabilities_[target[j]];
  for (const int32_t s : source) {
    const auto row = std::span(cells_).subspan(begins_[s], begins_[s + 1] - begins_[s]);
    for (size_t j = 0; j < target.size(); ++j) {
      const auto cell = std::ranges::lower_bound(row, target[j]);
      const bool known = cell != row.end() && *cell == target[j];
      *found++ = known ? static_cast<int32_t>(cell - row.begin()) : -1;
      if (known) sums[j] += probabilities_[begins_[s] + (cell - row.begin())];
    }
  }
}

void ModelOne::count_rows(const Chunk& chunk, int64_t owner) {
  for (int64_t pair = chunk.begin; pair < chunk.end; ++pair) {
    if (!is_usable(pair)) continue;
    const auto source = pairs_.source(pair);
    const size_t width = pairs_.target(pair).size();
    const int32_t* found = found_.data() + chunk.first_place[pair - chunk.begin];
    const double* sums = sums_.data() + chunk.first_target[pair - chunk.begin];
    for (const int32_t s : source) {
      if (owns(owner, s)) {
        for (size_t j = 0; j < width; ++j) {
          if (found[j] < 0) continue;
          const uint64_t cell = begins_[s] + found[j];
          if (sums[j] > 0) counts_[cell] += probabilities_[cell] / sums[j];
        }
      }
      found += width;
    }
  }
}

void ModelOne::count_empty(const Chunk& chunk) {
  for (int64_t pair = chunk.begin; pair < chunk.end; ++pair) {
    if (!is_usable(pair)) continue;
    const double* sums = sums_.data() + chunk.first_target[pair - chunk.begin];
    for (const int32_t target : pairs_.target(pair)) {
      if (*sums > 0) empty_counts_[target] += empty_probabilities_[target] / *sums;
      ++sums;
    }
  }
}

/// Counts become probabilities: each row sums to 1.
void ModelOne::maximise() {
  for_owners([&](int64_t owner) {
    for (int64_t s = owner; s < sources_; s += options_.threads) {
      const double sum = std::accumulate(counts_.begin() + begins_[s], counts_.begin() + begins_[s + 1], 0.0);
      if (sum == 0) continue;
      for (uint64_t cell = begins_[s]; cell < begins_[s + 1]; ++cell)
        probabilities_[cell] = static_cast<float>(counts_[cell] / sum);
    }
  });
  empty_probabilities_.assign(targets_, 0);
  const double sum = std::accumulate(empty_counts_.begin(), empty_counts_.end(), 0.0);
  if (sum == 0) return;
  std::ranges::transform(empty_counts_, empty_probabilities_.begin(), [&](double count) { return count / sum; });
}

PieceTranslations ModelOne::result() const {
  PieceTranslations result;
  result.best.resize(sources_);
  result.of_empty.assign(empty_probabilities_.begin(), empty_probabilities_.end());
  for (int64_t s = 0; s < sources_; ++s) {
    auto& row = result.best[s];
    for (uint64_t cell = begins_[s]; cell < begins_[s + 1]; ++cell)
      if (probabilities_[cell] >= kLeastProbability) row.push_back({cells_[cell], probabilities_[cell]});
    std::ranges::stable_sort(row, std::ranges::greater(), &PieceTranslation::probability);  // ties: the lower id
    if (std::ssize(row) > options_.candidates) row.resize(options_.candidates);
  }
  std::vector<int64_t> occurrences(targets_);
  for (int64_t pair = 0; pair < pairs_.size(); ++pair)
    for (const int32_t target : pairs_.target(pair)) ++occurrences[target];
  result.frequent.resize(targets_);
  std::iota(result.frequent.begin(), result.frequent.end(), 0);
  std::ranges::stable_sort(result.frequent, std::ranges::greater(), [&](int32_t id) { return occurrences[id]; });
  return result;
}

}  // namespace

std::optional<PieceTranslations> train_lexicon(const PiecePairs& pairs, int64_t source_vocabulary,
                                               int64_t target_vocabulary, const LexiconOptions& options) {
  try {
    return ModelOne(pairs, source_vocabulary, target_vocabulary, options).run();
  } catch (const TrainingStopped&) {
    return std::nullopt;
  }
}

}  // namespace nmt
