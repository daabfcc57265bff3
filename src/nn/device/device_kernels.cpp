#include "nn/device/device_kernels.h"

#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>
#include <zlib.h>

#include <stdexcept>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "nn/device/packed_kernels.h"
#ifdef NMT_WITH_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace nmt {
namespace {

constexpr int kOldest = 80, kHopper = 90;
constexpr int kFreeSharedBytes = 48 << 10;  // more has to be asked for
constexpr int kMaxDynamicSharedBytes = 8;   // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr unsigned kWarp = 32;

std::string unpacked(std::string_view packed) {
  std::string text;
  for (uLongf size = packed.size() * 8;; size *= 2) {
    text.resize(size);
    uLongf made = size;
    const int result = uncompress(reinterpret_cast<Bytef*>(text.data()), &made,
                                  reinterpret_cast<const Bytef*>(packed.data()), packed.size());
    if (result == Z_BUF_ERROR) continue;
    if (result != Z_OK) throw std::logic_error("the kernels in this program are damaged");
    text.resize(made);
    return text;
  }
}

CompiledKernel::Type type_of(const std::string& name) {
  if (name == "pointer") return CompiledKernel::Type::kPointer;
  return name == "int32" ? CompiledKernel::Type::kInt32 : CompiledKernel::Type::kFloat32;
}

std::vector<CompiledKernel> read_kernels() {
  const auto packed = parse_json(unpacked(packed_kernels()), "kernels/compiled.z");
  std::vector<CompiledKernel> kernels;
  for (const auto& entry : packed.at("kernels")) {
    CompiledKernel kernel{.name = entry.at("name"),
                          .capability = entry.at("capability"),
                          .entry = entry.at("entry"),
                          .warps = entry.at("warps"),
                          .shared = entry.at("shared"),
                          .constants = entry.at("constants"),
                          .parameters = {},
                          .ptx = entry.at("ptx")};
    for (const auto& parameter : entry.at("parameters"))
      kernel.parameters.push_back({parameter.at(0), type_of(parameter.at(1)), parameter.at(2)});
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

bool is_multiple_of_sixteen(const KernelArgument& argument) {
  if (const auto* pointer = std::get_if<const void*>(&argument)) return reinterpret_cast<uintptr_t>(*pointer) % 16 == 0;
  return std::get<int32_t>(argument) % 16 == 0;
}

void check_arguments(const CompiledKernel& kernel, std::span<const KernelArgument> arguments) {
  if (arguments.size() != kernel.parameters.size())
    throw std::invalid_argument(
        fmt::format("{}: {} arguments, not {}", kernel.name, arguments.size(), kernel.parameters.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& parameter = kernel.parameters[i];
    if (arguments[i].index() != static_cast<size_t>(parameter.type))
      throw std::invalid_argument(fmt::format("{}: {} has another type", kernel.name, parameter.name));
    if (parameter.sixteens && !is_multiple_of_sixteen(arguments[i]))
      throw std::invalid_argument(fmt::format("{}: {} is no multiple of 16", kernel.name, parameter.name));
  }
}

void* present_stream([[maybe_unused]] torch::Device device) {
#ifdef NMT_WITH_CUDA
  if (device.is_cuda()) return c10::cuda::getCurrentCUDAStream(device.index()).stream();
#endif
  return nullptr;
}

}  // namespace

const std::vector<CompiledKernel>& compiled_kernels() {
  static const auto kernels = read_kernels();
  return kernels;
}

DeviceKernels::DeviceKernels(CudaDriver driver, torch::Device device, int capability)
    : driver_(driver), device_(device) {
  if (capability < kOldest)
    throw Error(fmt::format("{}: compute capability {}.{}; the kernels need 8.0 or newer", device.str(),
                            capability / 10, capability % 10));
  const int wanted = capability == kHopper ? kHopper : kOldest;
  for (const auto& kernel : compiled_kernels())
    if (kernel.capability == wanted) kernels_.emplace(kernel.name, Loaded{&kernel, nullptr});
}

const CompiledKernel* DeviceKernels::find(std::string_view name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : found->second.kernel;
}

const DeviceKernels::Loaded& DeviceKernels::loaded(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) throw std::invalid_argument(fmt::format("{}: no such kernel", name));
  auto& [kernel, function] = found->second;
  if (!function) {
    void *module = nullptr, *entry = nullptr;
    driver_.check(driver_.module_load_data(&module, kernel->ptx.c_str()), kernel->name);
    driver_.check(driver_.module_get_function(&entry, module, kernel->entry.c_str()), kernel->name);
    if (kernel->shared > kFreeSharedBytes)
      driver_.check(driver_.func_set_attribute(entry, kMaxDynamicSharedBytes, kernel->shared), kernel->name);
    function = entry;
  }
  return found->second;
}

void DeviceKernels::launch(std::string_view name, std::array<unsigned, 3> grid,
                           std::span<const KernelArgument> arguments) {
  const c10::DeviceGuard on_device(device_);
  const auto& [kernel, function] = loaded(name);
  check_arguments(*kernel, arguments);
  // The driver reads each value where it lies, whatever its size. Behind Triton's parameters stand two of its own, for
  // memory that these kernels do not ask for.
  const void* nothing = nullptr;
  std::vector<void*> places;
  places.reserve(arguments.size() + 2);
  for (const auto& argument : arguments)
    places.push_back(
        std::visit([](const auto& value) { return const_cast<void*>(static_cast<const void*>(&value)); }, argument));
  places.insert(places.end(), 2, &nothing);
  driver_.check(
      driver_.launch_kernel(function, grid[0], grid[1], grid[2], static_cast<unsigned>(kernel->warps) * kWarp, 1, 1,
                            static_cast<unsigned>(kernel->shared), present_stream(device_), places.data(), nullptr),
      kernel->name);
}

}  // namespace nmt
