#include "translation/ready_models.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "config/loading/model_description.h"
#include "nn/inference/read_transformer.h"
#include "search/plain_group.h"
#include "translation/torch_library.h"

extern "C" void nmt_load_with_torch(const nmt::ModelLoading&, std::optional<nmt::ReadyModel>&) __attribute__((weak));

namespace nmt {
namespace {

namespace fs = std::filesystem;

bool is_linked_with_torch() { return &nmt_load_with_torch != nullptr; }

ReadyModel load_with_torch(ModelLoading wanted) {
  if (is_linked_with_torch() && !wanted.is_guest)
    wanted.threads = 0;  // it has told LibTorch itself
  else if (wanted.threads == 0)
    wanted.threads = default_threads();
  std::optional<ReadyModel> ready;
  torch_function(&nmt_load_with_torch, "nmt_load_with_torch",
                 ", or use a Transformer on the CPU by itself, without alignments")(wanted, ready);
  return std::move(*ready);
}

/// The format in which a model is searched on the CPU; nullopt: what to say of it LibTorch's side knows.
std::optional<kernels::WeightFormat> format_of(DecodingPrecision wanted, WeightType stored) {
  using kernels::WeightFormat;
  const auto only = stored == WeightType::kInt8 ? DecodingPrecision::kInt8 : DecodingPrecision::kBf16;
  if (stored != WeightType::kFloat32) {
    if (wanted != DecodingPrecision::kAuto && wanted != only) return {};
    wanted = only;
  }
  switch (wanted) {
    case DecodingPrecision::kAuto:
      return kernels::has_dot_products(WeightFormat::kBfloat16) ? WeightFormat::kBfloat16 : WeightFormat::kFloat32;
    case DecodingPrecision::kFp32:
      return WeightFormat::kFloat32;
    case DecodingPrecision::kBf16:
      return WeightFormat::kBfloat16;
    case DecodingPrecision::kInt8:
      return WeightFormat::kInt8;
    default:
      return {};
  }
}

std::string precision_name(kernels::WeightFormat format) {
  return format == kernels::WeightFormat::kInt8 ? "int8" : format == kernels::WeightFormat::kBfloat16 ? "bf16" : "fp32";
}

/// Whether `device` may be another one than the CPU. LibTorch knows, but it is not to be asked for nothing.
bool may_be_accelerator(const std::string& device) {
  if (device == "cpu") return false;
#if defined(NMT_SIMULATED_DEVICE)
  return true;
#elif defined(NMT_WITH_CUDA)
  const auto has_driver = [](const char* file) { return fs::exists(file); };
  return device != "auto" || std::ranges::any_of(std::array{"/dev/nvidiactl", "/dev/kfd", "/dev/dxg"}, has_driver);
#else
  return device != "auto";
#endif
}

/// A model in another program's place may have been renamed meanwhile: it is not that which translates.
std::function<std::shared_ptr<SearchableModel>()> whole_model(const ModelLoading& plain, DecodingPrecision precision) {
  const ModelLoading wanted{.directory = plain.directory,
                            .device = "cpu",
                            .precision = [precision](const Config&) { return precision; },
                            .threads = plain.threads,
                            .adapter = plain.adapter,
                            .is_guest = plain.is_guest};
  const auto weights = plain.directory / "model.safetensors";
  const auto now = [weights] {
    std::error_code missing;  // reading the file says what is wrong with it
    return std::pair(fs::last_write_time(weights, missing), fs::file_size(weights, missing));
  };
  return [wanted, weights, now, before = now()] {
    if (now() != before)
      throw Error(fmt::format("{}: is another model now than the one that was loaded; start again", weights.string()));
    return load_with_torch(wanted).model;
  };
}

std::optional<ReadyModel> load_plain(const ModelLoading& wanted) {
  const auto description = read_model_description(wanted.directory);
  const auto precision = wanted.precision(description.config);
  const auto format = format_of(precision, description.weights);
  if (!format) return {};
  const int threads = wanted.threads > 0 ? wanted.threads : default_threads();
  try {
    ReadyModel ready{read_model_files(wanted.directory), nullptr};
    const auto whole = whole_model(wanted, precision);
    ready.model = std::make_shared<PlainTransformer>(
        inference::read_transformer(wanted.directory, description, *format,
                                    threads > 1 ? &search_threads(threads) : nullptr, wanted.adapter),
        description.config.model, threads, whole);
    ready.precision = precision_name(*format);
    return ready;
  } catch (const inference::Unsupported& part) {
    spdlog::debug("searches by LibTorch: {}", part.what());
    return {};
  }
}

}  // namespace

bool can_align_words() {
  static const bool can = is_linked_with_torch() || has_torch_library();
  return can;
}

ReadyModel load_ready_model(const ModelLoading& wanted, bool is_alone) {
  if (is_alone && !is_linked_with_torch() && !may_be_accelerator(wanted.device))
    if (auto plain = load_plain(wanted)) return std::move(*plain);
  return load_with_torch(wanted);
}

}  // namespace nmt
