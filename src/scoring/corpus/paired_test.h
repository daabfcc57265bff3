#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scoring/corpus/corpus_score.h"
#include "scoring/corpus/metric.h"
#include "scoring/corpus/resampling.h"
#include "scoring/python/numpy_random.h"

namespace nmt::scoring {

enum class PairedTestKind {
  kBootstrap,                ///< paired bootstrap resampling (Koehn 2004)
  kApproximateRandomization  ///< Riezler and Maxwell 2005
};

struct PairedTestOptions {
  PairedTestKind kind = PairedTestKind::kBootstrap;
  int64_t samples = 0;  ///< 0 or less: 1000 resamples, 10000 trials
  Seed seed = {};
  int threads = 0;  ///< 0: all processors; figures do not depend on it
};

/// One system by one metric. p_value: two-sided, against the first system; absent for that one.
/// mean and half_width: of the bootstrap resamples; absent for approximate randomisation.
struct PairedResult {
  double score = 0;
  std::optional<double> p_value = {}, mean = {}, half_width = {};
};

struct PairedColumn {
  std::string metric;  ///< name of the scores: "BLEU", "chrF2++", "TER"
  Signature signature;
  std::vector<PairedResult> results = {};  ///< one a system
};

/// kind: of the test; absent for plain scores. samples: that were drawn.
struct PairedTable {
  std::vector<std::string> systems;
  std::vector<PairedColumn> columns = {};
  std::optional<PairedTestKind> kind = {};
  int64_t samples = 0;
};

/// What of the statistics a paired test needs.
Keep kept_for(PairedTestKind kind);

/// The paired test of systems whose statistics have been gathered; the first is the baseline.
PairedTable paired_test(const CorpusStatistics& statistics, std::vector<std::string> names,
                        const PairedTestOptions& options);

struct NamedSystem {
  std::string name;
  std::vector<std::string> hypotheses;
};

/// Compares every system with the first one. Throws nmt::Error: fewer than two systems, numbers of lines that differ.
PairedTable paired_test(std::span<const NamedSystem> systems, const References& references,
                        std::span<const std::shared_ptr<const Metric>> metrics, const PairedTestOptions& options = {});

}  // namespace nmt::scoring
