#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scoring/corpus/corpus_score.h"
#include "scoring/corpus/metric.h"
#include "scoring/significance/paired_statistics.h"

namespace nmt::scoring {

struct NamedSystem {
  std::string name;
  std::vector<std::string> hypotheses;
};

/// Compares every system with the first one. Throws nmt::Error: fewer than two systems, numbers of lines that differ.
PairedTable paired_test(std::span<const NamedSystem> systems, const References& references,
                        std::span<const std::shared_ptr<const Metric>> metrics, const PairedTestOptions& options = {});

}  // namespace nmt::scoring
