#include "scoring/corpus/paired_test.h"

#include <cmath>

#include "base/error.h"
#include "scoring/corpus/resampling.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kDefaultResamples = 1000;
constexpr int64_t kDefaultTrials = 10000;

/// sacreBLEU takes a seed of 0 for none in the comparisons, though not for the baseline's own interval.
Seed comparison_seed(const Seed& seed) {
  Seed result = seed;
  if (seed.is_zero()) result.words.clear();
  return result;
}

void add_bootstrap(const CorpusStatistics& statistics, const ResamplingOptions& options, PairedTable& table) {
  const size_t systems = statistics.systems();
  std::vector<ResampledSystem> resampled;
  for (size_t m = 0; m < statistics.metrics().size(); ++m) {
    for (size_t s = 0; s < systems; ++s) {
      resampled.push_back({statistics.metrics()[m].get(), &statistics.resample_matrix(m, s)});
    }
  }
  ResamplingOptions comparison = options;
  comparison.seed = comparison_seed(options.seed);
  const auto scores = bootstrap(resampled, comparison);
  for (size_t m = 0; m < table.columns.size(); ++m) {
    auto& results = table.columns[m].results;
    const ResampledScores& baseline = scores[m * systems];
    for (size_t s = 0; s < systems; ++s) {
      const bool other_seed = s == 0 && options.seed.is_zero();
      const auto interval =
          paired_interval(other_seed ? bootstrap(std::span(resampled).subspan(m * systems, 1), options).front()
                                     : scores[m * systems + s]);
      results[s].mean = interval.mean;
      results[s].half_width = interval.half_width;
      if (s == 0) continue;
      results[s].p_value =
          bootstrap_p_value(baseline, scores[m * systems + s], std::abs(results[0].score - results[s].score));
    }
  }
}

void add_shuffle(const CorpusStatistics& statistics, const ResamplingOptions& options, PairedTable& table) {
  const size_t systems = statistics.systems();
  std::vector<ShuffledSystem> shuffled;
  for (size_t m = 0; m < statistics.metrics().size(); ++m) {
    for (size_t s = 1; s < systems; ++s) {
      shuffled.push_back({statistics.metrics()[m].get(), &statistics.exact(m, 0), &statistics.exact(m, s)});
    }
  }
  ResamplingOptions comparison = options;
  comparison.seed = comparison_seed(options.seed);
  const auto trials = shuffle(shuffled, comparison);
  for (size_t m = 0; m < table.columns.size(); ++m) {
    auto& results = table.columns[m].results;
    for (size_t s = 1; s < systems; ++s) {
      const double difference = std::abs(results[0].score - results[s].score);
      results[s].p_value = shuffle_p_value(trials[m * (systems - 1) + s - 1], difference);
    }
  }
}

}  // namespace

Keep kept_for(PairedTestKind kind) { return kind == PairedTestKind::kBootstrap ? Keep::kFloat32 : Keep::kExact; }

PairedTable paired_test(const CorpusStatistics& statistics, std::vector<std::string> names,
                        const PairedTestOptions& options) {
  const bool is_bootstrap = options.kind == PairedTestKind::kBootstrap;
  const int64_t samples = options.samples > 0 ? options.samples : (is_bootstrap ? kDefaultResamples : kDefaultTrials);
  SignatureFacts facts{.references = statistics.references()};
  (is_bootstrap ? facts.bootstrap : facts.trials) = samples;
  facts.seed = options.seed.number_text();
  PairedTable table{.systems = std::move(names), .columns = {}, .kind = options.kind, .samples = samples};
  for (size_t m = 0; m < statistics.metrics().size(); ++m) {
    const Metric& metric = *statistics.metrics()[m];
    PairedColumn column{.metric = metric.name(), .signature = metric.signature(facts), .results = {}};
    for (size_t s = 0; s < statistics.systems(); ++s) {
      column.results.push_back({metric.score_of(statistics.sums(m, s)).score, {}, {}, {}});
    }
    table.columns.push_back(std::move(column));
  }
  const ResamplingOptions resampling{.samples = samples, .seed = options.seed, .threads = options.threads};
  is_bootstrap ? add_bootstrap(statistics, resampling, table) : add_shuffle(statistics, resampling, table);
  return table;
}

PairedTable paired_test(std::span<const NamedSystem> systems, const References& references,
                        std::span<const std::shared_ptr<const Metric>> metrics, const PairedTestOptions& options) {
  if (systems.size() < 2) throw Error("paired test: at least two systems are needed");
  if (metrics.empty()) throw Error("paired test: there are no metrics; give one or more");
  SegmentBlock block = block_of(systems.front().hypotheses, references, systems.front().name);
  for (const NamedSystem& system : systems.subspan(1))
    block.hypotheses.push_back(block_of(system.hypotheses, references, system.name).hypotheses.front());
  CorpusStatistics statistics({metrics.begin(), metrics.end()}, systems.size(), kept_for(options.kind),
                              options.threads);
  statistics.add(block);
  std::vector<std::string> names;
  for (const NamedSystem& system : systems) names.push_back(system.name);
  return paired_test(statistics, std::move(names), options);
}

}  // namespace nmt::scoring
