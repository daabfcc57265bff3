#pragma once

#include <string>
#include <vector>

#include "text/corpus/cleaning.h"

namespace nmt {

/// What became of one corpus: a row of the table.
struct CleaningRow {
  std::string name = {};
  CleaningCounts counts = {};
  bool is_training = true;  ///< others are never filtered
};

/// "What was kept and dropped and why": a row a corpus, their sum where there are several, and what the marks mean.
std::string cleaning_table(const std::vector<CleaningRow>& rows, const CleaningOptions& options);

}  // namespace nmt
