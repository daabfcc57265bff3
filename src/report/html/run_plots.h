#pragma once

#include <vector>

#include "report/html/svg_plot.h"
#include "report/records/run_records.h"

namespace nmt {

/// The curves of a run over its updates: loss, perplexity, accuracy, BLEU, chrF, learning rate, gradient norm, speed;
/// without those that nothing is known of.
std::vector<Plot> run_plots(const RunRecords& records);

}  // namespace nmt
