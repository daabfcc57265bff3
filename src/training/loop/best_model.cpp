#include "training/loop/best_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "base/folders/output_folder.h"
#include "models/model_directory.h"
#include "training/loop/averages.h"

namespace nmt {
namespace {

constexpr const char* kWeights = "model.safetensors";

std::optional<std::string> damage_for_averages(const std::filesystem::path& checkpoint) {
  try {
    if (auto damage = damage_of(checkpoint)) return damage;
  } catch (const Error& error) {  // this user may not read it
    return error.what();
  }
  if (!std::filesystem::exists(checkpoint / kWeights)) return fmt::format("{}: missing", kWeights);
  return std::nullopt;
}

/// Whether the best score of an older version's state is none: one that is not finite, or a BLEU or chrF of 0, where
/// the loss decides today.
bool is_no_score(double best, ValidationMetric best_metric) {
  return !std::isfinite(best) || (best == 0 && best_metric != ValidationMetric::kLoss);
}

}  // namespace

double validation_score(const ValidationReport& report, ValidationMetric best_metric) {
  switch (best_metric) {
    case ValidationMetric::kBleu:
      return report.bleu == 0 ? -report.loss : report.bleu;
    case ValidationMetric::kChrf:
      return report.chrf == 0 ? -report.loss : report.chrf;
    case ValidationMetric::kLoss:
      return -report.loss;
  }
  return 0;
}

double validation_score(const ValidationReport& report, const ValidationConfig& config) {
  ValidationReport mean{.loss = report.loss, .bleu = report.bleu, .chrf = report.chrf};
  if (config.best_of == BestOf::kFirst) return validation_score(mean, config.best_metric);
  for (const auto& other : report.others) {
    mean.loss += other.loss;
    mean.bleu += other.bleu;
    mean.chrf += other.chrf;
  }
  const auto sets = static_cast<double>(report.others.size() + 1);
  for (double* figure : {&mean.loss, &mean.bleu, &mean.chrf}) *figure /= sets;
  return validation_score(mean, config.best_metric);
}

bool BestModel::validate(int64_t epoch, bool due) {
  auto report = measure();
  std::optional<ValidationReport> of_average;
  const auto with_average = [this](const auto& body) {
    const KeptWeights kept(named_parameters(parts_.model));
    parts_.average->put_into_weights();
    body();
  };
  if (parts_.average) with_average([&] { of_average = measure(); });
  if (!due) progress_.extra_validation = progress_.update;
  list(validation_score(report, parts_.config.validation));
  const bool new_best = due && note_due_scores(report, of_average);
  record(std::move(report), epoch, "");
  if (of_average) with_average([&] { record(std::move(*of_average), epoch, "moving average"); });
  progress_.validated_update = progress_.update;
  return new_best;
}

/// True: one of them is better than those of all validations before that were due.
bool BestModel::note_due_scores(const ValidationReport& report, const std::optional<ValidationReport>& of_average) {
  const auto& metric = parts_.config.validation.best_metric;
  bool new_best = false;
  const auto note = [&](double score) {
    if (!std::isfinite(score)) return;
    if (!is_no_score(progress_.best_due_score, metric) && score <= progress_.best_due_score) return;
    progress_.best_due_score = score;
    new_best = true;
  };
  note(validation_score(report, parts_.config.validation));
  if (of_average) note(validation_score(*of_average, parts_.config.validation));
  progress_.validations_since_best = new_best ? 0 : progress_.validations_since_best + 1;
  return new_best;
}

ValidationReport BestModel::measure() {
  parts_.model.eval();
  auto report = parts_.measure();
  parts_.model.train();
  return report;
}

void BestModel::list(double score) {
  if (!std::isfinite(score)) return;
  auto& best = progress_.best_validations;
  best.push_back({progress_.update, score});
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  // An extra one pushes none out: it is forgotten when the run resumes.
  const auto most = parts_.config.training.average_best + (progress_.extra_validation >= 0 ? 1 : 0);
  if (std::ssize(best) > most) best.resize(most);
}

// weights: what the figures belong to and the model has now; empty = those of this update.
void BestModel::record(ValidationReport report, int64_t epoch, const std::string& weights) {
  report.update = progress_.update;
  report.epoch = epoch;
  report.weights = weights;
  for (auto& other : report.others) other.update = report.update, other.epoch = epoch, other.weights = weights;
  const auto& metric = parts_.config.validation.best_metric;
  const double score = validation_score(report, parts_.config.validation);
  const bool is_of_metric = score > 0 || metric == ValidationMetric::kLoss;  // else the loss decides
  if (parts_.config.validation.best_of == BestOf::kMean && !report.others.empty() && is_of_metric)
    parts_.log.info("validation at update {}: the mean {} of {} sets is {:.2f}", progress_.update, metric.name(),
                    report.others.size() + 1, std::abs(score));
  if (!std::isfinite(score))
    parts_.log.warn("validation at update {}: {} is not finite: these weights are not kept", progress_.update,
                    metric.name());
  const bool is_first = progress_.best_update < 0 || is_no_score(progress_.best_score, metric) || is_missing();
  report.is_best = std::isfinite(score) && (is_first || score > progress_.best_score);
  if (report.is_best) {
    progress_.best_score = score;
    progress_.best_update = progress_.update;
    save_measured(report);
  }
  parts_.observer.on_validation(report);
}

// Someone has removed it.
bool BestModel::is_missing() const {
  return progress_.best_update >= 0 && !std::filesystem::exists(parts_.folder / kWeights);
}

void BestModel::save_last() { save(summary("")); }

nlohmann::json BestModel::summary(const std::string& weights) const {
  return {{"update", progress_.update},
          {"weights", weights.empty() ? fmt::format("update {}", progress_.update) : weights},
          {"target_tokens", progress_.target_tokens},
          {"precision", progress_.precision},
          {"data", progress_.data_hash}};
}

void BestModel::save_measured(const ValidationReport& report) {
  auto with_figures = summary(report.weights);
  auto& figures = with_figures["validation"];
  figures = {{"loss", report.loss}, {"perplexity", report.perplexity}, {"accuracy", report.accuracy}};
  if (report.has_bleu) figures["bleu"] = report.bleu_line;
  if (report.has_chrf) figures["chrf"] = report.chrf_line;
  save(with_figures);
}

void BestModel::save(const nlohmann::json& summary) {
  parts_.checkpoints.require_place();  // best/ is beside them
  const auto kept = write_directory(parts_.folder, [&](const auto& folder) { parts_.write_model(folder, summary); });
  warn_of_kept(kept, parts_.log);
}

// Updates whose checkpoints are averaged together: the last ones, and the best ones.
std::set<std::set<int64_t>> BestModel::averages_to_try() const {
  std::set<int64_t> all;
  for (const int64_t update : parts_.checkpoints.updates()) {
    const auto damage = damage_for_averages(parts_.checkpoints.path(update));
    if (!damage) {
      all.insert(update);
      continue;
    }
    parts_.log.warn("{}: damaged ({}): it is left out of the averages", parts_.checkpoints.path(update).string(),
                    *damage);
  }
  std::set<int64_t> last, best;
  for (auto update = all.rbegin();
       update != all.rend() && std::ssize(last) < parts_.config.training.average_checkpoints; ++update)
    last.insert(*update);
  for (const auto& validation : progress_.best_validations)
    if (all.contains(validation.update) && std::ssize(best) < parts_.config.training.average_best)
      best.insert(validation.update);
  std::set<std::set<int64_t>> tried{last, best};
  std::erase_if(tried, [](const auto& updates) { return updates.size() < 2; });
  return tried;
}

bool BestModel::try_averages(int64_t epoch) {
  const auto& training = parts_.config.training;
  if (std::max(training.average_checkpoints, training.average_best) < 2) return false;
  if (progress_.averaged_update == progress_.update) return false;
  const auto tried = averages_to_try();
  const auto with_average_of = [this](const std::set<int64_t>& updates, const auto& body) {
    std::vector<std::filesystem::path> files;
    for (const int64_t update : updates) files.push_back(parts_.checkpoints.path(update) / kWeights);
    const KeptWeights kept(named_parameters(parts_.model));
    load_average(named_parameters(parts_.model), files);
    body();
  };
  // All are measured before one is recorded: a run that is stopped meanwhile measures them again, and finds none of
  // them the best so far already.
  std::vector<ValidationReport> reports;
  for (const auto& updates : tried) with_average_of(updates, [&] { reports.push_back(measure()); });
  for (size_t i = 0; const auto& updates : tried)
    with_average_of(updates, [&] {
      record(std::move(reports[i++]), epoch, fmt::format("average of updates {}", fmt::join(updates, ", ")));
    });
  if (tried.empty())
    parts_.log.warn(
        "training.average_checkpoints, average_best: fewer than two checkpoints are there, so none are averaged; see "
        "training.checkpoint_every and keep_checkpoints");
  if (!tried.empty()) progress_.averaged_update = progress_.update;
  return !tried.empty();
}

}  // namespace nmt
