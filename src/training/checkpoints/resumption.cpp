#include "training/checkpoints/resumption.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/json_file.h"
#include "base/process/version.h"
#include "base/strict_json.h"
#include "nn/device/device.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/training/training_product.h"
#include "training/checkpoints/checkpoint.h"

namespace nmt {
namespace {

// Throws nlohmann::json::exception for what is damaged.
ProgressState read_progress(const std::filesystem::path& path) {
  // One beyond the limits is as damaged as one that is cut off, and is not taken into memory.
  const bool readable = std::filesystem::file_size(path) <= JsonLimits{}.bytes;
  const auto json = readable ? parse_json_or_null(read_file(path)) : nlohmann::json();
  if (const auto format = json.value("format", int64_t{1}); format > kProgressFormat)
    throw Error(
        fmt::format("{}: written by a newer version of this program (format {}, this one reads up to {}); go on with "
                    "that version, or --restart to begin anew",
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
  // `auto` goes on in the precision that the run was begun with, be it another than that of a new run here.
  take("kernel set", progress.kernels, kernel_names(progress.precision));
  take("LibTorch", progress.torch_version, fresh.torch_version);
  auto threads_then = std::to_string(progress.threads);
  take("number of threads", threads_then, std::to_string(threads));
  progress.threads = threads;
  return progress;
}

}  // namespace nmt
