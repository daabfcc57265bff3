#include "scoring/corpus/resampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "scoring/python/numpy_random.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kSegmentsPerThread = 64;  // fewer are not worth a thread

}  // namespace

void ResampleMatrix::append(std::span<const double> row) {
  values.insert(values.end(), row.begin(), row.end());
  values.resize(static_cast<size_t>(++rows) * stride);
}

CorpusStatistics::CorpusStatistics(std::vector<std::shared_ptr<const Metric>> metrics, size_t systems, Keep keep,
                                   int threads)
    : metrics_(std::move(metrics)),
      systems_(systems),
      keep_(keep),
      threads_(threads > 0 ? threads : default_threads()) {
  for (const auto& metric : metrics_) {
    for (size_t system = 0; system < systems_; ++system) {
      gathered_.push_back({std::vector<double>(metric->columns()), {}, ResampleMatrix(metric->columns())});
    }
  }
}

void CorpusStatistics::score_segments(const SegmentBlock& block, int64_t begin, int64_t end,
                                      std::vector<std::vector<double>>& statistics) const {
  std::vector<std::unique_ptr<SegmentScorer>> scorers;
  for (const auto& metric : metrics_) scorers.push_back(metric->segment_scorer());
  std::vector<std::string_view> references, stripped;
  for (int64_t segment = begin; segment < end; ++segment) {
    references.clear();
    for (const auto& set : block.references) {
      if (set[segment].data()) references.push_back(set[segment]);
    }
    if (references.empty()) throw Error(fmt::format("segment {}: no reference", segments_ + segment + 1));
    stripped.clear();
    if (block.has_line_ends) std::ranges::transform(references, std::back_inserter(stripped), strip_end);
    for (size_t m = 0; m < metrics_.size(); ++m) try {
        const bool strips = block.has_line_ends && !metrics_[m]->reads_line_ends();
        scorers[m]->set_references(strips ? stripped : references);
        const size_t columns = metrics_[m]->columns();
        for (size_t system = 0; system < systems_; ++system) {
          const std::string_view hypothesis = block.hypotheses[system][segment];
          scorers[m]->statistics(strips ? strip_end(hypothesis) : hypothesis,
                                 std::span(statistics[m * systems_ + system]).subspan(segment * columns, columns));
        }
      } catch (const Error& error) {
        throw Error(fmt::format("segment {}: {}", segments_ + segment + 1, error.what()));
      }
  }
}

void CorpusStatistics::add(const SegmentBlock& block) {
  const int64_t size = block.size();
  std::vector<std::vector<double>> statistics;
  for (const Gathered& gathered : gathered_) statistics.emplace_back(gathered.sums.size() * size);
  parallel_for(size, kSegmentsPerThread, threads_,
               [&](int64_t begin, int64_t end) { score_segments(block, begin, end, statistics); });
  for (size_t i = 0; i < gathered_.size(); ++i) {
    Gathered& gathered = gathered_[i];
    const size_t columns = gathered.sums.size();
    for (int64_t segment = 0; segment < size; ++segment) {
      const auto row = std::span(statistics[i]).subspan(segment * columns, columns);
      for (size_t c = 0; c < columns; ++c) gathered.sums[c] += row[c];
      if (keep_ == Keep::kFloat32) gathered.float32.append(row);
    }
    if (keep_ == Keep::kExact) gathered.exact.insert(gathered.exact.end(), statistics[i].begin(), statistics[i].end());
  }
  for (int64_t segment = 0; segment < size; ++segment) {
    const auto present = std::count_if(block.references.begin(), block.references.end(),
                                       [segment](const auto& set) { return set[segment].data() != nullptr; });
    if (segments_ + segment == 0) references_ = present;
    if (references_ != present) references_ = kVariableReferences;
  }
  segments_ += size;
}

