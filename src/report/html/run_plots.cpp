#include "report/html/run_plots.h"

#include <utility>

namespace nmt {
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
