#include "training/dry_run.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/log.h"
#include "config/option_table.h"
#include "data/batches.h"
#include "models/model_directory.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "nn/layers/gradient_checkpointing.h"
#include "nn/ops/initial_values.h"
#include "training/batch_options.h"
#include "training/checkpoints/checkpoint.h"
#include "training/distributed/state_shares.h"
#include "training/fine_tuning.h"
#include "training/loop/objectives.h"
#include "training/loop/packed_updates.h"
#include "training/loop/train_update.h"
#include "training/optimizers/low_rank.h"
#include "training/optimizers/optimizer.h"
#include "training/teacher.h"

namespace nmt {
namespace {

constexpr int64_t kProgram = 300'000'000, kProgramOnCard = 1'000'000'000;  // libraries; on a card what CUDA takes
constexpr int64_t kLogitsOfCard = 1'000'000'000;  // a block of them, with what the loss makes of it: 64 million
constexpr int64_t kTokensElsewhere = 4096;        // of the wider side, padded: more could take minutes here

/// Bytes that a process has whatever its batches are.
struct StandingBytes {
  int64_t parameters = 0;  ///< their number
  int64_t weights = 0, gradients = 0, moments = 0, average = 0;
  int64_t exchange = 0;  ///< buckets of several processes
  int64_t teacher = 0;
  int64_t total() const { return weights + gradients + moments + average + exchange + teacher; }
};

/// A batch, and what an update of it takes beside StandingBytes.
struct MeasuredBatch {
  int64_t pairs = 0, source = 0, target = 0;
  int64_t parts = 1, measured = 0;  ///< one of so many equal parts was measured, of so many pairs
  int64_t activations = 0;          ///< of that part
  int64_t activations_of_all() const { return activations * pairs / measured; }
};

int64_t bytes_of(const NamedTensors& tensors) {
  int64_t bytes = 0;
  for (const auto& item : tensors) bytes += static_cast<int64_t>(item.second.nbytes());
  return bytes;
}

bool shares_state(const TrainingConfig& training, const DryRunPlace& place) {
  return training.shard_optimizer && place.processes > 1;
}

/// The parameters whose moments and averages the first process keeps.
NamedTensors kept_by_first(const NamedTensors& parameters, const TrainingConfig& training, const DryRunPlace& place) {
  if (!shares_state(training, place)) return parameters;
  std::vector<int64_t> bytes;
  for (const auto& item : parameters) bytes.push_back(static_cast<int64_t>(item.second.nbytes()));
  const auto owners = owners_of(bytes, place.processes);
  NamedTensors kept;
  for (size_t i = 0; i < owners.size(); ++i)
    if (owners[i] == 0) kept.push_back(parameters[i]);
  return kept;
}

std::shared_ptr<TranslationModel> model_of(const Config& config, const PreparedData& data) {
  return make_model(config.model, data.codec.source().size(), data.codec.target().size());
}

/// Takes no memory, however large the model is.
StandingBytes standing_bytes(const Config& config, const PreparedData& data, const DryRunPlace& place) {
  const auto& training = config.training;
  const ParameterLimit no_memory(int64_t{1} << 60);
  const auto model = model_of(config, data);
  const auto parameters = named_parameters(*model), trained = freeze(*model, training);
  NamedTensors kept;
  for (const auto& [name, parameter] : kept_by_first(trained, training, place))
    kept.emplace_back(name, without_memory(parameter));
  StandingBytes bytes{.parameters = model->parameter_count(),
                      .weights = bytes_of(parameters),
                      .gradients = bytes_of(trained),
                      .moments = bytes_of(make_optimizer(training, kept)->state())};
  if (training.lora_rank > 0) {  // the base's matrices stay beside those that are trained
    const auto factors = empty_factors(kept, training.lora_rank);
    bytes.weights += bytes_of(trained) + bytes_of(factors);
    bytes.gradients += bytes_of(factors);
    bytes.moments = bytes_of(make_optimizer(training, factors)->state());
  }
  if (training.ema_decay > 0) bytes.average = bytes_of(kept_by_first(parameters, training, place));
  if (!training.teacher.empty())
    bytes.teacher =
        static_cast<int64_t>(std::filesystem::file_size(std::filesystem::path(training.teacher) / "model.safetensors"));
  // Over MPI gradients go through buckets, and a process adds up its part of those of the others.
  if (place.processes > 1 && place.host) bytes.exchange = bytes.gradients + bytes.gradients / place.processes;
  return bytes;
}

/// The limit of the run, which may be meant for a card though the CPU measures.
int64_t tokens_at_once(const Config& config, const DryRunPlace& place) {
  return place.host ? tokens_at_once(config.model, torch::kCPU) : 0;
}

/// A model of its own in training, whose updates are measured.
class MeasuredUpdate {
 public:
  /// limit: most bytes of tensors on the CPU; another device has its memory.
  MeasuredUpdate(const Config& config, const PreparedData& data, const DryRunPlace& place, int64_t limit)
      : config_(config), device_(place.device), tokens_at_once_(tokens_at_once(config, place)) {
    // The CPU has no products of float16; bfloat16 takes as much.
    const auto type = type_of_precision(device_.is_cpu() && place.precision == "fp16" ? "bf16" : place.precision);
    auto teacher = load_teacher(config.training, data.codec, device_);
    if (teacher) teacher->set_compute_type(type);
    reset_peak_tensor_bytes(device_);
    before_ = peak_tensor_bytes(device_);
    if (device_.is_cpu()) limit_.emplace(before_ + limit);
    model_ = model_of(config, data);
    initialise(*model_, config.model, static_cast<uint64_t>(config.run.seed));
    move_module(*model_, device_);
    const auto trained = freeze(*model_, config.training);
    model_->set_compute_type(type);
    set_gradient_checkpointing(*model_, config.training.gradient_checkpointing, config.training.checkpointed_blocks);
    const auto support = packed_update_supports(config, device_, type, place.processes);
    if (support.operations) packed_ = std::make_unique<PackedUpdates>(config, *model_, support.operations, type);
    if (packed_)
      optimizer_ = packed_->make_optimizer();
    else if (config.training.lora_rank > 0)
      optimizer_ = std::make_unique<LowRankOptimizer>(trained, config);
    else
      optimizer_ = make_optimizer(config.training, kept_by_first(trained, config.training, place));
    objective_ = make_objective(config, std::move(teacher));
    model_->train();
  }