namespace {

constexpr int64_t kDrawsPerBlock = 1 << 19;  // random numbers held at a time
constexpr int kMaxGroups = 8;                // of four columns; wider statistics take the general loop

/// Sums the chosen rows in order, of two resamples at once: one would wait for its own additions. The fixed number of
/// groups lets the compiler keep the sums in registers.
template <int groups>
void sum_rows(const ResampleMatrix& from, const uint32_t* rows, const uint32_t* other_rows, float* sums,
              float* other_sums) {
  std::array<float, 4 * groups> total{}, other_total{};
  for (int64_t i = 0; i < from.rows; ++i) {
    const float* row = from.values.data() + static_cast<size_t>(rows[i]) * (4 * groups);
    const float* other_row = from.values.data() + static_cast<size_t>(other_rows[i]) * (4 * groups);
    for (int c = 0; c < 4 * groups; ++c) total[c] += row[c];
    for (int c = 0; c < 4 * groups; ++c) other_total[c] += other_row[c];
  }
  std::copy(total.begin(), total.end(), sums);
  std::copy(other_total.begin(), other_total.end(), other_sums);
}

template <>
void sum_rows<0>(const ResampleMatrix& from, const uint32_t* rows, const uint32_t* other_rows, float* sums,
                 float* other_sums) {
  const size_t stride = from.stride;
  std::fill(sums, sums + stride, 0.0f);
  std::fill(other_sums, other_sums + stride, 0.0f);
  for (int64_t i = 0; i < from.rows; ++i) {
    const float *row = from.values.data() + rows[i] * stride, *other_row = from.values.data() + other_rows[i] * stride;
    for (size_t c = 0; c < stride; ++c) sums[c] += row[c];
    for (size_t c = 0; c < stride; ++c) other_sums[c] += other_row[c];
  }
}

constexpr std::array kSumRowsByGroups = {sum_rows<0>, sum_rows<1>, sum_rows<2>, sum_rows<3>, sum_rows<4>,
                                         sum_rows<5>, sum_rows<6>, sum_rows<7>, sum_rows<8>};

/// Scores resamples [begin, end) of a block, whose chosen rows lie one after the other in `indices`.
void score_resamples(const ResampledSystem& system, const std::vector<uint32_t>& indices, int64_t begin, int64_t end,
                     ResampleScore* scores) {
  const auto& [metric, matrix] = system;
  const auto sum = kSumRowsByGroups[matrix->stride / 4 <= kMaxGroups ? matrix->stride / 4 : 0];
  std::vector<float> sums(matrix->stride), other_sums(matrix->stride);
  for (int64_t i = begin; i < end; i += 2) {
    const int64_t other = std::min(i + 1, end - 1);  // the last one of an odd number is done twice
    sum(*matrix, indices.data() + i * matrix->rows, indices.data() + other * matrix->rows, sums.data(),
        other_sums.data());
    scores[i] = metric->score_of_resample(std::span<const float>(sums).first(matrix->columns));
    scores[other] = metric->score_of_resample(std::span<const float>(other_sums).first(matrix->columns));
  }
}

/// Trials of one block: bits[trial * words + i / 64] says where segment i comes from.
struct CoinBlock {
  int64_t words = 0;
  std::vector<uint64_t> bits;
};

/// The sums of both halves of a trial, from those of the whole and the differences of the segments.
struct Halves {
  explicit Halves(const ShuffledSystem& system)
      : columns(system.metric->columns()),
        differences(system.baseline->size()),
        whole_baseline(columns),
        whole(columns) {
    for (size_t i = 0; i < differences.size(); ++i) {
      differences[i] = (*system.baseline)[i] - (*system.system)[i];
      whole_baseline[i % columns] += (*system.baseline)[i];
      whole[i % columns] += (*system.system)[i];
    }
  }

  void split(std::span<const uint64_t> bits, std::vector<double>& first, std::vector<double>& second) const {
    std::vector<double> moved(columns);
    for (size_t word = 0; word < bits.size(); ++word) {
      for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
        const double* row = differences.data() + (64 * word + std::countr_zero(rest)) * columns;
        for (size_t c = 0; c < columns; ++c) moved[c] += row[c];
      }
    }
    first.resize(columns);
    second.resize(columns);
    for (size_t c = 0; c < columns; ++c) {
      first[c] = whole[c] + moved[c];
      second[c] = whole_baseline[c] - moved[c];
    }
  }

  size_t columns;
  std::vector<double> differences, whole_baseline, whole;
};

/// Bounds of the middle 95 % of sorted scores.
std::pair<double, double> bounds(const std::vector<double>& sorted) {
  const size_t lower = sorted.size() / 40;
  return {sorted[lower], sorted[sorted.size() - lower - 1]};
}

double half_width(const std::vector<double>& sorted, bool float32) {
  const auto [lower, upper] = bounds(sorted);
  if (float32) return 0.5f * (static_cast<float>(upper) - static_cast<float>(lower));
  return 0.5 * (upper - lower);
}

std::vector<float> as_float32(const std::vector<double>& values) { return {values.begin(), values.end()}; }

template <typename T>
double p_value(const std::vector<T>& differences, T real_difference) {
  const auto larger = std::count_if(differences.begin(), differences.end(), [&](T d) { return d > real_difference; });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

/// How often one of the absolute differences exceeds the mean by more than the real difference.
template <typename T>
double centred_p_value(const std::vector<T>& baseline, const std::vector<T>& system, double real_difference) {
  std::vector<T> differences(baseline.size());
  for (size_t i = 0; i < differences.size(); ++i) differences[i] = std::abs(system[i] - baseline[i]);
  const T mean = pairwise_mean(differences);
  for (T& difference : differences) difference -= mean;
  return p_value(differences, static_cast<T>(real_difference));
}

int threads_of(const ResamplingOptions& options) { return options.threads > 0 ? options.threads : default_threads(); }

}  // namespace

