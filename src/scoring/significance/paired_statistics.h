#pragma once

#include <string>
#include <vector>

#include "scoring/metrics/corpus_statistics.h"
#include "scoring/significance/paired_test.h"

namespace nmt::scoring {

/// What of the statistics a paired test needs.
Keep kept_for(PairedTestKind kind);

/// The paired test of systems whose statistics have been gathered; the first is the baseline.
PairedTable paired_test(const CorpusStatistics& statistics, std::vector<std::string> names,
                        const PairedTestOptions& options);

}  // namespace nmt::scoring
