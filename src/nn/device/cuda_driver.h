#pragma once

#include <string>

namespace nmt {

/// The functions of NVIDIA's driver that load and launch kernels, with the names and types of cuda.h: 0 is success,
/// handles are pointers. The driver is looked for when it is needed, so programs start where there is none.
struct CudaDriver {
  int (*module_load_data)(void** module, const void* image) = nullptr;
  int (*module_get_function)(void** function, void* module, const char* name) = nullptr;
  int (*func_set_attribute)(void* function, int attribute, int value) = nullptr;
  int (*launch_kernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                       void** extra) = nullptr;
  int (*get_error_string)(int error, const char** text) = nullptr;

  /// Throws MachineError with `what` and the driver's own words where `result` is no success.
  void check(int result, const std::string& what) const;
};

/// Throws Error: the library is not there, or lacks one of the functions; or NMT_CARD_KERNELS=off in the environment,
/// by which a user does without kernels that are wrong on a card.
CudaDriver load_cuda_driver(const std::string& library = "libcuda.so.1");

}  // namespace nmt
