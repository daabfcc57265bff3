#include "report/html/svg_plot.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace nmt::svg_plot_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

int64_t count(const std::string& text, const std::string& part) {
  int64_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Plot plot_of(std::vector<PlotPoint> points, Plot::Scale scale = Plot::Scale::kLinear) {
  return {.title = "a < b", .series = {{.name = "training", .points = std::move(points)}}, .scale = scale};
}

TEST(PlotSvg, DrawsACurveFromEdgeToEdge) {
  const auto svg = plot_svg(plot_of({{0, 1}, {50, 2}, {100, 3}}));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"a &lt; b\""));
  EXPECT_THAT(svg, HasSubstr("<g class=\"series-1\"><path d=\"M54.0 "));
  EXPECT_THAT(svg, HasSubstr("L241.0 113.0L428.0 "));  // the middle of the box
  EXPECT_EQ(count(svg, "<circle"), 0);
  for (const char* label : {">1</text>", ">1.5</text>", ">3</text>", ">0</text>", ">100</text>"})
    EXPECT_THAT(svg, HasSubstr(label));
}

TEST(PlotSvg, MarksPointsWhereAsked) {
  auto plot = plot_of({{100, 3.25}, {200, 2.5}});
  plot.series[0].marked = true;
  const auto svg = plot_svg(plot);
  EXPECT_EQ(count(svg, "<circle"), 2);
  EXPECT_THAT(svg, HasSubstr("<title>training, update 100: 3.25</title>"));
}

TEST(PlotSvg, ShowsASinglePoint) {
  const auto svg = plot_svg(plot_of({{10, 4}}));
  EXPECT_EQ(count(svg, "<circle cx=\"428.0\" cy=\"113.0\""), 1);
}

TEST(PlotSvg, BeginsAtUpdateZero) {
  const auto svg = plot_svg(plot_of({{50, 1}, {100, 3}}));
  EXPECT_THAT(svg, HasSubstr("<path d=\"M241.0 "));
  EXPECT_EQ(count(svg, ">0</text>"), 1);
}

TEST(PlotSvg, LeavesOutWhatIsNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(plot_svg(plot_of({{0, 1}, {1, NAN}, {2, kInfinity}, {3, 2}})), plot_svg(plot_of({{0, 1}, {3, 2}})));
  EXPECT_FALSE(has_points(plot_of({{0, NAN}})));
  EXPECT_FALSE(has_points(plot_of({{0, 0}}, Plot::Scale::kLog)));
  EXPECT_EQ(count(plot_svg(plot_of({})), "<path"), 0);
}

TEST(PlotSvg, HasALogarithmicScale) {
  const auto svg = plot_svg(plot_of({{0, 10}, {1, 100}, {2, 1000}}, Plot::Scale::kLog));
  EXPECT_THAT(svg, HasSubstr("L241.0 113.0L"));  // 100 is halfway
  for (const char* label : {">10</text>", ">100</text>", ">1000</text>"}) EXPECT_THAT(svg, HasSubstr(label));
}

// Each alone, beside plain ones, and the farthest two together: an axis that ends, and every point on it.
TEST(PlotSvg, DrawsTheLargestAndTheSmallestNumbers) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const auto scale : {Plot::Scale::kLog, Plot::Scale::kLinear})
    for (const double extreme : {1e297, 1e304, 5e-324, 1e-310, 2.3e-308, 1.7976e308, kLargest})
      for (const double other : {extreme, 1.0, 40.0, 5e-324, kLargest}) {
        const auto plot = plot_of({{0, extreme}, {1, other}, {2, extreme}}, scale);
        const auto svg = plot_svg(plot);
        EXPECT_LE(count(svg, "<line class=\"grid\""), 20) << extreme << " " << other;
        if (scale == Plot::Scale::kLog) {
          EXPECT_GE(count(svg, "<line class=\"grid\""), 2) << extreme << " " << other;
          EXPECT_EQ(count(svg, "<path d=\"M54.0 "), 1) << svg;
        }
        EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0) << svg;
        const auto data = plot_data(plot);
        EXPECT_EQ(count(data.dump(), "null"), has_points(plot) ? 0 : 4) << data;
      }
}

