#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "report/records/run_records.h"

namespace nmt {

struct PlotPoint {
  double x = 0, y = 0;
};

struct PlotSeries {
  std::string name = "";
  std::vector<PlotPoint> points = {};  ///< by ascending x; what is not finite, or beyond 1e300 if linear, is left out
  bool marked = false;                 ///< a dot at each point, with its figures as tool tip
};

/// Curves over the updates of a run, from 0 on. Up to four series: their colours are the classes series-1 to series-4
/// of the page's style.
struct Plot {
  enum class Scale { kLinear, kLog };
  std::string title = "";
  std::vector<PlotSeries> series = {};
  Scale scale = Scale::kLinear;  ///< of y
};

/// The plot as an <svg> element with axes; without title and legend. A curve of very many points is thinned out to what
/// can be seen: of each column of pixels its first, lowest, highest and last.
std::string plot_svg(const Plot& plot);

/// What a script needs to find the point under the pointer: {"x": [first, last], "y": [lowest, highest], "log": false,
/// "box": [left, top, width, height], "series": [{"name", "points": [[x, y]...]}]}, with the points that are drawn.
nlohmann::ordered_json plot_data(const Plot& plot);

/// Whether anything is to be drawn.
bool has_points(const Plot& plot);

/// Places for labels on an axis from `low` to `high`: about `count` multiples of 1, 2 or 5 times a power of ten.
std::vector<double> round_ticks(double low, double high, int64_t count);

/// 12000 -> "12k", 0.00025 -> "2.5e-4", 3.5 -> "3.5", 2e15 -> "2e+15".
std::string short_number(double value);

/// The curves of a run over its updates: loss, perplexity, accuracy, BLEU, chrF, learning rate, gradient norm, speed;
/// without those that nothing is known of.
std::vector<Plot> run_plots(const RunRecords& records);

}  // namespace nmt
