#include "data/alignment/hmm_aligner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/threads.h"

namespace nmt {

TranslationTable::TranslationTable(const PieceTranslations& translations) : empty_(translations.of_empty) {
  begins_.push_back(0);
  for (const auto& row : translations.best) {
    auto ascending = row;
    std::ranges::sort(ascending, {}, &PieceTranslation::target);
    for (const auto& [target, probability] : ascending) {
      targets_.push_back(target);
      probabilities_.push_back(probability);
    }
    begins_.push_back(targets_.size());
  }
}

int32_t TranslationTable::find(int32_t source, int32_t target) const {
  const auto row = std::span(targets_).subspan(begins_[source], begins_[source + 1] - begins_[source]);
  const auto at = std::ranges::lower_bound(row, target);
  return at == row.end() || *at != target ? kNowhere : static_cast<int32_t>(at - row.begin());
}

namespace {

constexpr int64_t kTranslations = 256;      // of a source piece that take part
constexpr int64_t kLongestJump = 10;        // longer ones count as this long
constexpr double kEmptyShare = 0.2;         // p_0, of the empty word
constexpr int64_t kPlacesAtOnce = 1 << 22;  // source x target, of the pairs that are looked at at a time
constexpr int64_t kPairsOfThread = 16;      // fewer are not worth a thread

using Jumps = std::array<double, 2 * kLongestJump + 1>;

struct AlignmentStopped {};

int64_t bucket(int64_t jump) { return std::clamp(jump, -kLongestJump, kLongestJump) + kLongestJump; }

/// The probabilities of a pair's places: [I + 1, I] from the place before (0: none yet, else one more than it) to the
/// next, and what the sums over the empty word take.
class Transitions {
 public:
  Transitions(const Jumps& jumps, int64_t sources) : jumps_(jumps), scales_(sources + 1) {
    for (int64_t from = 0; from <= sources; ++from) {
      double sum = 0;
      for (int64_t to = 0; to < sources; ++to) sum += jumps[bucket(to - (from - 1))];
      scales_[from] = (1 - kEmptyShare) / sum;
    }
  }
  double operator()(int64_t from, int64_t to) const { return jumps_[bucket(to - (from - 1))] * scales_[from]; }

 private:
  const Jumps& jumps_;
  std::vector<double> scales_;
};

}  // namespace

/// What is trained, and a pair's sums over all alignments.
class HmmAligner::Model {
 public:
  Model(const PieceTranslations& translations, int threads) : table_(translations), threads_(threads) {
    jumps_.fill(1);  // all places alike, as Model 1 has it
  }

  Links best(std::span<const int32_t> source, std::span<const int32_t> target, double* log_probability) const;
  void iterate(const PiecePairs& pairs, const std::function<void(int64_t)>& advance);

 private:
  /// Pairs [begin, end), where in the buffers each begins, and what is expected of each.
  struct Chunk {
    int64_t begin = 0, end = 0;
    std::vector<int64_t> first_place = {}, first_target = {};
    std::vector<int32_t> cells = {};     // in its source piece's row, of each place [target, source]
    std::vector<float> posteriors = {};  // of each place
    std::vector<float> of_empty = {};    // of each target piece
    std::vector<Jumps> jumps = {};       // of each pair
  };

  static bool is_usable(const PiecePairs& pairs, int64_t pair) { return places(pairs, pair) > 0; }
  static int64_t places(const PiecePairs& pairs, int64_t pair) {
    const int64_t product = std::ssize(pairs.source(pair)) * std::ssize(pairs.target(pair));
    return product <= kPlacesAtOnce ? product : 0;
  }
  static Chunk next_chunk(const PiecePairs& pairs, int64_t begin);
  void expect(const PiecePairs& pairs, int64_t pair, Chunk& chunk) const;
  std::vector<double> emissions(std::span<const int32_t> source, std::span<const int32_t> target, int32_t* cells) const;
  void count(const PiecePairs& pairs, const Chunk& chunk);
  void maximise();
  template <typename Body>
  void for_owners(const Body& body) const {
    parallel_for(threads_, 1, threads_, [&](int64_t begin, int64_t end) {
      for (int64_t owner = begin; owner < end; ++owner) body(owner);
    });
  }

