#include "nn/device/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace nmt {

void CudaDriver::check(int result, const std::string& what) const {
  if (result == 0) return;
  const char* text = nullptr;
  if (get_error_string(result, &text) != 0 || !text) text = "an error that it does not name";
  throw MachineError(fmt::format("{}: the CUDA driver says: {} ({})", what, text, result));
}

CudaDriver load_cuda_driver(const std::string& library) {
  const char* wanted = std::getenv("NMT_CARD_KERNELS");
  if (wanted && std::string_view(wanted) == "off") throw Error("NMT_CARD_KERNELS is off: no kernels on a card");
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open: kernels are launched to the end
  if (!opened)
    throw Error(
        fmt::format("{}: not there; kernels on a card need NVIDIA's driver: install it, or use --device cpu", library));
  CudaDriver driver;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(opened, name));
    if (!function)
      throw Error(
          fmt::format("{}: has no {}; it is no CUDA driver, or one too old: install a newer one", library, name));
  };
  find(driver.module_load_data, "cuModuleLoadData");
  find(driver.module_get_function, "cuModuleGetFunction");
  find(driver.func_set_attribute, "cuFuncSetAttribute");
  find(driver.launch_kernel, "cuLaunchKernel");
  find(driver.get_error_string, "cuGetErrorString");
  return driver;
}

}  // namespace nmt
