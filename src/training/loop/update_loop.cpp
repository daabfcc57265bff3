#include "training/loop/update_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <utility>
#include <vector>

#include "base/files/strict_json.h"
#include "models/model_directory.h"
#include "training/loop/interval_meter.h"

namespace nmt {
namespace {

int64_t divided_up(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

std::optional<std::string> reason_to_end(const Config& config, const ProgressState& progress, double minutes) {
  const auto& t = config.training;
  if (t.max_updates > 0 && progress.update >= t.max_updates) return fmt::format("{} updates done", progress.update);
  if (t.num_epochs > 0 && progress.position.epoch >= t.num_epochs)
    return fmt::format("{} epochs done", progress.position.epoch);
  if (t.max_target_tokens > 0 && progress.target_tokens >= t.max_target_tokens)
    return fmt::format("{} target tokens seen", progress.target_tokens);
  if (t.max_minutes > 0 && minutes >= t.max_minutes) return fmt::format("{} minutes are over", t.max_minutes);
  const int64_t patience = config.validation.patience;
  if (patience > 0 && progress.validations_since_best >= patience)
    return fmt::format("{} validations without a new best {}", progress.validations_since_best,
                       config.validation.best_metric.name());
  return std::nullopt;
}

std::optional<int64_t> updates_left(const TrainingConfig& config, const ProgressState& progress,
                                    int64_t batches_per_epoch) {
  std::optional<int64_t> left;
  const auto shorter = [&left](int64_t updates) { left = std::min(left.value_or(updates), updates); };
  if (config.max_updates > 0) shorter(config.max_updates - progress.update);
  if (config.num_epochs > 0) {
    const int64_t per_epoch = std::max<int64_t>(1, batches_per_epoch);
    // More epochs than can be counted in batches are as good as so many.
    const int64_t most = std::numeric_limits<int64_t>::max() / per_epoch;
    const int64_t batches = std::min(config.num_epochs - progress.position.epoch, most) * per_epoch;
    shorter(divided_up(batches - progress.position.batch, config.accumulate));
  }
  if (config.max_target_tokens > 0 && progress.target_tokens > 0) {
    const double updates_per_token = static_cast<double>(progress.update) / static_cast<double>(progress.target_tokens);
    const auto tokens = static_cast<double>(config.max_target_tokens - progress.target_tokens);
    shorter(static_cast<int64_t>(std::ceil(std::min(tokens * updates_per_token, 9e18))));
  }
  return left;
}

namespace {

/// A later stage of which no batch was trained on: a validation here is of the weights of the stage before.
bool begins_stage(const BatchPosition& position) {
  return position.stage > 0 && position.epoch == position.stage_begin && position.batch == 0;
}

/// Its update was made, or its validations stall; a BatchStream counts epochs itself.
bool stage_ends(const TrainingConfig& config, const ProgressState& progress) {
  if (config.stages.empty() || begins_stage(progress.position)) return false;
  const auto& stage = config.stages[static_cast<size_t>(progress.position.stage)];
  return (stage.end == StageEnd::kUpdate && progress.update >= stage.limit) ||
         (stage.end == StageEnd::kStalled && progress.validations_since_best >= stage.limit);
}

/// "stage 2 of 3, from epoch 5 on: synthetic 0.6, clean 0.4, until_update 30000".
std::string stage_line(const std::vector<TrainingStage>& stages, const BatchPosition& position) {
  const auto& stage = stages[static_cast<size_t>(position.stage)];
  std::vector<std::string> parts;
  for (const auto& [name, share] : stage.shares) parts.push_back(fmt::format("{} {}", name, share));
  if (stage.end != StageEnd::kRun) parts.push_back(fmt::format("{} {}", stage.end.name(), stage.limit));
  return fmt::format("stage {} of {}, from epoch {} on: {}", position.stage + 1, stages.size(),
                     position.stage_begin + 1, fmt::join(parts, ", "));
}

}  // namespace

UpdateLoop::UpdateLoop(Parts parts, ProgressState& progress)
    : parts_(std::move(parts)),
      progress_(progress),
      meter_(parts_.clock),
      curve_meter_(parts_.clock),
      guard_(parts_.config.training.lr, parts_.log),
      epoch_ended_(progress.update > 0 && progress.epoch.epoch <= progress.position.epoch),
      stage_(progress.position.stage),
      seconds_before_(progress.seconds) {
  if (progress.update > 0 || progress.validated_update == 0) saved_update_ = progress.update;
}

int UpdateLoop::run() {
  session_start_ = parts_.clock();
  meter_.begin();
  curve_meter_.begin();
  parts_.update.model.train();
  parts_.update.is_interrupted = [this] { return is_interrupted(); };
  if (const auto& stages = parts_.config.training.stages; !stages.empty())
    parts_.log.info("{}", stage_line(stages, progress_.position));
  try {
    // Weights that a run starts from, and a run that was stopped before its validation was done.
    if (validation_due()) save_and_validate(false, true);
    while (!reason_to_end()) {
      update();
      agree();
      if (stop_signal_) throw Interrupted();
      save_and_validate(checkpoint_due(), validation_due());
    }
    finish();
    parts_.observer.on_end(*reason_to_end());
    return 0;
  } catch (const Interrupted&) {
    if (progress_.update == 0) {
      parts_.observer.on_end("stopped by a signal before the first update was done: the same command begins again");
    } else {
      save_checkpoint();
      if (!meter_.empty()) report_interval();
      if (parts_.group.leads()) parts_.observer.on_checkpoint(progress_.update);
      parts_.observer.on_end("stopped by a signal; the state is saved: the same command resumes");
    }
    return stop_signal_ ? stop_signal_ : parts_.stop_signal();
  }
}

void forget_extra_validation(ProgressState& progress) {
  if (progress.extra_validation < 0) return;
  std::erase_if(progress.best_validations,
                [&](const ScoredUpdate& validation) { return validation.update == progress.extra_validation; });
  progress.extra_validation = -1;
}

void UpdateLoop::update() {
  const auto& config = parts_.config;
  const int64_t epoch = progress_.position.epoch, number = progress_.update + 1;
  const double rate = parts_.schedule(schedule_time());
  auto launched = launch_update(parts_.update, next_batches(), {static_cast<uint64_t>(config.run.seed), number}, rate);
  learning_rate_ = rate;
  if (parts_.average) parts_.average->follow(number);
  progress_.update = number;
  progress_.position = parts_.batches.position();
  progress_.target_tokens += launched.known.target_tokens;
  forget_extra_validation(progress_);
  follow_stages();
  epoch_ended_ = progress_.position.epoch != epoch;

  account_for_launched();  // a GPU works on this update meanwhile
  launched_ = {epoch + 1, number, learning_rate_, std::move(launched)};
  const bool reports = number % config.run.log_every == 0 || epoch_ended_;
  if (reports || validation_due() || checkpoint_due() || parts_.update.device.is_cpu()) account_for_launched();
  if (reports) report_interval();
  if (const auto end = epoch_end()) parts_.observer.on_epoch(*end);
}

// After each update and each validation. The count of validations without a new best begins at 0 in each stage.
void UpdateLoop::follow_stages() {
  if (stage_ends(parts_.config.training, progress_)) {
    parts_.batches.begin_next_stage();
    progress_.position = parts_.batches.position();
    epoch_ended_ = true;  // cut off or not
  }
  const bool is_new = std::exchange(stage_, progress_.position.stage) != progress_.position.stage;
  if (is_new || begins_stage(progress_.position)) progress_.validations_since_best = 0;
  if (!is_new) return;
  parts_.log.info("update {}: {}", with_commas(progress_.update),
                  stage_line(parts_.config.training.stages, progress_.position));
}

std::optional<EpochReport> UpdateLoop::epoch_end() const {
  return epoch_ended_ ? std::optional(epoch_report(progress_)) : std::nullopt;
}

// The time of the next update: its first batch decides which part of its epoch lies behind it.
ScheduleTime UpdateLoop::schedule_time() const {
  const auto& position = progress_.position;
  const auto batches = static_cast<double>(std::max<int64_t>(1, parts_.batches.batches_of_current_epoch()));
  return {.update = progress_.update + 1,
          .epochs = static_cast<double>(position.epoch) + static_cast<double>(position.batch) / batches,
          .plateau = progress_.plateau};
}

std::vector<Batch> UpdateLoop::next_batches() {
  std::vector<Batch> batches;
  const int64_t count = batches_of_update(parts_.config.training, progress_.update + 1);
  const int64_t every = parts_.group.size() > 1 ? kBatchesBetweenQuestions : 1;
  const int64_t epochs = parts_.config.training.num_epochs;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0 && i % every == 0 && is_interrupted()) throw Interrupted();
    batches.push_back(parts_.batches.next());
    if (epochs > 0 && parts_.batches.position().epoch >= epochs) break;  // the last update may be a short one
  }
  return batches;
}

// Waits for the figures of the last update, where they are still to come.
void UpdateLoop::account_for_launched() {
  if (!launched_) return;
  const auto [epoch, number, learning_rate, update] = *std::exchange(launched_, std::nullopt);
  const auto stats = update.stats();
  guard_.check(number, stats, progress_);
  meter_.add(stats);
  curve_meter_.add(stats);
  add_update(progress_.epoch, epoch, stats);
  const int64_t curve_every = parts_.config.run.tensorboard_every;
  if (curve_every > 0 && number % curve_every == 0) report_curve_point(epoch, number, learning_rate);
  parts_.observer.on_update(update_report(stats, epoch, number, learning_rate));
}

// Called as soon as the figures are there: on a GPU that is during the next update, for which nothing waits.
void UpdateLoop::report_curve_point(int64_t epoch, int64_t number, double learning_rate) {
  if (!parts_.group.leads()) return;
  auto point = curve_meter_.measured(std::nullopt);
  point.epoch = epoch;
  point.update = number;
  point.learning_rate = learning_rate;
  parts_.observer.on_curve_point(point);
  curve_meter_.begin();
}

void UpdateLoop::report_interval() {
  if (!parts_.group.leads()) return;
  const auto& config = parts_.config;
  auto report = meter_.measured(updates_left(config.training, progress_, parts_.batches.batches_of_current_epoch()));
  if (config.training.max_minutes > 0) {
    const double done = seconds_before_ + parts_.clock() - session_start_;
    const double left = std::max(config.training.max_minutes * 60 - done, 0.0);
    report.seconds_left = report.seconds_left < 0 ? left : std::min(report.seconds_left, left);
  }
  report.epoch = progress_.position.epoch + (epoch_ended_ ? 0 : 1);
  report.update = progress_.update;
  report.learning_rate = learning_rate_;
  report.target_tokens = progress_.target_tokens;
  report.skipped_updates = progress_.skipped_updates;
  if (config.run.tensorboard) report.norms = group_norms(named_parameters(parts_.update.model));
  if (config.run.histograms) report.histograms = tensor_histograms(named_parameters(parts_.update.model));
  parts_.observer.on_interval(report);
  meter_.begin();
}

// Stops and time limits: the same for every process, at the same update.
void UpdateLoop::agree() {
  const int signal = parts_.stop_signal();
  double values[] = {signal == SIGINT ? 1.0 : 0, signal == SIGTERM ? 1.0 : 0,
                     parts_.group.leads() ? parts_.clock() - session_start_ : 0};
  parts_.group.sum(values);
  stop_signal_ = values[1] > 0 ? SIGTERM : values[0] > 0 ? SIGINT : 0;
  session_seconds_ = values[2];
}

bool UpdateLoop::is_interrupted() {
  agree();
  return stop_signal_ != 0;
}

bool UpdateLoop::validation_due() const {
  if (!parts_.validates || progress_.validated_update == progress_.update) return false;
  if (progress_.update == 0) return !parts_.config.training.init_from.empty();
  const int64_t every = parts_.config.validation.every;
  return every > 0 ? progress_.update % every == 0 : epoch_ended_;
}

bool UpdateLoop::checkpoint_due() const {
  const int64_t every = parts_.config.training.checkpoint_every;
  if (epoch_ended_ && parts_.saves_epochs) return true;
  if (every == 0) return parts_.validates ? validation_due() : epoch_ended_;
  return progress_.update % every == 0;
}

std::optional<std::string> UpdateLoop::reason_to_end() const {
  return nmt::reason_to_end(parts_.config, progress_, (seconds_before_ + session_seconds_) / 60);
}

int64_t UpdateLoop::current_epoch() const {
  if (progress_.update == 0) return 0;
  const auto& position = progress_.position;
  return std::max<int64_t>(1, position.epoch + (epoch_ended_ || position.batch == 0 ? 0 : 1));
}

// A validation may fail (memory, a full disk, damaged weights): the checkpoint that is due is on the disk by then, and
// what the validation has changed is added to it. The first one has a checkpoint in any case: best/ never stands alone,
// with nothing to resume from after a kill.
void UpdateLoop::save_and_validate(bool saves, bool validates) {
  saves = saves || (validates && saved_update_ < 0);
  if (saves) save_checkpoint();
  if (validates) {
    validate();
    follow_stages();
    if (saved_update_ == progress_.update) save_checkpoint();
  }
  // Observers look at a checkpoint when the validation of its weights is known.
  if (saves && parts_.group.leads()) parts_.observer.on_checkpoint(progress_.update);
}

void UpdateLoop::save_checkpoint() {
  account_for_launched();
  const bool stands = std::exchange(saved_update_, progress_.update) == progress_.update;
  const int64_t extra = progress_.extra_checkpoint;
  if (!stands) progress_.extra_checkpoint = checkpoint_due() ? -1 : progress_.update;
  if (!stands && parts_.gather_state) parts_.gather_state();
  if (!parts_.group.leads()) return;
  progress_.seconds = seconds_before_ + parts_.clock() - session_start_;
  if (stands)
    parts_.checkpoints->save_progress(progress_);
  else
    parts_.checkpoints->save(progress_, extra);
}

// Done by the process that leads; the others wait, and know then what it knows.
void UpdateLoop::validate() {
  if (parts_.average) parts_.average->gather();
  if (parts_.group.leads()) {
    const double start = parts_.clock();
    try {
      const bool due = validation_due();
      const bool new_best = parts_.best->validate(current_epoch(), due);
      if (due) progress_.plateau.add(new_best, parts_.config.training);
      for (auto* meter : {&meter_, &curve_meter_})
        meter->leave_out(parts_.clock() - start);  // speed is that of training
    } catch (const Interrupted&) {
    }
  }
  if (parts_.group.size() > 1)
    progress_ = ProgressState::from_json(nlohmann::json::parse(parts_.group.share(progress_.to_json().dump())));
  agree();
  if (progress_.validated_update != progress_.update) throw Interrupted();
}

void UpdateLoop::finish() {
  account_for_launched();
  if (!meter_.empty()) report_interval();
  save_and_validate(saved_update_ != progress_.update,
                    parts_.validates && progress_.validated_update != progress_.update);
  if (!parts_.group.leads()) return;
  if (!parts_.validates) return parts_.best->save_last();
  if (!parts_.best->try_averages(current_epoch())) return;
  save_checkpoint();
  parts_.observer.on_checkpoint(progress_.update);
}

}  // namespace nmt