  /// The most bytes that tensors have at once; nullopt: one of the batches does not fit.
  std::optional<int64_t> peak(std::vector<Batch> batches) {
    const auto& training = config_.training;
    optimizer_->clear_gradients();
    reset_peak_tensor_bytes(device_);
    const UpdateParts parts{.model = *model_,
                            .optimizer = *optimizer_,
                            .objective = *objective_,
                            .device = device_,
                            .clip_norm = training.clip_norm,
                            .loss_mean = training.loss_mean,
                            .teacher_forcing = training.teacher_forcing,
                            .tokens_at_once = tokens_at_once_,
                            .packed = packed_.get()};
    try {
      const UpdateKey key{static_cast<uint64_t>(config_.run.seed), 1};
      if (train_update(parts, std::move(batches), key, /*learning_rate=*/0).split) return std::nullopt;
    } catch (const MachineError&) {
      return std::nullopt;  // not even one pair
    }
    return peak_tensor_bytes(device_) - before_;
  }

 private:
  const Config& config_;
  torch::Device device_;
  int64_t tokens_at_once_;
  int64_t before_ = 0;  ///< bytes of tensors that are not the model's
  std::optional<TensorLimit> limit_;
  std::shared_ptr<TranslationModel> model_;
  std::unique_ptr<PackedUpdates> packed_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Objective> objective_;
};

/// Two batches of the first epoch, often the same one: that of most tokens, and that of most pairs of positions, which
/// needs more where scores of attention are kept.
std::vector<Batch> largest_batches(const PreparedCorpus& corpus, const BatchOptions& options) {
  ChangedPairs changed;
  const EpochView epoch = EpochView(corpus, options.sampling, 0).with_links(options.links.get()).with_changed(&changed);
  std::vector<int64_t> of_tokens, of_positions;
  int64_t most_tokens = 0, most_positions = 0;
  for (const auto& pairs : plan_epoch(corpus, options, 0, 0, &changed)) {
    int64_t source = 0, target = 0;
    for (const int64_t pair : pairs) {
      const auto pieces = epoch.pieces(pair);
      source = std::max(source, source_length(std::ssize(pieces.source.ids()), corpus.source_form().markers));
      target = std::max<int64_t>(target, std::ssize(pieces.target.ids()) + 1);
    }
    const int64_t tokens = std::ssize(pairs) * (source + target), positions = tokens * (source + target);
    if (tokens > most_tokens) most_tokens = tokens, of_tokens = pairs;
    if (positions > most_positions) most_positions = positions, of_positions = pairs;
  }
  std::vector<Batch> batches{make_batch(epoch, of_tokens)};
  if (of_positions != of_tokens) batches.push_back(make_batch(epoch, of_positions));
  return batches;
}

/// nullopt: no part of it fits.
std::optional<MeasuredBatch> measured(MeasuredUpdate& update, const Batch& batch, const StandingBytes& standing,
                                      const DryRunPlace& place, bool has_gradients) {
  for (int64_t parts = 1; parts <= batch.size; parts *= 2) {
    const auto part = rows_of(batch, 0, batch.size / parts);
    const int64_t tokens = part.size * std::max(part.source_width, part.target_width);
    if (place.elsewhere && !place.host && tokens > kTokensElsewhere && part.size > 1) continue;
    std::vector<Batch> batches{part};
    if (has_gradients) batches.insert(batches.begin(), rows_of(part, 0, 1));
    if (const auto peak = update.peak(std::move(batches)))
      return MeasuredBatch{.pairs = batch.size,
                           .source = batch.source_width,
                           .target = batch.target_width,
                           .parts = parts,
                           .measured = part.size,
                           .activations = *peak - standing.weights - standing.gradients - standing.moments};
  }
  return std::nullopt;
}

/// The largest batch by what it needs; nullopt: the model, or one of the batches, does not fit in any part.
std::optional<MeasuredBatch> measured(const Config& config, const PreparedData& data, const StandingBytes& standing,
                                      const DryRunPlace& place) {
  const auto batches = largest_batches(*data.train, batch_options(config, data));
  const int64_t beside = kProgram + (place.elsewhere ? 0 : standing.average + standing.exchange + standing.teacher);
  // An update of several batches has the gradients of those before. What is scaled to other sizes has them, too.
  const bool has_gradients = config.training.accumulate > 1 || place.elsewhere;
  std::optional<MeasuredBatch> largest;
  try {
    MeasuredUpdate update(config, data, place, place.memory_here - beside);
    for (const auto& batch : batches) {
      const auto next = measured(update, batch, standing, place, has_gradients);
      if (!next) return std::nullopt;
      if (!largest || next->activations_of_all() > largest->activations_of_all()) largest = next;
    }
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    return std::nullopt;
  }
  return largest;
}

std::string format_bytes(int64_t bytes) {
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
}

void add_row(std::string& table, const char* name, int64_t bytes, const std::string& note) {
  if (bytes > 0) table += fmt::format("{:<20}{:>10}{}{}\n", name, format_bytes(bytes), note.empty() ? "" : "  ", note);
}

std::string described(const MeasuredBatch& batch, const DryRunPlace& place, const TrainingConfig& training) {
  const auto part = fmt::format("1/{} of ", batch.parts);
  return fmt::format("of {}the largest batch, {} pairs of {} and {} tokens{}{}",
                     batch.parts > 1 && !place.elsewhere ? part : "", with_commas(batch.pairs), batch.source,
                     batch.target, training.gradient_checkpointing ? ", with gradient checkpointing" : "",
                     batch.parts > 1 && place.elsewhere ? fmt::format(", measured on {}it", part) : "");
}

/// What to change where a batch has to be cut into so many parts; 0: none fits.
std::string advice(int64_t parts, const TrainingConfig& training, int64_t memory) {
  if (parts == 0)
    return fmt::format("no batch fits into {}; take a smaller model, or more memory", format_bytes(memory));
  const auto most = static_cast<int64_t>(std::get<Range>(find_option("training", "accumulate")->limits).max);
  return fmt::format(
      "the largest batch does not fit into {}: set training.batch_size: {} with training.accumulate: {}{}",
      format_bytes(memory), std::max<int64_t>(training.batch_size / parts, 1),
      std::min(training.accumulate * parts, most),
      training.gradient_checkpointing ? "" : ", or try training.gradient_checkpointing: true");
}

}  // namespace

DryRunAnswer dry_run(const Config& config, const PreparedData& data, const DryRunPlace& place) {
  const auto& training = config.training;
  if (config.run.threads > 0) at::set_num_threads(static_cast<int>(config.run.threads));
  const auto standing = standing_bytes(config, data, place);
  // What is measured elsewhere has the small block of logits of a CPU.
  const int64_t program = place.host ? kProgram : kProgramOnCard + (place.elsewhere ? kLogitsOfCard : 0);
  const int64_t fixed = standing.total() + program;
  std::optional<MeasuredBatch> batch;
  if (fixed < place.memory) {
    batch = measured(config, data, standing, place);
    if (!batch && place.elsewhere)
      throw MachineError(fmt::format(
          "out of memory: an update can be measured where {} and those of one sentence pair fit, here are {}; ask on a "
          "machine with more memory",
          format_bytes(fixed), format_bytes(place.memory_here)));
  }

  int64_t activations = 0, parts = 0;  // parts: into which the batch has to be cut; 0: none fits
  if (batch && !place.elsewhere) {
    activations = batch->activations;
    parts = batch->parts;
  } else if (batch) {
    // A card keeps masks of dropout and weights in 16 bits, too.
    activations = batch->activations_of_all() / 4 * (place.host || !place.device.is_cpu() ? 4 : 5);
    // A batch that is computed in pieces anyway takes less only where it is smaller than a piece.
    const int64_t at_once = tokens_at_once(config, place);
    const int64_t tokens = batch->pairs * std::max(batch->source, batch->target);
    const int64_t pieces = at_once > 0 ? std::max<int64_t>(tokens / at_once, 1) : 1;
    for (parts = 1; parts > 0 && fixed + activations / std::max<int64_t>(parts / pieces, 1) > place.memory;)
      parts = parts * 2 <= batch->pairs ? parts * 2 : 0;
  }

  DryRunAnswer answer;
  answer.needed = fixed + activations;
  auto& table = answer.table;
  add_row(table, place.host ? "memory" : "memory of the card", place.memory,
          fmt::format("{}, {}", place.precision,
                      place.processes > 1 ? fmt::format("{} processes, each", place.processes) : "one process"));
  add_row(table, "weights", standing.weights, fmt::format("{} parameters", with_commas(standing.parameters)));
  add_row(table, "gradients", standing.gradients, "");
  add_row(table, "moments", standing.moments,
          training.optimizer.name() + (shares_state(training, place) ? ", the share of a process" : ""));
  add_row(table, "moving average", standing.average, "");
  add_row(table, "teacher", standing.teacher, training.teacher);
  add_row(table, "exchange", standing.exchange, "gradients of other processes");
  if (batch) add_row(table, "activations", activations, described(*batch, place, training));
  add_row(table, "program", program,
          place.host        ? "libraries"
          : place.elsewhere ? "CUDA, its libraries and a block of logits"
                            : "CUDA and its libraries");
  add_row(table, "total", answer.needed, batch ? "" : "without a batch");
  answer.fits = parts == 1;
  if (!answer.fits) answer.advice = advice(parts, training, place.memory);
  return answer;
}

}  // namespace nmt
