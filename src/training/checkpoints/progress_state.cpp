#include "training/checkpoints/progress_state.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/process/program_description.h"
#include "nn/device/device.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/products.h"
#include "training/checkpoints/checkpoint.h"

namespace nmt {
namespace {

constexpr size_t kMostEvents = 20;

// JSON has no number for what is not finite.
nlohmann::json written(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double read_double(const nlohmann::json& json) {
  using Limits = std::numeric_limits<double>;
  if (json == "nan") return Limits::quiet_NaN();
  if (json == "inf") return Limits::infinity();
  if (json == "-inf") return -Limits::infinity();
  return json.get<double>();
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoredUpdate, update, score)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plateau, factor, validations)

inline void to_json(nlohmann::json& json, const BatchPosition& position) {
  json = {{"epoch", position.epoch}, {"batch", position.batch},
          {"shard", position.shard}, {"shard_begin", position.shard_begin},
          {"stage", position.stage}, {"stage_begin", position.stage_begin}};
}
inline void from_json(const nlohmann::json& json, BatchPosition& position) {
  json.at("epoch").get_to(position.epoch);
  json.at("batch").get_to(position.batch);
  json.at("shard").get_to(position.shard);
  json.at("shard_begin").get_to(position.shard_begin);
  // Runs of older versions have no stages.
  position.stage = json.value("stage", int64_t{0});
  position.stage_begin = json.value("stage_begin", int64_t{0});
}

inline void to_json(nlohmann::json& json, const EpochSums& sums) {
  json = {{"epoch", sums.epoch},
          {"loss", written(sums.loss)},
          {"label_loss", written(sums.label_loss)},
          {"target_tokens", sums.target_tokens}};
}
inline void from_json(const nlohmann::json& json, EpochSums& sums) {
  json.at("epoch").get_to(sums.epoch);
  sums.loss = read_double(json.at("loss"));
  sums.label_loss = read_double(json.at("label_loss"));
  json.at("target_tokens").get_to(sums.target_tokens);
}

// All but the doubles, which may not be finite.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgressState, update, position, target_tokens, epoch, validated_update, best_update,
                                   validations_since_best, averaged_update, skipped_updates, skipped_in_a_row, events,
                                   later_events, precision, device, kernels, cpu, torch_version, data_hash, threads,
                                   extra_validation, best_validations, extra_checkpoint, plateau)

void ProgressState::add_event(std::string event) {
  if (events.size() < kMostEvents)
    events.push_back(std::move(event));
  else
    ++later_events;
}

nlohmann::json ProgressState::to_json() const {
  nlohmann::json json = *this;
  json["format"] = kProgressFormat;
  json["teacher_hash"] = teacher_hash;
  json["seconds"] = written(seconds);
  json["best_score"] = written(best_score);
  json["best_due_score"] = written(best_due_score);
  return json;
}

ProgressState ProgressState::from_json(const nlohmann::json& json) {
  auto state = json.get<ProgressState>();
  state.teacher_hash = json.value("teacher_hash", "");  // runs of older versions have no teacher
  state.seconds = read_double(json.at("seconds"));
  state.best_score = read_double(json.at("best_score"));
  state.best_due_score = read_double(json.at("best_due_score"));
  return state;
}

namespace {

// Throws nlohmann::json::exception for what is damaged.
ProgressState read_progress(const std::filesystem::path& path) {
  // One beyond the limits is as damaged as one that is cut off, and is not taken into memory.
  const bool readable = std::filesystem::file_size(path) <= JsonLimits{}.bytes;
  const auto json = readable ? parse_json_or_null(read_file(path)) : nlohmann::json();
  if (const auto format = json.value("format", int64_t{1}); format != kProgressFormat)
    throw Error(fmt::format(
        "{}: written by another version of this program (format {}, this one reads {}); continue with that version, or "
        "--restart to begin a new run",
        path.string(), format, kProgressFormat));
  return ProgressState::from_json(json);
}

// The kernel set, and that of the products of training, unless they are LibTorch's.
std::string kernel_names(const std::string& precision) {
  const auto type = precision == "bf16" ? kernels::Type::kBfloat16 : kernels::Type::kFloat;
  const auto* products = kernels::training_kernels(type);
  const char* name = kernels::kernels().name;
  return products ? fmt::format("{}, products {}", name, products->name) : name;
}

}  // namespace

ProgressState fresh_progress(const Config& config, torch::Device device, const std::string& data_hash) {
  ProgressState progress;
  progress.precision = precision_name(resolve_precision(config.run.precision, device));
  progress.device = device.str();
  progress.threads = at::get_num_threads();
  progress.kernels = kernel_names(progress.precision);
  progress.cpu = cpu_name();
  progress.torch_version = TORCH_VERSION;
  progress.data_hash = data_hash;
  if (const auto& teacher = config.training.teacher; !teacher.empty())
    progress.teacher_hash = sha256_of_file(std::filesystem::path(teacher) / "model.safetensors");
  return progress;
}

std::optional<std::string> damage_of_checkpoint(const std::filesystem::path& checkpoint) {
  if (auto damage = damage_of(checkpoint)) return damage;
  try {
    read_progress(checkpoint / kProgressFile);
  } catch (const nlohmann::json::exception&) {
    return std::string(kProgressFile) + ": not readable";
  }
  return std::nullopt;
}

ProgressState resumed_progress(const std::filesystem::path& checkpoint, const ProgressState& fresh,
                               const Config& config, Logger& log) {
  const auto path = checkpoint / kProgressFile;
  const auto read = [&path] {
    try {
      return read_progress(path);
    } catch (const nlohmann::json::exception&) {
      throw Error(fmt::format("{}: damaged; --restart starts a new run", path.string()));
    }
  };
  auto progress = read();
  if (progress.data_hash != fresh.data_hash)
    throw Error(fmt::format(
        "run.dir {}: the prepared data in {} is not the one this run was begun with; prepare it again, or --restart to "
        "begin anew",
        config.run.dir, config.data.dir));
  if (progress.teacher_hash != fresh.teacher_hash)
    throw Error(fmt::format(
        "training.teacher {}: its weights are not those that the run in {} was begun with; bring them back, or "
        "--restart to begin a new run",
        config.training.teacher, config.run.dir));
  if (config.run.precision != TrainingPrecision::kAuto && progress.precision != fresh.precision)
    throw Error(fmt::format("run.precision {}: this run was begun with {}", fresh.precision, progress.precision));
  int64_t threads = fresh.threads;
  // The number of threads was chosen by rule then: it stays, unless the user names another.
  if (config.run.threads == 0 && progress.threads != threads) {
    at::set_num_threads(static_cast<int>(progress.threads));
    threads = progress.threads;
  }
  const auto take = [&](const char* what, std::string& before, const std::string& current) {
    if (before != current)
      log.warn("{} was {} and is {} now: the bits of the weights may differ from an unbroken run", what, before,
               current);
    before = current;
  };
  take("device", progress.device, fresh.device);
  take("processor", progress.cpu, fresh.cpu);
  // `auto` resumes in the precision that the run was begun with, be it another than that of a new run here.
  take("kernel set", progress.kernels, kernel_names(progress.precision));
  take("LibTorch", progress.torch_version, fresh.torch_version);
  auto threads_then = std::to_string(progress.threads);
  take("number of threads", threads_then, std::to_string(threads));
  progress.threads = threads;
  return progress;
}

namespace {

std::set<int64_t> best_updates(const ProgressState& progress) {
  std::set<int64_t> best;
  for (const auto& validation : progress.best_validations) best.insert(validation.update);
  return best;
}

std::string text_of(const ProgressState& progress) { return progress.to_json().dump(2) + "\n"; }

}  // namespace

int64_t RunCheckpoints::keep(const ProgressState& progress) const {
  return parts_.keep + (parts_.counts && progress.extra_checkpoint >= 0 ? 1 : 0);
}

void RunCheckpoints::save(const ProgressState& progress, int64_t extra) const {
  const auto write = [&](const std::filesystem::path& folder) {
    parts_.write_model(folder, {{"update", progress.update}});
    save_safetensors(folder / kTrainerState, parts_.trainer_state());
    write_file_atomically(folder / kProgressFile, text_of(progress));
  };
  const auto best = best_updates(progress);
  const bool goes = parts_.counts && extra >= 0 && extra != progress.update && !best.contains(extra);
  parts_.store.save(progress.update, keep(progress) + (goes ? 1 : 0), write, best);
  if (goes) parts_.store.remove(extra);
}

void RunCheckpoints::save_progress(const ProgressState& progress) const {
  parts_.store.replace_file(progress.update, kProgressFile, text_of(progress), keep(progress), best_updates(progress));
}

}  // namespace nmt
