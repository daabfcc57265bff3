#include "library/training/training_events.h"

#include "library/inner/guard.h"

namespace nmt::api {

ValidationFigures to_figures(const nmt::ValidationReport& report) {
  ValidationFigures figures;
  figures.epoch = report.epoch;
  figures.update = report.update;
  figures.set = report.set;
  figures.loss = report.loss;
  figures.perplexity = report.perplexity;
  figures.accuracy = report.accuracy;
  if (report.has_bleu) {
    figures.bleu = report.bleu;
    figures.bleu_text = report.bleu_line;
  }
  if (report.has_chrf) {
    figures.chrf = report.chrf;
    figures.chrf_text = report.chrf_line;
  }
  figures.is_best = report.is_best;
  figures.seconds = report.seconds;
  figures.weights = report.weights;
  for (const auto& sample : report.samples)
    figures.samples.push_back({sample.source, sample.reference, sample.hypothesis});
  for (const auto& other : report.others) figures.other_sets.push_back(to_figures(other));
  return figures;
}

TrainingEvents::TrainingEvents(const TrainingCallbacks& callbacks, Outcome& outcome) : outcome_(outcome) {
  callbacks_ = {shielded(callbacks.on_start), shielded(callbacks.on_update),     shielded(callbacks.on_interval),
                shielded(callbacks.on_epoch), shielded(callbacks.on_validation), shielded(callbacks.on_checkpoint)};
}

void TrainingEvents::on_start(const nmt::TrainingStart& start) {
  if (!callbacks_.on_start) return;
  callbacks_.on_start({start.name, start.parameters, start.update, start.max_updates, start.updates_per_epoch,
                       start.num_epochs, start.device, start.precision, start.threads});
}

void TrainingEvents::on_update(const nmt::UpdateReport& report) {
  if (!callbacks_.on_update) return;
  callbacks_.on_update({report.epoch, report.update, report.loss, report.perplexity, report.accuracy,
                        report.learning_rate, report.gradient_norm, report.source_tokens, report.target_tokens,
                        report.skipped});
}

void TrainingEvents::on_interval(const nmt::TrainingInterval& interval) {
  if (!callbacks_.on_interval) return;
  callbacks_.on_interval({interval.epoch, interval.update, interval.loss, interval.perplexity, interval.accuracy,
                          interval.learning_rate, interval.gradient_norm, interval.source_tokens_per_second,
                          interval.target_tokens_per_second, interval.target_tokens, interval.skipped_updates,
                          interval.seconds_left});
}

void TrainingEvents::on_epoch(const nmt::EpochReport& report) {
  if (callbacks_.on_epoch) callbacks_.on_epoch({report.epoch, report.update, report.loss, report.perplexity});
}

void TrainingEvents::on_validation(const nmt::ValidationReport& report) {
  auto figures = to_figures(report);
  if (callbacks_.on_validation) callbacks_.on_validation(figures);
  if (!report.is_best) return;
  figures.samples.clear();
  outcome_.best = std::move(figures);
}

void TrainingEvents::on_checkpoint(int64_t update) {
  if (callbacks_.on_checkpoint) callbacks_.on_checkpoint(update);
}

void TrainingEvents::on_end(const std::string& reason) { outcome_.reason = reason; }

}  // namespace nmt::api
