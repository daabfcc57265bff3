#include "report/html/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "report/pictures/markup.h"

namespace nmt {
namespace {

// Units of the viewBox: pixels where the picture is shown in its own size.
constexpr double kWidth = 440, kHeight = 250, kLeft = 54, kTop = 10, kBoxWidth = 374, kBoxHeight = 206;
constexpr int64_t kColumns = 190;  // a curve is drawn with at most four points for each
constexpr int kMostDecades = 10;   // of a logarithmic axis that have a label each
// How far a linear axis reaches, and how near: no distance on it overflows or vanishes.
constexpr double kLargestLinear = 1e300, kSmallestAir = 1e-290;

struct Interval {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
};

bool can_be_drawn(const PlotPoint& point, Plot::Scale scale) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return false;
  return scale == Plot::Scale::kLog ? point.y > 0 : std::abs(point.y) <= kLargestLinear;
}

/// What cannot be rounded, as the largest numbers, stays as it is.
double five_digits(double value) {
  const auto text = fmt::format("{:.5g}", value);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

std::vector<PlotPoint> drawn_points(const PlotSeries& series, Plot::Scale scale) {
  std::vector<PlotPoint> points;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(points),
               [&](const auto& point) { return can_be_drawn(point, scale); });
  return points;
}

std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, Interval x) {
  if (std::ssize(points) <= 4 * kColumns || x.high <= x.low) return points;
  const auto column = [&](const PlotPoint& point) {
    return static_cast<int64_t>((point.x - x.low) / (x.high - x.low) * (kColumns - 1e-9));
  };
  const auto lower = [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; };
  std::vector<PlotPoint> kept;
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(), [&](const auto& p) { return column(p) != column(*begin); });
    auto [lowest, highest] = std::minmax_element(begin, end, lower);
    std::vector<decltype(begin)> chosen = {begin, lowest, highest, end - 1};
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const auto& point : chosen) kept.push_back(*point);
    begin = end;
  }
  return kept;
}

/// The curves as they are drawn, and the axes around them.
struct Layout {
  explicit Layout(const Plot& plot) : scale(plot.scale) {
    std::vector<std::vector<PlotPoint>> all;
    for (const auto& series : plot.series) {
      all.push_back(drawn_points(series, scale));
      for (const auto& point : all.back()) x.add(point.x), y.add(point.y);
    }
    for (const auto& points : all) curves.push_back(thinned(points, x));
    if (x.low > x.high) return;  // nothing
    x.add(0);                    // all plots of a run begin there
    if (x.low == x.high) x.high = 1;
    widen();
  }

  // Some air above and below; a constant is drawn in the middle.
  void widen() {
    if (scale == Plot::Scale::kLog) {
      const double factor = std::max(std::exp(0.04 * (std::log(y.high) - std::log(y.low))), 1.02);
      // The product may overflow, the quotient vanish. The smallest numbers are too coarse for the factor.
      using Limits = std::numeric_limits<double>;
      y.low = std::max(y.low / factor, Limits::denorm_min());
      y.high = std::clamp(y.high * factor, Limits::min(), Limits::max());
      return;
    }
    const double air =
        y.high > y.low ? std::max(0.04 * (y.high - y.low), kSmallestAir) : std::max(0.1 * std::abs(y.low), 1e-9);
    const bool is_positive = y.low >= 0;
    y.low -= air, y.high += air;
    if (is_positive) y.low = std::max(y.low, 0.0);
  }

  double place_x(double value) const { return kLeft + (value - x.low) / (x.high - x.low) * kBoxWidth; }
  double place_y(double value) const {
    const double share = scale == Plot::Scale::kLog
                             ? (std::log(value) - std::log(y.low)) / (std::log(y.high) - std::log(y.low))
                             : (value - y.low) / (y.high - y.low);
    return kTop + (1 - share) * kBoxHeight;
  }

