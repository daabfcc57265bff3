#include "training/trainer.h"

#include <algorithm>
#include <utility>

#include "base/files/adapter.h"
#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "models/model_directory.h"
#include "nn/device/device.h"
#include "nn/layers/gradient_checkpointing.h"
#include "report/run_observers.h"
#include "training/batch_options.h"
#include "training/checkpoints/progress_state.h"
#include "training/distributed/state_shares.h"
#include "training/fine_tuning.h"
#include "training/loop/objectives.h"
#include "training/optimizers/optimizer.h"
#include "training/optimizers/schedule.h"
#include "training/teacher.h"

namespace nmt {

Trainer::Trainer(Config config, const PreparedData& data, const std::vector<InitialEmbedding>& embeddings,
                 torch::Device device, ProcessGroup& group, RunDirectory* directory, TrainingObserver& observer,
                 Logger& log, StopSignal stop_signal, bool saves_epochs)
    : config_(std::move(config)),
      data_(data),
      group_(group),
      directory_(directory),
      observer_(observer),
      log_(log),
      stop_signal_(std::move(stop_signal)),
      saves_epochs_(saves_epochs),
      device_(device) {
  auto teacher = load_teacher(config_.training, data.codec, device_);
  model_ = make_model(config_.model, data.codec.source().size(), data.codec.target().size());
  initialise(*model_, config_.model, static_cast<uint64_t>(config_.run.seed));
  set_initial_embeddings(*model_, embeddings);
  progress_ = fresh_progress(config_, device_, data.hash);
  begin_or_resume();
  if (group_.leads()) directory_->keep_configuration(config_);
  model_->set_compute_type(type_of_precision(progress_.precision));
  set_gradient_checkpointing(*model_, config_.training.gradient_checkpointing, config_.training.checkpointed_blocks);
  if (teacher) teacher->set_compute_type(model_->compute_type());
  objective_ = make_objective(config_, std::move(teacher));
  if (data.valid) validator_.emplace(data.valid, data.codec, config_, device_, data.more_valid);
  if (validator_) validator_->require_places(*model_);
  batches_ = std::make_unique<BatchStream>(data.train, batch_options(config_, data), progress_.position);
  if (group_.leads()) keep_files();
}

void Trainer::begin_or_resume() {
  std::filesystem::path folder;
  if (group_.leads())
    if (const auto newest = directory_->checkpoints().newest_whole(damage_of_checkpoint))
      folder = directory_->checkpoints().path(*newest);
  folder = group_.share(folder.string());
  const bool resumes = !folder.empty(), adapts = config_.training.lora_rank > 0;
  const auto& from = config_.training.init_from;
  if (resumes) {
    if (adapts)
      require_base(read_adapter(folder / kAdapterFile), from);
    else
      copy_into(named_parameters(*model_), load_safetensors(folder / "model.safetensors"),
                folder / "model.safetensors");
    progress_ = resumed_progress(folder, progress_, config_, log_);
    log_.info("resuming from {}", folder.string());
    if (group_.leads() && progress_.best_update >= 0 &&
        !std::filesystem::exists(directory_->best() / "model.safetensors"))
      log_.warn("{}: is missing, it had weights of update {}: bring it back, or the next validation makes another",
                directory_->best().string(), progress_.best_update);
    if (group_.leads()) directory_->keep_later_best(progress_.update, log_);
  }
  if (!from.empty() && (!resumes || adapts)) {
    const auto start =
        load_initial_weights(*model_, config_.model, data_.codec, from, config_.training.init_vocabulary);
    if (!resumes) log_.info("{}", start);
  }
  move_module(*model_, device_);
  const auto trained = freeze(*model_, config_.training);
  const auto parameters = named_parameters(*model_);
  if (config_.training.shard_optimizer && group_.size() > 1) shares_.emplace(parameters, group_);
  const auto make = [this](NamedTensors some) { return make_optimizer(config_.training, std::move(some)); };
  if (adapts)
    make_adapter(trained, resumes ? folder / kAdapterFile : "");
  else if (shares_)
    optimizer_ = std::make_unique<ShardedOptimizer>(trained, *shares_, make);
  else
    make_plain_or_packed(trained);
  if (group_.size() > 1) gradients_ = std::make_unique<GradientBuckets>(trained, group_);
  if (progress_.precision == precision_name(torch::kFloat16)) loss_scale_.emplace(device_);
  if (config_.training.ema_decay > 0)
    average_.emplace(parameters, config_.training.ema_decay, shares_ ? &*shares_ : nullptr);
  // Mapped: a process that keeps a share reads that alone.
  if (resumes) copy_into(trainer_state(), map_safetensors(folder / kTrainerState).file, folder / kTrainerState);
}

void Trainer::make_plain_or_packed(const NamedTensors& trained) {
  const auto precision = type_of_precision(progress_.precision);
  const auto support = packed_update_supports(config_, device_, precision, group_.size());
  if (support.operations) {
    packed_ = std::make_unique<PackedUpdates>(config_, *model_, support.operations, precision);
    optimizer_ = packed_->make_optimizer();
  } else {
    optimizer_ = make_optimizer(config_.training, trained);
  }
  if (!device_.is_cuda() || !group_.leads()) return;
  if (support.operations)
    log_.info("updates: packed, by the kernels of training");
  else if (support.is_wrong)
    log_.warn("updates: general, not packed: {}; please report this with the output of scripts/gpu_check.sh --kernels",
              support.reason);
  else
    log_.info("updates: general, not packed: {}", support.reason);
}

// resumed: the file that it continues from, or an empty path.
void Trainer::make_adapter(const NamedTensors& matrices, const std::filesystem::path& resumed) {
  base_ = sha256_of_file(std::filesystem::path(config_.training.init_from) / "model.safetensors");
  auto optimizer = std::make_unique<LowRankOptimizer>(matrices, config_);
  if (!resumed.empty()) optimizer->load(resumed);
  adapter_ = optimizer.get();
  optimizer_ = std::move(optimizer);
  int64_t trained = 0;
  for (const auto& item : adapter_->factors()) trained += item.second.numel();
  log_.info("an adapter of rank {} for {} matrices: {} numbers are trained beside {}", config_.training.lora_rank,
            matrices.size(), with_commas(trained), with_commas(model_->parameter_count()));
}

NamedTensors Trainer::trainer_state() const {
  auto state = optimizer_->state();
  if (average_)
    for (auto& tensor : average_->state()) state.push_back(std::move(tensor));
  if (loss_scale_)
    for (auto& tensor : loss_scale_->state()) state.push_back(std::move(tensor));
  return state;
}

void Trainer::gather_state() {
  if (shares_) gathered_state_ = shares_->gathered(trainer_state());
}

// What the process that leads writes.
void Trainer::keep_files() {
  const ModelWriter write_model = [this](const std::filesystem::path& folder, const nlohmann::json& summary) {
    save_model(folder, *model_, config_, data_.codec, summary, data_.lexicon.get());
    if (adapter_) adapter_->save(folder / kAdapterFile, base_);
  };
  const auto& training = config_.training;
  checkpoints_.emplace(RunCheckpoints::Parts{
      .store = directory_->checkpoints(),
      .write_model = write_model,
      .trainer_state = [this] { return shares_ ? std::exchange(gathered_state_, {}) : trainer_state(); },
      .keep = std::max(training.keep_checkpoints, training.average_checkpoints),
      .counts = training.average_checkpoints > 0});
  const auto measure = [this] {
    const auto between = [this, pulse = Pulse()]() mutable {
      if (stop_signal_()) throw Interrupted();
      if (pulse.is_due())
        log_.info("validation at update {}: {} so far", with_commas(progress_.update),
                  format_duration(pulse.since_start()));
    };
    return validator_->validate(*model_, between, progress_.update);
  };
  best_.emplace(BestModel::Parts{.model = *model_,
                                 .config = config_,
                                 .measure = measure,
                                 .write_model = write_model,
                                 .folder = directory_->best(),
                                 .checkpoints = directory_->checkpoints(),
                                 .average = average_ ? &*average_ : nullptr,
                                 .observer = observer_,
                                 .log = log_},
                progress_);
}

UpdateLoop Trainer::make_loop() {
  return UpdateLoop({.config = config_,
                     .update = {.model = *model_,
                                .optimizer = *optimizer_,
                                .objective = *objective_,
                                .device = device_,
                                .clip_norm = config_.training.clip_norm,
                                .loss_mean = config_.training.loss_mean,
                                .teacher_forcing = config_.training.teacher_forcing,
                                .tokens_at_once = tokens_at_once(config_.model, device_),
                                .processes = gradients_.get(),
                                .loss_scale = loss_scale_ ? &*loss_scale_ : nullptr,
                                .packed = packed_.get()},
                     .schedule = make_schedule(config_.training, config_.model.d_model),
                     .batches = *batches_,
                     .average = average_ ? &*average_ : nullptr,
                     .gather_state = [this] { gather_state(); },
                     .validates = validator_.has_value(),
                     .saves_epochs = saves_epochs_,
                     .best = best_ ? &*best_ : nullptr,
                     .checkpoints = checkpoints_ ? &*checkpoints_ : nullptr,
                     .group = group_,
                     .observer = observer_,
                     .log = log_,
                     .stop_signal = stop_signal_},
                    progress_);
}

int Trainer::run() {
  auto loop = make_loop();
  announce(loop.epoch_end());
  const int signal = loop.run();
  // A launcher ends all processes at the first exit code that is not 0: only the one that has saved may return it.
  return group_.leads() && signal ? exit_code_of(signal) : kDone;
}

void Trainer::announce(const std::optional<EpochReport>& epoch_end) const {
  if (!group_.leads()) return;
  const int64_t batches = batches_->batches_of_current_epoch(), accumulate = config_.training.accumulate;
  std::vector<VariableShape> variables;
  for (const auto& tensors : {named_parameters(*model_), trainer_state()})
    for (const auto& [name, tensor] : tensors) variables.push_back({name, tensor.sizes().vec()});
  const TrainingStart start{.name = directory_->path().string(),
                            .parameters = model_->parameter_count(),
                            .update = progress_.update,
                            .max_updates = config_.training.max_updates,
                            .updates_per_epoch = std::max<int64_t>(1, (batches + accumulate - 1) / accumulate),
                            .num_epochs = config_.training.num_epochs,
                            .device = progress_.device,
                            .precision = progress_.precision,
                            .threads = progress_.threads,
                            .variables = std::move(variables),
                            .epoch_end = epoch_end};
  observer_.on_start(start);
  if (const auto warning = warmup_warning(config_.training, expected_updates(start))) log_.warn("{}", *warning);
  warn_of_long_pairs();
}

void Trainer::warn_of_long_pairs() const {
  if (config_.training.batch_type != BatchType::kTokens) return;
  const auto& corpus = *data_.train;
  const auto markers = corpus.source_form().markers;
  int64_t longest = 0;
  for (const int64_t pair : pairs_of_epoch(corpus, batch_options(config_, data_), 0))
    longest = std::max({longest, source_length(std::ssize(corpus.source(pair)), markers),
                        static_cast<int64_t>(std::ssize(corpus.target(pair)) + 1)});
  if (longest > config_.training.batch_size)
    log_.warn(
        "training.batch_size: a batch has {} tokens, and pairs have up to {}: what is longer is a batch of its own; "
        "training.batch_type: sentences counts pairs",
        config_.training.batch_size, longest);
}

}  // namespace nmt