TEST(PlotSvg, LabelsAWideLogarithmicAxisSparsely) {
  const auto svg = plot_svg(plot_of({{0, 1e-3}, {1, 1e290}}, Plot::Scale::kLog));
  EXPECT_LE(count(svg, "<line class=\"grid\""), 11);
  EXPECT_GE(count(svg, "<line class=\"grid\""), 8);
  EXPECT_THAT(svg, HasSubstr("<path d=\"M54.0 208.4L428.0 17.6\"/>"));  // 0.04 of the distance above and below
}

TEST(PlotData, KeepsWhatCannotBeRounded) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const auto data = plot_data(plot_of({{0, 5e-324}, {1, 1.7976e308}, {2, kLargest}}, Plot::Scale::kLog));
  EXPECT_EQ(data["series"][0]["points"], nlohmann::json({{0.0, 5e-324}, {1.0, 1.7976e308}, {2.0, kLargest}}));
}

TEST(PlotData, ThinsOutManyPointsButKeepsTheExtremes) {
  std::vector<PlotPoint> points;
  for (int i = 0; i < 100000; ++i) points.push_back({static_cast<double>(i), std::sin(i * 0.01)});
  points[54321].y = 9, points[12345].y = -9;
  const auto data = plot_data(plot_of(points));
  const auto& kept = data["series"][0]["points"];
  EXPECT_LE(kept.size(), 4 * 190u);
  EXPECT_GE(kept.size(), 2 * 190u);
  EXPECT_EQ(count(kept.dump(), "[54321.0,9.0]"), 1);
  EXPECT_EQ(count(kept.dump(), "[12345.0,-9.0]"), 1);
  EXPECT_EQ(kept.front()[0], 0);
  EXPECT_EQ(kept.back()[0], 99999);
  for (size_t i = 1; i < kept.size(); ++i) ASSERT_LT(kept[i - 1][0].get<double>(), kept[i][0].get<double>());
}

TEST(PlotData, TellsTheAxes) {
  const auto data = plot_data(plot_of({{0, 1}, {100, 2.123456789}}));
  EXPECT_EQ(data["x"], nlohmann::json({0.0, 100.0}));
  EXPECT_EQ(data["log"], false);
  EXPECT_EQ(data["series"][0]["name"], "training");
  EXPECT_EQ(data["series"][0]["points"][1], nlohmann::json({100.0, 2.1235}));
}

TEST(RoundTicks, AreMultiplesOfOneTwoOrFive) {
  EXPECT_THAT(round_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(round_ticks(0, 9700, 5), ElementsAre(0, 2000, 4000, 6000, 8000));
  EXPECT_THAT(round_ticks(0, 12000, 5), ElementsAre(0, 2000, 4000, 6000, 8000, 10000, 12000));
  EXPECT_THAT(round_ticks(1.9, 4.1, 5), ElementsAre(2, 2.5, 3, 3.5, 4));
  EXPECT_THAT(round_ticks(-0.1, 0.1, 4), ElementsAre(-0.1, -0.05, DoubleNear(0, 1e-12), 0.05, 0.1));
  EXPECT_THAT(round_ticks(3, 3, 5), ElementsAre(3));
}

TEST(ShortNumber, IsShort) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(3.5), "3.5");
  EXPECT_EQ(short_number(2500), "2500");
  EXPECT_EQ(short_number(12000), "12k");
  EXPECT_EQ(short_number(2500000), "2.5M");
  EXPECT_EQ(short_number(3.2e9), "3.2G");
  EXPECT_EQ(short_number(1e304), "1e+304");
  EXPECT_EQ(short_number(0.00025), "2.5e-4");
  EXPECT_EQ(short_number(0.001), "0.001");
  EXPECT_EQ(short_number(-0.5), "-0.5");
}

}  // namespace
}  // namespace nmt::svg_plot_test