std::vector<ResampledScores> bootstrap(std::span<const ResampledSystem> systems, const ResamplingOptions& options) {
  const int64_t segments = systems.empty() ? 0 : systems.front().statistics->rows;
  if (segments > std::numeric_limits<uint32_t>::max()) throw Error("bootstrap: more than 4294967295 segments");
  std::vector<std::vector<ResampleScore>> scores(systems.size(), std::vector<ResampleScore>(options.samples));
  NumpyRandom random(options.seed);
  const int64_t block = std::clamp<int64_t>(kDrawsPerBlock / std::max<int64_t>(1, segments), 1, options.samples);
  std::vector<uint32_t> indices;
  for (int64_t start = 0; start < options.samples; start += block) {
    const int64_t count = std::min(block, options.samples - start);
    indices.resize(count * segments);
    random.choose(static_cast<uint32_t>(segments), indices);
    parallel_for(count, 1, threads_of(options), [&](int64_t begin, int64_t end) {
      for (size_t s = 0; s < systems.size(); ++s) {
        score_resamples(systems[s], indices, begin, end, scores[s].data() + start);
      }
    });
  }
  std::vector<ResampledScores> result(systems.size());
  for (size_t s = 0; s < systems.size(); ++s) {
    result[s].all_float32 = std::all_of(scores[s].begin(), scores[s].end(), [](const auto& x) { return x.is_float32; });
    for (const ResampleScore& score : scores[s]) result[s].values.push_back(score.value);
  }
  return result;
}

std::vector<TrialScores> shuffle(std::span<const ShuffledSystem> systems, const ResamplingOptions& options) {
  if (systems.empty()) return {};
  const int64_t segments = static_cast<int64_t>(systems.front().baseline->size()) / systems.front().metric->columns();
  std::vector<TrialScores> scores(systems.size(),
                                  {std::vector<double>(options.samples), std::vector<double>(options.samples)});
  const std::vector<Halves> halves(systems.begin(), systems.end());
  NumpyRandom random(options.seed);
  CoinBlock coins{.words = (segments + 63) / 64, .bits = {}};
  const int64_t block = std::clamp<int64_t>(64 * kDrawsPerBlock / std::max<int64_t>(1, segments), 1, options.samples);
  for (int64_t start = 0; start < options.samples; start += block) {
    const int64_t count = std::min(block, options.samples - start);
    coins.bits.assign(count * coins.words, 0);
    for (int64_t trial = 0; trial < count; ++trial) {
      uint64_t* bits = coins.bits.data() + trial * coins.words;
      for (int64_t i = 0; i < segments; ++i) bits[i / 64] |= static_cast<uint64_t>(random.coin()) << (i % 64);
    }
    parallel_for(count, 1, threads_of(options), [&](int64_t begin, int64_t end) {
      std::vector<double> first, second;
      for (size_t s = 0; s < systems.size(); ++s) {
        for (int64_t i = begin; i < end; ++i) {
          halves[s].split(std::span(coins.bits).subspan(i * coins.words, coins.words), first, second);
          scores[s].first[start + i] = systems[s].metric->score_of_trial(first);
          scores[s].second[start + i] = systems[s].metric->score_of_trial(second);
        }
      }
    });
  }
  return scores;
}

ConfidenceInterval confidence_interval(const ResampledScores& scores) {
  std::vector<double> sorted = scores.values;
  std::sort(sorted.begin(), sorted.end());
  const bool is_signed = sorted.front() < 0;  // scores of other programs than sacreBLEU
  double mean = is_signed ? pairwise_mean(sorted) : exact_mean(sorted);
  if (scores.all_float32) mean = static_cast<float>(mean);
  return {.mean = mean, .half_width = half_width(sorted, scores.all_float32)};
}

ConfidenceInterval paired_interval(const ResampledScores& scores) {
  std::vector<double> sorted = scores.values;
  std::sort(sorted.begin(), sorted.end());
  const double mean = scores.all_float32 ? pairwise_mean(as_float32(sorted)) : pairwise_mean(sorted);
  return {.mean = mean, .half_width = half_width(sorted, scores.all_float32)};
}

double bootstrap_p_value(const ResampledScores& baseline, const ResampledScores& system, double real_difference) {
  if (baseline.all_float32 && system.all_float32) {
    return centred_p_value(as_float32(baseline.values), as_float32(system.values), real_difference);
  }
  return centred_p_value(baseline.values, system.values, real_difference);
}

double shuffle_p_value(const TrialScores& trials, double real_difference) {
  std::vector<double> differences(trials.first.size());
  for (size_t i = 0; i < differences.size(); ++i) differences[i] = std::abs(trials.first[i] - trials.second[i]);
  return p_value(differences, real_difference);
}

}  // namespace nmt::scoring