  TranslationTable table_;
  Jumps jumps_{};
  int threads_;
  std::vector<double> counts_, empty_counts_;
  Jumps jump_counts_{};
};

/// p(t_j | s_i): [target, source].
std::vector<double> HmmAligner::Model::emissions(std::span<const int32_t> source, std::span<const int32_t> target,
                                                 int32_t* cells) const {
  std::vector<double> result;
  result.reserve(source.size() * target.size());
  for (const int32_t t : target) {
    for (const int32_t s : source) {
      const int32_t cell = table_.find(s, t);
      if (cells) *cells++ = cell;
      result.push_back(table_.probability(s, cell));
    }
  }
  return result;
}

HmmAligner::Links HmmAligner::Model::best(std::span<const int32_t> source, std::span<const int32_t> target,
                                          double* log_probability) const {
  const int64_t sources = std::ssize(source), targets = std::ssize(target);
  Links links(target.size(), kEmpty);
  if (sources == 0) return links;
  const auto emission = emissions(source, target, nullptr);
  const Transitions transition(jumps_, sources);
  // For each target piece and each place [sources + 1] at which the alignment stands behind it: the logarithm of the
  // best way there, and where it stood before. That it has not moved: the piece is of the empty word.
  constexpr double kNever = -1e300;
  std::vector<double> now(sources + 1, kNever), next(sources + 1);
  now[0] = 0;
  std::vector<int32_t> from(targets * (sources + 1));
  std::vector<char> empty(targets * (sources + 1));
  std::vector<double> logs((sources + 1) * sources);
  for (int64_t before = 0; before <= sources; ++before)
    for (int64_t to = 0; to < sources; ++to) logs[before * sources + to] = std::log(transition(before, to));
  for (int64_t j = 0; j < targets; ++j) {
    const double of_empty = std::log(kEmptyShare * std::max(table_.empty_probability(target[j]), 1e-7F));
    for (int64_t place = 0; place <= sources; ++place) {
      next[place] = now[place] + of_empty;
      from[j * (sources + 1) + place] = static_cast<int32_t>(place);
      empty[j * (sources + 1) + place] = 1;
    }
    for (int64_t to = 0; to < sources; ++to) {
      double most = kNever;
      int64_t best_before = 0;
      for (int64_t before = 0; before <= sources; ++before) {
        const double way = now[before] + logs[before * sources + to];
        if (way > most) most = way, best_before = before;
      }
      most += std::log(emission[j * sources + to]);
      if (most <= next[to + 1]) continue;
      next[to + 1] = most;
      from[j * (sources + 1) + to + 1] = static_cast<int32_t>(best_before);
      empty[j * (sources + 1) + to + 1] = 0;
    }
    std::swap(now, next);
  }
  int64_t place = std::ranges::max_element(now) - now.begin();
  if (log_probability) *log_probability = now[place];
  for (int64_t j = targets; j-- > 0;) {
    const int64_t at = j * (sources + 1) + place;
    if (!empty[at]) links[j] = static_cast<int32_t>(place - 1);
    place = from[at];
  }
  return links;
}

HmmAligner::Model::Chunk HmmAligner::Model::next_chunk(const PiecePairs& pairs, int64_t begin) {
  Chunk chunk{.begin = begin, .end = begin};
  int64_t place = 0, target = 0;
  for (; chunk.end < pairs.size(); ++chunk.end) {
    const int64_t own = places(pairs, chunk.end);
    if (place + own > kPlacesAtOnce) break;
    chunk.first_place.push_back(place);
    chunk.first_target.push_back(target);
    place += own;
    if (own > 0) target += std::ssize(pairs.target(chunk.end));
  }
  chunk.cells.resize(place);
  chunk.posteriors.resize(place);
  chunk.of_empty.resize(target);
  chunk.jumps.resize(chunk.end - chunk.begin);
  return chunk;
}

/// Forward and backward sums, each scaled to 1 over the places.
void HmmAligner::Model::expect(const PiecePairs& pairs, int64_t pair, Chunk& chunk) const {
  if (!is_usable(pairs, pair)) return;
  const auto source = pairs.source(pair), target = pairs.target(pair);
  const int64_t sources = std::ssize(source), targets = std::ssize(target), states = sources + 1;
  const int64_t first = chunk.first_place[pair - chunk.begin];
  const auto emission = emissions(source, target, chunk.cells.data() + first);
  const Transitions transition(jumps_, sources);
  const auto of_empty = [&](int64_t j) {
    return kEmptyShare * std::max(static_cast<double>(table_.empty_probability(target[j])), 1e-7);
  };
  // forward[j][place]: behind target piece j - 1 the alignment stands there; moved: it has come there by that piece.
  std::vector<double> forward((targets + 1) * states), moved(targets * sources), scales(targets);
  forward[0] = 1;
  for (int64_t j = 0; j < targets; ++j) {
    const double* now = forward.data() + j * states;
    double* next = forward.data() + (j + 1) * states;
    double sum = 0;
    for (int64_t place = 0; place < states; ++place) sum += next[place] = now[place] * of_empty(j);
    for (int64_t to = 0; to < sources; ++to) {
      double way = 0;
      for (int64_t before = 0; before < states; ++before) way += now[before] * transition(before, to);
      way *= emission[j * sources + to];
      moved[j * sources + to] = way;
      next[to + 1] += way;
      sum += way;
    }
    scales[j] = 1 / sum;
    for (int64_t place = 0; place < states; ++place) next[place] *= scales[j];
  }
  std::vector<double> backward(states, 1), before_it(states), weighted(sources);
  Jumps& jumps = chunk.jumps[pair - chunk.begin];
  jumps.fill(0);
  for (int64_t j = targets; j-- > 0;) {
    const double* now = forward.data() + j * states;
    double empty = 0;
    for (int64_t place = 0; place < states; ++place) {
      before_it[place] = of_empty(j) * backward[place] * scales[j];
      empty += now[place] * before_it[place];
    }
    for (int64_t to = 0; to < sources; ++to) {
      chunk.posteriors[first + j * sources + to] =
          static_cast<float>(moved[j * sources + to] * scales[j] * backward[to + 1]);
      weighted[to] = emission[j * sources + to] * backward[to + 1] * scales[j];
    }
    for (int64_t place = 0; place < states; ++place) {
      double sum = 0;
      for (int64_t to = 0; to < sources; ++to) {
        const double way = transition(place, to) * weighted[to];
        sum += way;
        jumps[bucket(to - (place - 1))] += now[place] * way;
      }
      before_it[place] += sum;
    }
    chunk.of_empty[chunk.first_target[pair - chunk.begin] + j] = static_cast<float>(empty);
    std::swap(backward, before_it);
  }
}

/// Adds what is expected: each owner the rows of source pieces k, k + threads, ..., in the order of the pairs.
void HmmAligner::Model::count(const PiecePairs& pairs, const Chunk& chunk) {
  for_owners([&](int64_t owner) {
    for (int64_t pair = chunk.begin; pair < chunk.end; ++pair) {
      if (!is_usable(pairs, pair)) continue;
      const auto source = pairs.source(pair), target = pairs.target(pair);
      const int64_t first = chunk.first_place[pair - chunk.begin], sources = std::ssize(source);
      for (int64_t i = 0; i < sources; ++i) {
        if (source[i] % threads_ != owner) continue;
        for (int64_t place = first + i; place < first + sources * std::ssize(target); place += sources) {
          if (chunk.cells[place] != TranslationTable::kNowhere)
            counts_[table_.row_begin(source[i]) + chunk.cells[place]] += chunk.posteriors[place];
        }
      }
      if (owner != 0) continue;
      const auto& jumps = chunk.jumps[pair - chunk.begin];
      for (size_t i = 0; i < jumps.size(); ++i) jump_counts_[i] += jumps[i];
      const float* empty = chunk.of_empty.data() + chunk.first_target[pair - chunk.begin];
      for (const int32_t t : target) empty_counts_[t] += *empty++;
    }
  });
}

void HmmAligner::Model::maximise() {
  for_owners([&](int64_t owner) {
    for (int64_t s = owner; s < table_.sources(); s += threads_) {
      const auto row = table_.row(static_cast<int32_t>(s));
      const double* counts = counts_.data() + table_.row_begin(static_cast<int32_t>(s));
      const double sum = std::accumulate(counts, counts + row.size(), 0.0);
      for (size_t cell = 0; cell < row.size() && sum > 0; ++cell) row[cell] = static_cast<float>(counts[cell] / sum);
    }
  });
  const double of_empty = std::accumulate(empty_counts_.begin(), empty_counts_.end(), 0.0);
  for (int64_t t = 0; t < table_.targets() && of_empty > 0; ++t)
    table_.empty()[t] = static_cast<float>(empty_counts_[t] / of_empty);
  const double jumped = std::accumulate(jump_counts_.begin(), jump_counts_.end(), 0.0);
  // No distance is impossible: a pair of the test text may have it.
  for (size_t i = 0; i < jumps_.size() && jumped > 0; ++i) jumps_[i] = jump_counts_[i] / jumped + 1e-6;
}

void HmmAligner::Model::iterate(const PiecePairs& pairs, const std::function<void(int64_t)>& advance) {
  counts_.assign(table_.cells(), 0);
  empty_counts_.assign(table_.targets(), 0);
  jump_counts_.fill(0);
  for (int64_t begin = 0; begin < pairs.size();) {
    Chunk chunk = next_chunk(pairs, begin);
    parallel_for(chunk.end - chunk.begin, kPairsOfThread, threads_, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) expect(pairs, chunk.begin + i, chunk);
    });
    count(pairs, chunk);
    advance(chunk.end - chunk.begin);
    begin = chunk.end;
  }
  maximise();
}

