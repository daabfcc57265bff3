#include "training/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/version.h"
#include "models/model_directory.h"
#include "nn/device.h"
#include "nn/kernels/kernels.h"
#include "training/average.h"
#include "training/schedule.h"
#include "training/tensor_statistics.h"

namespace nmt {
namespace {

constexpr const char* kTrainerState = "trainer.safetensors";
constexpr const char* kProgress = "state.json";
constexpr int64_t kSkippedInARow = 10;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A validation was cut short by a signal: it is done again when the run goes on.
struct Interrupted {};

}  // namespace

Trainer::Trainer(Config config, const PreparedData& data, const std::vector<InitialEmbedding>& embeddings,
                 RunDirectory& directory, TrainingObserver& observer, Logger& log)
    : config_(std::move(config)),
      data_(data),
      directory_(directory),
      observer_(observer),
      log_(log),
      device_(resolve_device(config_.run.device)) {
  model_ = make_model(config_.model, data.codec.source().size(), data.codec.target().size());
  initialise(*model_, config_.model, static_cast<uint64_t>(config_.run.seed));
  set_initial_embeddings(*model_, embeddings);
  progress_.precision = precision_name(resolve_precision(config_.run.precision, device_));
  progress_.device = device_.str();
  progress_.threads = at::get_num_threads();
  progress_.kernels = kernels::kernels().name;
  progress_.cpu = cpu_name();
  progress_.torch_version = TORCH_VERSION;
  progress_.data_hash = data.hash;
  resume();
  model_->set_compute_type(progress_.precision == "bf16" ? torch::kBFloat16 : torch::kFloat32);
  if (data.valid) validator_.emplace(data.valid, data.codec, config_, device_);
  const BatchOptions options{
      .type = config_.training.batch_type == "tokens" ? BatchType::kTokens : BatchType::kSentences,
      .size = config_.training.batch_size,
      .seed = static_cast<uint64_t>(config_.run.seed),
      .pool_batches = config_.training.pool_batches,
      .last_batch = config_.training.last_batch == "drop" ? LastBatch::kDrop : LastBatch::kKeep};
  batches_ = std::make_unique<BatchStream>(data.train, options, progress_.position);
  epoch_ended_ = progress_.update > 0 && progress_.epoch.epoch == progress_.position.epoch;
}

void Trainer::resume() {
  const auto newest = directory_.checkpoints().newest_whole(log_);
  if (newest) {
    const auto folder = directory_.checkpoints().path(*newest);
    copy_into(named_parameters(*model_), load_safetensors(folder / "model.safetensors"), folder / "model.safetensors");
    ProgressState fresh = progress_;
    try {
      progress_ = ProgressState::from_json(nlohmann::json::parse(read_file(folder / kProgress)));
    } catch (const nlohmann::json::exception&) {
      throw Error(fmt::format("{}: written by another version of this program; --restart begins anew",
                              (folder / kProgress).string()));
    }
    if (progress_.data_hash != fresh.data_hash)
      throw Error(fmt::format(
          "run.dir {}: the prepared data in {} is not the one this run was begun with; prepare it again, or "
          "--restart to begin anew",
          directory_.path().string(), config_.data.dir));
    if (config_.run.precision != "auto" && progress_.precision != fresh.precision)
      throw Error(fmt::format("run.precision {}: this run was begun with {}", fresh.precision, progress_.precision));
    // The number of threads was chosen by rule then: it stays, unless the user names another.
    if (config_.run.threads == 0 && progress_.threads != fresh.threads) {
      at::set_num_threads(static_cast<int>(progress_.threads));
      fresh.threads = progress_.threads;
    }
    const auto tell = [&](const char* what, const std::string& before, const std::string& current) {
      if (before != current)
        log_.warn("{} was {} and is {} now: the bits of the weights may differ from an unbroken run", what, before,
                  current);
    };
    tell("device", progress_.device, fresh.device);
    tell("processor", progress_.cpu, fresh.cpu);
    tell("kernel set", progress_.kernels, fresh.kernels);
    tell("LibTorch", progress_.torch_version, fresh.torch_version);
    tell("number of threads", std::to_string(progress_.threads), std::to_string(fresh.threads));
    progress_.device = fresh.device, progress_.cpu = fresh.cpu, progress_.kernels = fresh.kernels;
    progress_.torch_version = fresh.torch_version, progress_.threads = fresh.threads;
    saved_update_ = progress_.update;
    log_.info("going on from {}", folder.string());
  }
  model_->to(device_);
  optimizer_ = make_optimizer(config_.training, named_parameters(*model_));
  if (newest) {
    const auto file = directory_.checkpoints().path(*newest) / kTrainerState;
    copy_into(optimizer_->state(), load_safetensors(file), file);
  }
  seconds_before_ = progress_.seconds;
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
      if (stop_signal()) throw Interrupted();
      if (validation_due()) validate();
      if (checkpoint_due()) save_checkpoint();
    }
    finish();
    observer_.on_end(*reason_to_end());
    return 0;
  } catch (const Interrupted&) {
    save_checkpoint();
    observer_.on_end("stopped by a signal; the state is saved: the same command goes on");
    return stop_exit_code();
  }
}

