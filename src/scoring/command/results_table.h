#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scoring/significance/paired_test.h"

namespace nmt::scoring {

enum class TableStyle { kText, kLatex, kJson };

struct TableFormat {
  TableStyle style = TableStyle::kText;
  int width = 1;  ///< digits after the point
  bool short_signatures = false;
  bool colors = false;  ///< ANSI colours, for a terminal
  /// The number of samples that the heading of a paired test names; absent: those drawn.
  std::optional<int64_t> samples_in_heading = {};
};

/// Plain scores of several systems: for each metric its name, its signature and one score a system.
struct ScoreTable {
  struct Column {
    std::string metric;
    Signature signature;
    std::vector<double> scores = {};
  };
  std::vector<std::string> systems;
  std::vector<Column> columns = {};
};

/// What sacreBLEU prints for several systems: the table, for paired tests with the explanation, and the signatures.
/// Ends with a line end. paired: the name of the first system should be "Baseline: NAME".
std::string format_results(const PairedTable& table, const TableFormat& format = {});
std::string format_results(const ScoreTable& table, const TableFormat& format = {});

/// What sacreBLEU prints for one system: the texts or JSON objects of its scores (Score::format and format_json),
/// several with their "=" below each other or as a JSON list. Ends with a line end.
std::string format_single_results(const std::vector<std::string>& scores, const TableFormat& format);

}  // namespace nmt::scoring