HmmAligner::HmmAligner(std::unique_ptr<Model> model) : model_(std::move(model)) {}
HmmAligner::~HmmAligner() = default;
HmmAligner::HmmAligner(HmmAligner&&) noexcept = default;
HmmAligner& HmmAligner::operator=(HmmAligner&&) noexcept = default;

std::optional<HmmAligner> HmmAligner::train(const PiecePairs& pairs, int64_t source_vocabulary,
                                            int64_t target_vocabulary, const HmmOptions& options) {
  const int64_t all = pairs.size() * (options.model_one_iterations + options.iterations);
  const auto translations = train_lexicon(pairs, source_vocabulary, target_vocabulary,
                                          {.candidates = kTranslations,
                                           .iterations = options.model_one_iterations,
                                           .threads = options.threads,
                                           .kept = kTranslations,
                                           .should_stop = options.should_stop,
                                           .progress = [&](int64_t done, int64_t) {
                                             if (options.progress) options.progress(done, all);
                                           }});
  if (!translations) return std::nullopt;
  auto model = std::make_unique<Model>(*translations, options.threads);
  int64_t done = pairs.size() * options.model_one_iterations;
  try {
    for (int i = 0; i < options.iterations; ++i) {
      model->iterate(pairs, [&](int64_t count) {
        done += count;
        if (options.should_stop()) throw AlignmentStopped();
        if (options.progress) options.progress(done, all);
      });
    }
  } catch (const AlignmentStopped&) {
    return std::nullopt;
  }
  return HmmAligner(std::move(model));
}

HmmAligner::Links HmmAligner::align(std::span<const int32_t> source, std::span<const int32_t> target,
                                    double* log_probability) const {
  return model_->best(source, target, log_probability);
}

}  // namespace nmt