void Trainer::announce() const {
  const int64_t batches = batches_->batches_of_current_epoch();
  std::vector<VariableShape> variables;
  for (const auto& tensors : {named_parameters(*model_), optimizer_->state()})
    for (const auto& [name, tensor] : tensors) variables.push_back({name, tensor.sizes().vec()});
  observer_.on_start({.name = directory_.path().string(),
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
  for (int64_t i = 0; i < config_.training.accumulate; ++i) batches.push_back(batches_->next());
  return batches;
}

void Trainer::update() {
  const int64_t epoch = progress_.position.epoch;
  auto batches = next_batches();
  const int64_t number = progress_.update + 1;
  const double lr = learning_rate(config_.training, config_.model.d_model, number);
  const auto stats = train_update(*model_, *optimizer_, std::move(batches), config_.training, lr,
                                  {static_cast<uint64_t>(config_.run.seed), number}, device_);
  progress_.update = number;
  progress_.position = batches_->position();
  progress_.target_tokens += stats.target_tokens;
  epoch_ended_ = progress_.position.epoch != epoch;
  guard_against_divergence(stats);

  interval_ += stats;
  interval_.gradient_norm = stats.gradient_norm;
  ++interval_updates_;
  add_to_epoch(epoch + 1, stats);
  observer_.on_update(epoch + 1, number);
  if (number % config_.run.log_every == 0 || epoch_ended_) report_interval();
  if (epoch_ended_) observer_.on_epoch(epoch_report());
}

void Trainer::add_to_epoch(int64_t epoch, const UpdateStats& stats) {
  auto& sums = progress_.epoch;
  if (sums.epoch != epoch) sums = {.epoch = epoch};
  if (stats.skipped) return;  // not a number
  sums.loss += stats.loss;
  sums.label_loss += stats.label_loss;
  sums.target_tokens += stats.target_tokens;
}

void Trainer::guard_against_divergence(const UpdateStats& stats) {
  if (stats.split) {
    const auto event = fmt::format("update {}: a batch was split for lack of memory", progress_.update);
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
  log_.warn("update {}: loss or gradient is not finite; the update is skipped ({} so far)", progress_.update,
            progress_.skipped_updates);
  if (++progress_.skipped_in_a_row < kSkippedInARow) return;
  throw Error(fmt::format(
      "training.lr {}: {} updates in a row were not finite: the model has diverged; lower training.lr, raise "
      "training.warmup_steps, set training.clip_norm, or use --precision fp32, and go on from an earlier "
      "checkpoint",
      config_.training.lr, kSkippedInARow));
}

void Trainer::report_interval() {
  const double time = now(), seconds = std::max(time - interval_start_, 1e-9);
  const double tokens = static_cast<double>(std::max<int64_t>(interval_.target_tokens, 1));
  TrainingInterval report{.epoch = progress_.position.epoch + (epoch_ended_ ? 0 : 1),
                          .update = progress_.update,
                          .loss = interval_.loss / tokens,
                          .perplexity = std::exp(interval_.label_loss / tokens),
                          .accuracy = static_cast<double>(interval_.correct) / tokens,
                          .learning_rate = learning_rate(config_.training, config_.model.d_model, progress_.update),
                          .gradient_norm = interval_.gradient_norm,
                          .source_tokens_per_second = static_cast<double>(interval_.source_tokens) / seconds,
                          .target_tokens_per_second = static_cast<double>(interval_.target_tokens) / seconds,
                          .real_token_share = static_cast<double>(interval_.source_tokens + interval_.target_tokens) /
                                              static_cast<double>(std::max<int64_t>(interval_.padded_tokens, 1)),
                          .target_tokens = progress_.target_tokens,
                          .skipped_updates = progress_.skipped_updates};
  int64_t left = -1;
  const auto shorter = [&left](int64_t updates) { left = left < 0 ? updates : std::min(left, updates); };
  if (config_.training.max_updates > 0) shorter(config_.training.max_updates - progress_.update);
  if (config_.training.num_epochs > 0) {
    const int64_t per_epoch = std::max<int64_t>(1, batches_->batches_of_current_epoch() / config_.training.accumulate);
    shorter((config_.training.num_epochs - progress_.position.epoch) * per_epoch -
            progress_.position.batch / config_.training.accumulate);
  }
  if (left >= 0)
    report.seconds_left =
        static_cast<double>(left) * seconds / static_cast<double>(std::max<int64_t>(interval_updates_, 1));
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

double Trainer::minutes() const { return (seconds_before_ + now() - session_start_) / 60; }

std::optional<std::string> Trainer::reason_to_end() const {
  const auto& t = config_.training;
  if (t.max_updates > 0 && progress_.update >= t.max_updates) return fmt::format("{} updates done", t.max_updates);
  if (t.num_epochs > 0 && progress_.position.epoch >= t.num_epochs) return fmt::format("{} epochs done", t.num_epochs);
  if (t.max_minutes > 0 && minutes() >= t.max_minutes) return fmt::format("{} minutes are over", t.max_minutes);
  const int64_t patience = config_.validation.patience;
  if (patience > 0 && progress_.validations_since_best >= patience)
    return fmt::format("{} validations without a new best {}", patience, config_.validation.best_metric);
  return std::nullopt;
}

void Trainer::validate() {
  const double start = now();
  model_->eval();
  auto report = validator_->validate(*model_, [] {
    if (stop_signal()) throw Interrupted();
  });
  model_->train();
  record(std::move(report), "");
  interval_start_ += now() - start;  // speed is that of training
}

// weights: what the figures belong to; empty = those of this update.
void Trainer::record(ValidationReport report, const std::string& weights) {
  report.update = progress_.update;
  report.epoch =
      std::max<int64_t>(1, progress_.position.epoch + (epoch_ended_ || progress_.position.batch == 0 ? 0 : 1));
  const double score = validator_->score(report);
  report.weights = weights;
  report.is_best = progress_.best_update < 0 || score > progress_.best_score;
  progress_.validated_update = progress_.update;
  if (report.is_best) {
    progress_.best_score = score;
    progress_.best_update = progress_.update;
    progress_.validations_since_best = 0;
    save_best(report, weights);
  } else {
    ++progress_.validations_since_best;
  }
  observer_.on_validation(report);
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
  write_directory(directory_.best(),
                  [&](const auto& folder) { save_model(folder, *model_, config_, data_.codec, summary); });
}

int64_t Trainer::kept_checkpoints() const {
  return std::max(config_.training.keep_checkpoints, config_.training.average_checkpoints);
}

void Trainer::save_checkpoint() {
  progress_.seconds = seconds_before_ + now() - session_start_;
  directory_.checkpoints().save(progress_.update, kept_checkpoints(), [&](const auto& folder) {
    save_model(folder, *model_, config_, data_.codec, {{"update", progress_.update}});
    save_safetensors(folder / kTrainerState, optimizer_->state());
    write_file_atomically(folder / kProgress, progress_.to_json().dump(2) + "\n");
  });
  saved_update_ = progress_.update;
  observer_.on_checkpoint(progress_.update);
}

void Trainer::finish() {
  if (interval_updates_ > 0) report_interval();
  if (validator_ && progress_.validated_update != progress_.update) validate();
  if (saved_update_ != progress_.update) save_checkpoint();
  if (!validator_) {
    save_best({}, "");
  } else if (config_.training.average_checkpoints > 1 && progress_.averaged_update != progress_.update) {
    average_checkpoints();
  }
}

void Trainer::average_checkpoints() {
  auto updates = directory_.checkpoints().updates();
  const auto wanted = static_cast<size_t>(config_.training.average_checkpoints);
  if (updates.size() > wanted) updates.erase(updates.begin(), updates.end() - static_cast<int64_t>(wanted));
  std::vector<std::filesystem::path> files;
  for (const int64_t update : updates) files.push_back(directory_.checkpoints().path(update) / "model.safetensors");
  NamedTensors last;
  for (const auto& [name, parameter] : named_parameters(*model_)) last.emplace_back(name, parameter.detach().clone());
  load_average(named_parameters(*model_), files);
  const int64_t since_best = progress_.validations_since_best;
  model_->eval();
  auto report = validator_->validate(*model_, [] {
    if (stop_signal()) throw Interrupted();
  });
  record(std::move(report), fmt::format("average of updates {}", fmt::join(updates, ", ")));
  progress_.validations_since_best = since_best;
  progress_.averaged_update = progress_.update;
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; const auto& [name, parameter] : named_parameters(*model_))
    parameter.detach().copy_(last[i++].second);
  save_checkpoint();
}

}  // namespace nmt
