#include "models/decoding_precision.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/process/program_description.h"
#include "models/guest_model.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/cpu_kernels.h"
#include "nn/device/device.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

kernels::WeightFormat weight_format(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return kernels::WeightFormat::kBfloat16;
    case Precision::kInt8:
      return kernels::WeightFormat::kInt8;
    default:
      return kernels::WeightFormat::kFloat32;
  }
}

at::ScalarType device_type(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return torch::kBFloat16;
    case Precision::kFp16:
      return torch::kFloat16;
    default:
      return torch::kFloat32;
  }
}

// One step of an empty sentence multiplies by every weight that a search multiplies by.
void pack_weights(TranslationModel& model) {
  const c10::NoGradGuard no_gradients;
  const auto state =
      model.start(torch::full({1, 1}, int64_t{SpecialIds::kEnd}, torch::kInt64), torch::ones({1}, torch::kInt64));
  model.step(*state, torch::full({1}, int64_t{SpecialIds::kBegin}, torch::kInt64));
}

}  // namespace

Precision resolve_decoding_precision(DecodingPrecision wanted, const DeviceCapabilities& device) {
  switch (wanted) {
    case DecodingPrecision::kInt8:
      if (!device.host) throw Error("precision int8: is for the CPU; use bf16, fp16 or --device cpu");
      return Precision::kInt8;
    case DecodingPrecision::kFp16:
      if (device.host) throw Error("precision fp16: is for GPUs; use fp32, bf16 or int8");
      return Precision::kFp16;
    case DecodingPrecision::kFp32:
      return Precision::kFp32;
    case DecodingPrecision::kBf16:
      return Precision::kBf16;
    case DecodingPrecision::kAuto:
      break;
  }
  const bool bf16 = device.host ? kernels::has_dot_products(kernels::WeightFormat::kBfloat16) : device.bfloat16;
  if (bf16) return Precision::kBf16;
  return device.float16 ? Precision::kFp16 : Precision::kFp32;
}

Precision resolve_decoding_precision(DecodingPrecision wanted, torch::Device device) {
  return resolve_decoding_precision(wanted, capabilities_of(device));
}

Precision resolve_decoding_precision(DecodingPrecision wanted, torch::Device device, const LoadedModel& loaded) {
  if (loaded.stored == WeightType::kFloat32) return resolve_decoding_precision(wanted, device);
  const auto only = loaded.stored == WeightType::kInt8 ? DecodingPrecision::kInt8 : DecodingPrecision::kBf16;
  if (wanted != DecodingPrecision::kAuto && wanted != only)
    throw Error(
        fmt::format("{}: its weights are {}, from which no {} can be made; use --precision {}, or the float32 "
                    "directory that it was made of",
                    loaded.directory.string(), loaded.stored.name(), name_of(wanted), loaded.stored.name()));
  return resolve_decoding_precision(only, device);
}

std::string precision_name(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp16:
      return "fp16";
    case Precision::kInt8:
      return "int8";
    default:
      return "fp32";
  }
}

void prepare_decoding(LoadedModel& loaded, Precision precision) {
  loaded.precision = precision_name(precision);
  auto& model = *loaded.model;
  const auto parameters = model.parameters();
  const bool on_cpu = parameters.empty() || parameters.front().device().is_cpu();
  if (!on_cpu) {
    model.set_compute_type(device_type(precision));
    if (model.capabilities().static_positions == 0) return;  // products cast the weights they need
    model.set_cache_form(CacheForm::kStatic);
    model.to(device_type(precision));
    return;
  }
  model.set_compute_type(torch::kFloat32);
  model.set_packing({.format = weight_format(precision), .origin = loaded.weights, .scales = loaded.scales});
  pack_weights(model);
  if (!loaded.weights) return;
  if (loaded.stored == WeightType::kFloat32) return loaded.weights->release_pages();
  if (loaded.guard) loaded.guard->check();
  loaded.weights->detach();
  loaded.guard.reset();
}

}  // namespace nmt

__attribute__((visibility("default"))) const char* nmt_torch_version() {
  static const std::string own = nmt::version();
  return own.c_str();
}

__attribute__((visibility("default"))) void nmt_reuse_freed_tensors() {
  nmt::require_matching_torch();
  nmt::reuse_freed_tensors();
}

__attribute__((visibility("default"))) void nmt_load_with_torch(const nmt::ModelLoading& wanted,
                                                                std::optional<nmt::ReadyModel>& ready) {
  using namespace nmt;
  const auto load = [&] {
    const auto device = resolve_device(wanted.device);
    const auto loaded = std::make_shared<LoadedModel>(load_model(wanted.directory, device, wanted.adapter));
    prepare_decoding(*loaded, resolve_decoding_precision(wanted.precision(loaded->config), device, *loaded));
    ready = ReadyModel{*loaded, {loaded, loaded->model.get()}};
  };
  if (wanted.is_guest) {
    require_matching_torch();
    const OwnTorchSettings settings;
    const ThreadLimit threads(wanted.threads);
    load();
    ready->model = std::make_shared<GuestModel>(std::move(ready->model), wanted.threads);
    return;
  }
  if (wanted.threads > 0) {
    reuse_freed_tensors();
    at::set_num_threads(wanted.threads);
  }
  load();
}