  Plot::Scale scale;
  std::vector<std::vector<PlotPoint>> curves;
  Interval x, y;
};

std::vector<double> log_ticks(double low, double high) {
  const bool few = high / low < 3000;
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::floor(std::log10(high))), step = 1 + (last - first) / kMostDecades;
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += step)
    for (const double digit : {1.0, 2.0, 5.0})
      if (const double tick = std::pow(10, exponent) * digit; (few || digit == 1) && tick >= low && tick <= high)
        ticks.push_back(tick);
  return ticks.size() >= 2 ? ticks : round_ticks(low, high, 4);
}

void draw_axes(std::string& svg, const Layout& layout) {
  auto out = std::back_inserter(svg);
  const auto ticks = layout.scale == Plot::Scale::kLog ? log_ticks(layout.y.low, layout.y.high)
                                                       : round_ticks(layout.y.low, layout.y.high, 5);
  for (const double tick : ticks) {
    const double y = layout.place_y(tick);
    fmt::format_to(out,
                   "<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>"
                   "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                   kLeft, y, kLeft + kBoxWidth, y, kLeft - 6, y + 4, short_number(tick));
  }
  const double bottom = kTop + kBoxHeight;
  for (const double tick : round_ticks(layout.x.low, layout.x.high, 5))
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", layout.place_x(tick),
                   bottom + 16, short_number(tick));
  fmt::format_to(out, "<line class=\"axis\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", kLeft, bottom,
                 kLeft + kBoxWidth, bottom);
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">update</text>\n", kLeft + kBoxWidth, bottom + 30);
}

void draw_curve(std::string& svg, const Layout& layout, const PlotSeries& series, size_t number) {
  const auto& points = layout.curves[number];
  if (points.empty()) return;
  auto out = std::back_inserter(svg);
  fmt::format_to(out, "<g class=\"series-{}\">", number + 1);
  std::string path;
  for (const auto& point : points)
    fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", layout.place_x(point.x),
                   layout.place_y(point.y));
  fmt::format_to(out, "<path d=\"{}\"/>", path);
  if (series.marked || points.size() == 1)
    for (const auto& point : points)
      fmt::format_to(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}, update {}: {}</title></circle>",
                     layout.place_x(point.x), layout.place_y(point.y), escape_xml(series.name), point.x,
                     fmt::format("{:.5g}", point.y));
  svg += "</g>\n";
}

}  // namespace

bool has_points(const Plot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(),
                     [&](const auto& series) { return !drawn_points(series, plot.scale).empty(); });
}

std::string plot_svg(const Plot& plot) {
  const Layout layout(plot);
  std::string svg = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                                kHeight, escape_xml(plot.title));
  if (has_points(plot)) {
    draw_axes(svg, layout);
    for (size_t i = 0; i < plot.series.size(); ++i) draw_curve(svg, layout, plot.series[i], i);
  }
  return svg + "</svg>\n";
}

nlohmann::ordered_json plot_data(const Plot& plot) {
  const Layout layout(plot);
  auto all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < plot.series.size(); ++i) {
    auto points = nlohmann::ordered_json::array();
    for (const auto& point : layout.curves[i]) points.push_back({point.x, five_digits(point.y)});
    all.push_back({{"name", plot.series[i].name}, {"points", std::move(points)}});
  }
  return {{"x", {layout.x.low, layout.x.high}},
          {"y", {layout.y.low, layout.y.high}},
          {"log", plot.scale == Plot::Scale::kLog},
          {"box", {kLeft, kTop, kBoxWidth, kBoxHeight}},
          {"series", std::move(all)}};
}

