#include "training/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/signals.h"
#include "models/make_model.h"
#include "models/model_directory.h"
#include "training/averages/average.h"
#include "training/batch_options.h"
#include "training/checkpoints/resumption.h"
#include "training/fine_tuning.h"
#include "training/optimizers/make_optimizer.h"
#include "training/optimizers/schedule.h"
#include "training/loop/stopping.h"
#include "training/loop/tensor_statistics.h"

namespace nmt {
namespace {

constexpr const char* kTrainerState = "trainer.safetensors";
constexpr int64_t kSkippedInARow = 10;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A validation was cut short by a signal: it is done again when the run goes on.
struct Interrupted {};

}  // namespace

Trainer::Trainer(Config config, const PreparedData& data, const std::vector<InitialEmbedding>& embeddings,
                 torch::Device device, ProcessGroup& group, RunDirectory* directory, TrainingObserver& observer,
                 Logger& log)
    : config_(std::move(config)),
      data_(data),
      group_(group),
      directory_(directory),
      observer_(observer),
      log_(log),
      device_(device) {
  model_ = make_model(config_.model, data.codec.source().size(), data.codec.target().size());
  initialise(*model_, config_.model, static_cast<uint64_t>(config_.run.seed));
  set_initial_embeddings(*model_, embeddings);
  progress_ = fresh_progress(config_, device_, data.hash);
  begin_or_resume();
  model_->set_compute_type(progress_.precision == "bf16" ? torch::kBFloat16 : torch::kFloat32);
  if (data.valid) validator_.emplace(data.valid, data.codec, config_, device_);
  batches_ = std::make_unique<BatchStream>(data.train, batch_options(config_, data.codec), progress_.position);
  epoch_ended_ = progress_.update > 0 && progress_.epoch.epoch == progress_.position.epoch;
}

void Trainer::begin_or_resume() {
  std::filesystem::path folder;
  if (group_.leads())
    if (const auto newest = directory_->checkpoints().newest_whole(log_))
      folder = directory_->checkpoints().path(*newest);
  folder = group_.share(folder.string());
  const bool resumes = !folder.empty();
  if (resumes) {
    copy_into(named_parameters(*model_), load_safetensors(folder / "model.safetensors"), folder / "model.safetensors");
    progress_ = resumed_progress(folder, progress_, config_, log_);
    saved_update_ = progress_.update;
    log_.info("going on from {}", folder.string());
  } else if (const auto& from = config_.training.init_from; !from.empty()) {
    load_initial_weights(*model_, config_.model, data_.codec, from);
    log_.info("the weights start from {}", from);
  }
  model_->to(device_);
  const auto trained = freeze(*model_, config_.training.freeze);
  optimizer_ = make_optimizer(config_.training, trained);
  if (group_.size() > 1) gradients_ = std::make_unique<GradientBuckets>(trained, group_);
  if (config_.training.ema_decay > 0) average_.emplace(named_parameters(*model_), config_.training.ema_decay);
  if (resumes) copy_into(trainer_state(), load_safetensors(folder / kTrainerState), folder / kTrainerState);
  seconds_before_ = progress_.seconds;
}

NamedTensors Trainer::trainer_state() const {
  auto state = optimizer_->state();
  if (average_)
    for (auto& tensor : average_->state()) state.push_back(std::move(tensor));
  return state;
}

int Trainer::run() {
  session_start_ = interval_start_ = now();
  announce();
  model_->train();
  try {
    // A run that was stopped before its validation was done.
    if (progress_.update > 0 && validation_due()) validate();
    while (!reason_to_end()) {
      update();
      agree();
      if (stop_signal_) throw Interrupted();
      if (validation_due()) validate();
      if (checkpoint_due()) save_checkpoint();
    }
    finish();
    observer_.on_end(*reason_to_end());
    return 0;
  } catch (const Interrupted&) {
    save_checkpoint();
    observer_.on_end("stopped by a signal; the state is saved: the same command goes on");
    // Launchers end the others at the first exit code that is not 0: that is said by the one that has saved.
    return group_.leads() ? exit_code_of(stop_signal_ ? stop_signal_ : stop_signal()) : kDone;
  }
}

void Trainer::announce() const {
  if (!group_.leads()) return;
  const int64_t batches = batches_->batches_of_current_epoch();
  std::vector<VariableShape> variables;
  for (const auto& tensors : {named_parameters(*model_), trainer_state()})
    for (const auto& [name, tensor] : tensors) variables.push_back({name, tensor.sizes().vec()});
  observer_.on_start({.name = directory_->path().string(),
                      .parameters = model_->parameter_count(),
                      .update = progress_.update,
                      .max_updates = config_.training.max_updates,
                      .updates_per_epoch = std::max<int64_t>(1, batches / config_.training.accumulate),
                      .num_epochs = config_.training.num_epochs,
                      .device = progress_.device,
                      .precision = progress_.precision,
                      .threads = progress_.threads,
                      .variables = std::move(variables),
                      .epoch_end = epoch_ended_ ? std::optional(epoch_report()) : std::nullopt});
}

EpochReport Trainer::epoch_report() const {
  const auto& sums = progress_.epoch;
  const double tokens = static_cast<double>(std::max<int64_t>(sums.target_tokens, 1));
  return {.epoch = sums.epoch,
          .update = progress_.update,
          .loss = sums.loss / tokens,
          .perplexity = std::exp(sums.label_loss / tokens)};
}

std::vector<Batch> Trainer::next_batches() {
  std::vector<Batch> batches;
  const int64_t count = batches_of_update(config_.training, progress_.update + 1);
  for (int64_t i = 0; i < count; ++i) batches.push_back(batches_->next());
  return batches;
}

// Stops and time limits: the same for every process, at the same update.
void Trainer::agree() {
  const int signal = stop_signal();
  double values[] = {signal == SIGINT ? 1.0 : 0, signal == SIGTERM ? 1.0 : 0,
                     group_.leads() ? now() - session_start_ : 0};
  group_.sum(values);
  stop_signal_ = values[1] > 0 ? SIGTERM : values[0] > 0 ? SIGINT : 0;
  session_seconds_ = values[2];
}

void Trainer::update() {
  const int64_t epoch = progress_.position.epoch;
  auto batches = next_batches();
  const int64_t number = progress_.update + 1;
  const double lr = learning_rate(config_.training, config_.model.d_model, number, progress_.plateau);
  auto launched = launch_update(*model_, *optimizer_, std::move(batches), config_.training, lr,
                                {static_cast<uint64_t>(config_.run.seed), number}, device_, gradients_.get());
  if (average_) average_->follow(number);
  progress_.update = number;
  progress_.position = batches_->position();
  progress_.target_tokens += launched.known.target_tokens;
  epoch_ended_ = progress_.position.epoch != epoch;

  account_for_launched();  // a GPU works on this update meanwhile
  launched_ = {epoch + 1, number, std::move(launched)};
  const bool reports = number % config_.run.log_every == 0 || epoch_ended_;
  if (reports || validation_due() || checkpoint_due() || !device_.is_cuda()) account_for_launched();
  if (reports) report_interval();
  if (epoch_ended_) observer_.on_epoch(epoch_report());
}

// Waits for the figures of the last update, where they are still to come.
void Trainer::account_for_launched() {
  if (!launched_) return;
  const auto [epoch, number, update] = *std::exchange(launched_, std::nullopt);
  const auto stats = update.stats();
  guard_against_divergence(stats, number);
  interval_ += stats;
  interval_.gradient_norm = stats.gradient_norm;
  ++interval_updates_;
  add_to_epoch(epoch, stats);
  observer_.on_update(epoch, number);
}

void Trainer::add_to_epoch(int64_t epoch, const UpdateStats& stats) {
  auto& sums = progress_.epoch;
  if (sums.epoch != epoch) sums = {.epoch = epoch};
  if (stats.skipped) return;  // not a number
  sums.loss += stats.loss;
  sums.label_loss += stats.label_loss;
  sums.target_tokens += stats.target_tokens;
}

void Trainer::guard_against_divergence(const UpdateStats& stats, int64_t update) {
  if (stats.split) {
    const auto event = fmt::format("update {}: a batch was split for lack of memory", update);
    if (progress_.events.empty())
      log_.warn(
          "{}; from here on the run is no longer a function of its configuration alone (smaller training.batch_size "
          "avoids it)",
          event);
    progress_.events.push_back(event);
  }
  if (!stats.skipped) {
    progress_.skipped_in_a_row = 0;
    return;
  }
  ++progress_.skipped_updates;
  log_.warn("update {}: loss or gradient is not finite; the update is skipped ({} so far)", update,
            progress_.skipped_updates);
  if (++progress_.skipped_in_a_row < kSkippedInARow) return;
  throw Error(fmt::format(
      "training.lr {}: {} updates in a row were not finite: the model has diverged; lower training.lr, raise "
      "training.warmup_steps, set training.clip_norm, or use --precision fp32, and go on from an earlier "
      "checkpoint",
      config_.training.lr, kSkippedInARow));
}

void Trainer::report_interval() {
  if (!group_.leads()) return;
  const double time = now(), seconds = std::max(time - interval_start_, 1e-9);
  const double tokens = static_cast<double>(std::max<int64_t>(interval_.target_tokens, 1));
  TrainingInterval report{
      .epoch = progress_.position.epoch + (epoch_ended_ ? 0 : 1),
      .update = progress_.update,
      .loss = interval_.loss / tokens,
      .perplexity = std::exp(interval_.label_loss / tokens),
      .accuracy = static_cast<double>(interval_.correct) / tokens,
      .learning_rate = learning_rate(config_.training, config_.model.d_model, progress_.update, progress_.plateau),
      .gradient_norm = interval_.gradient_norm,
      .source_tokens_per_second = static_cast<double>(interval_.source_tokens) / seconds,
      .target_tokens_per_second = static_cast<double>(interval_.target_tokens) / seconds,
      .real_token_share = static_cast<double>(interval_.source_tokens + interval_.target_tokens) /
                          static_cast<double>(std::max<int64_t>(interval_.padded_tokens, 1)),
      .target_tokens = progress_.target_tokens,
      .skipped_updates = progress_.skipped_updates};
  if (const auto left = updates_left(config_.training, progress_, batches_->batches_of_current_epoch()))
    report.seconds_left =
        static_cast<double>(*left) * seconds / static_cast<double>(std::max<int64_t>(interval_updates_, 1));
  if (config_.run.tensorboard) report.norms = group_norms(named_parameters(*model_));
  if (config_.run.histograms) report.histograms = tensor_histograms(named_parameters(*model_));
  observer_.on_interval(report);
  interval_ = {};
  interval_updates_ = 0;
  interval_start_ = now();
}

bool Trainer::validation_due() const {
  if (!validator_ || progress_.validated_update == progress_.update) return false;
  const int64_t every = config_.validation.every;
  return every > 0 ? progress_.update % every == 0 : epoch_ended_;
}

bool Trainer::checkpoint_due() const {
  const int64_t every = config_.training.checkpoint_every;
  if (epoch_ended_ && config_.run.naming != "plain") return true;  // the originals' names are those of epochs
  if (every == 0) return progress_.validated_update == progress_.update || (!validator_ && epoch_ended_);
  return progress_.update % every == 0;
}

double Trainer::minutes() const { return (seconds_before_ + session_seconds_) / 60; }

std::optional<std::string> Trainer::reason_to_end() const { return nmt::reason_to_end(config_, progress_, minutes()); }

ValidationReport Trainer::measure() {
  model_->eval();
  auto report = validator_->validate(*model_, [] {
    if (stop_signal()) throw Interrupted();
  });
  model_->train();
  return report;
}

// By the process that leads; the others wait, and know then what it knows.
void Trainer::validate() {
  if (group_.leads()) {
    try {
      measure_and_record();
    } catch (const Interrupted&) {
    }
  }
  if (group_.size() > 1)
    progress_ = ProgressState::from_json(nlohmann::json::parse(group_.share(progress_.to_json().dump())));
  agree();
  if (progress_.validated_update != progress_.update) throw Interrupted();
}

// Everything is measured before anything is recorded: a signal in between leaves no trace.
void Trainer::measure_and_record() {
  const double start = now();
  auto report = measure();
  std::optional<ValidationReport> of_average;
  if (average_) {
    const KeptWeights kept(named_parameters(*model_));
    average_->put_into_weights();
    of_average = measure();
  }
  remember_best_validations(validator_->score(report));
  bool new_best = record(std::move(report), "");
  if (of_average) {
    const KeptWeights kept(named_parameters(*model_));
    average_->put_into_weights();
    new_best |= record(std::move(*of_average), "moving average");
  }
  progress_.validated_update = progress_.update;
  progress_.validations_since_best = new_best ? 0 : progress_.validations_since_best + 1;
  progress_.plateau.add(new_best, config_.training);
  interval_start_ += now() - start;  // speed is that of training
}

void Trainer::remember_best_validations(double score) {
  auto& best = progress_.best_validations;
  best.push_back({progress_.update, score});
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  if (std::ssize(best) > config_.training.average_best) best.resize(config_.training.average_best);
}

// weights: what the figures belong to and the model has now; empty = those of this update. True: they are the best.
bool Trainer::record(ValidationReport report, const std::string& weights) {
  report.update = progress_.update;
  report.epoch =
      std::max<int64_t>(1, progress_.position.epoch + (epoch_ended_ || progress_.position.batch == 0 ? 0 : 1));
  const double score = validator_->score(report);
  report.weights = weights;
  report.is_best = progress_.best_update < 0 || score > progress_.best_score;
  if (report.is_best) {
    progress_.best_score = score;
    progress_.best_update = progress_.update;
    save_best(report, weights);
  }
  observer_.on_validation(report);
  return report.is_best;
}

void Trainer::save_best(const ValidationReport& report, const std::string& weights) {
  nlohmann::json summary = {
      {"update", progress_.update},
      {"weights", weights.empty() ? fmt::format("update {}", progress_.update) : weights},
      {"target_tokens", progress_.target_tokens},
      {"precision", progress_.precision},
      {"data", progress_.data_hash},
      {"validation", {{"loss", report.loss}, {"perplexity", report.perplexity}, {"accuracy", report.accuracy}}}};
  if (report.has_bleu) summary["validation"]["bleu"] = report.bleu_line;
  if (report.has_chrf) summary["validation"]["chrf"] = report.chrf_line;
  write_directory(directory_->best(), [&](const auto& folder) {
    save_model(folder, *model_, config_, data_.codec, summary, data_.lexicon.get());
  });
}

void Trainer::save_checkpoint() {
  account_for_launched();
  saved_update_ = progress_.update;
  if (!group_.leads()) return;
  progress_.seconds = seconds_before_ + now() - session_start_;
  const auto write = [&](const auto& folder) {
    save_model(folder, *model_, config_, data_.codec, {{"update", progress_.update}}, data_.lexicon.get());
    save_safetensors(folder / kTrainerState, trainer_state());
    write_file_atomically(folder / kProgressFile, progress_.to_json().dump(2) + "\n");
  };
  std::set<int64_t> best;
  for (const auto& validation : progress_.best_validations) best.insert(validation.update);
  const int64_t last = std::max(config_.training.keep_checkpoints, config_.training.average_checkpoints);
  directory_->checkpoints().save(progress_.update, last, write, best);
  observer_.on_checkpoint(progress_.update);
}

void Trainer::finish() {
  account_for_launched();
  if (interval_updates_ > 0) report_interval();
  if (validator_ && progress_.validated_update != progress_.update) validate();
  if (saved_update_ != progress_.update) save_checkpoint();
  if (!group_.leads()) return;
  if (!validator_) {
    save_best({}, "");
  } else if (std::max(config_.training.average_checkpoints, config_.training.average_best) > 1 &&
             progress_.averaged_update != progress_.update) {
    try_averages();
  }
}

// The averages of the last checkpoints and of the best ones; the run's own weights are those of before.
void Trainer::try_averages() {
  const auto standing = directory_->checkpoints().updates();
  const std::set<int64_t> all(standing.begin(), standing.end());
  std::set<int64_t> last, best;
  for (auto update = all.rbegin(); update != all.rend() && std::ssize(last) < config_.training.average_checkpoints;
       ++update)
    last.insert(*update);
  for (const auto& validation : progress_.best_validations)
    if (all.contains(validation.update)) best.insert(validation.update);
  std::set<std::set<int64_t>> tried{last, best};
  std::erase_if(tried, [](const auto& updates) { return updates.size() < 2; });
  if (tried.empty()) return;
  for (const auto& updates : tried) {
    std::vector<std::filesystem::path> files;
    for (const int64_t update : updates) files.push_back(directory_->checkpoints().path(update) / "model.safetensors");
    const KeptWeights kept(named_parameters(*model_));
    load_average(named_parameters(*model_), files);
    record(measure(), fmt::format("average of updates {}", fmt::join(updates, ", ")));
  }
  progress_.averaged_update = progress_.update;
  save_checkpoint();
}

}  // namespace nmt