std::vector<double> round_ticks(double low, double high, int64_t count) {
  if (!(high > low)) return {low};
  const double rough = (high - low) / static_cast<double>(count), power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;  // in [1, 10)
  const double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  // They are counted: the step behind the last one may be no number.
  const auto first = static_cast<int64_t>(std::ceil(low / step - 1e-9)),
             last = static_cast<int64_t>(std::floor(high / step + 1e-9));
  std::vector<double> ticks;
  for (int64_t i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e12) return fmt::format("{:.3g}", value);
  if (size >= 1e9) return fmt::format("{:.3g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.3g}k", value / 1e3);
  if (size >= 1e-3 || size < 1e-12) return fmt::format("{:.4g}", size < 1e-12 ? 0.0 : value);
  const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  return fmt::format("{:.3g}e{}", value / std::pow(10, exponent), exponent);
}

namespace {

template <typename Value>
PlotSeries of_training(std::string name, const RunRecords& records, Value value) {
  PlotSeries series{.name = std::move(name)};
  for (const auto& line : records.intervals)
    series.points.push_back({static_cast<double>(line.interval.update), value(line.interval)});
  return series;
}

/// Validations of the weights of the updates, or of averages of them.
enum class Weights { kOfUpdate, kAveraged };

template <typename Wanted, typename Value>
PlotSeries of_validation(const RunRecords& records, Weights weights, Wanted wanted, Value value) {
  PlotSeries series{.name = weights == Weights::kOfUpdate ? "validation" : "validation, averaged weights",
                    .marked = true};
  for (const auto& report : records.validations)
    if (wanted(report) && report.weights.empty() == (weights == Weights::kOfUpdate))
      series.points.push_back({static_cast<double>(report.update), value(report)});
  return series;
}

}  // namespace

std::vector<Plot> run_plots(const RunRecords& records) {
  const auto training = [&](const char* name, double TrainingInterval::*member, double factor = 1) {
    return of_training(name, records, [=](const auto& interval) { return interval.*member * factor; });
  };
  const auto measured = [&](Weights weights, double ValidationReport::*member, double factor = 1) {
    const auto always = [](const auto&) { return true; };
    return of_validation(records, weights, always, [=](const auto& report) { return report.*member * factor; });
  };
  const auto score = [&](Weights weights, bool ValidationReport::*has, double ValidationReport::*member) {
    return of_validation(
        records, weights, [=](const auto& report) { return report.*has; },
        [=](const auto& report) { return report.*member; });
  };
  using T = TrainingInterval;
  using V = ValidationReport;
  constexpr auto kOfUpdate = Weights::kOfUpdate, kAveraged = Weights::kAveraged;
  std::vector<Plot> plots = {
      {.title = "Loss, nats per target token",
       .series = {training("training", &T::loss), measured(kOfUpdate, &V::loss), measured(kAveraged, &V::loss)}},
      {.title = "Perplexity",
       .series = {training("training", &T::perplexity), measured(kOfUpdate, &V::perplexity),
                  measured(kAveraged, &V::perplexity)},
       .scale = Plot::Scale::kLog},
      {.title = "Token accuracy, %",
       .series = {training("training", &T::accuracy, 100), measured(kOfUpdate, &V::accuracy, 100),
                  measured(kAveraged, &V::accuracy, 100)}},
      {.title = "BLEU",
       .series = {{}, score(kOfUpdate, &V::has_bleu, &V::bleu), score(kAveraged, &V::has_bleu, &V::bleu)}},
      {.title = "chrF",
       .series = {{}, score(kOfUpdate, &V::has_chrf, &V::chrf), score(kAveraged, &V::has_chrf, &V::chrf)}},
      {.title = "Learning rate", .series = {training("learning rate", &T::learning_rate)}},
      {.title = "Gradient norm before clipping",
       .series = {training("gradient norm", &T::gradient_norm)},
       .scale = Plot::Scale::kLog},
      {.title = "Tokens per second, without padding",
       .series = {training("source", &T::source_tokens_per_second), training("target", &T::target_tokens_per_second)}}};
  std::erase_if(plots, [](const Plot& plot) { return !has_points(plot); });
  return plots;
}

}  // namespace nmt
