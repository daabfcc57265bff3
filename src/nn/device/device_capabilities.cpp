#include "nn/device/device_capabilities.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "nn/device/recorded_graph.h"
#include "nn/kernels/x86_level.h"

#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

namespace nmt {
namespace {

DeviceCapabilities of_cpu() { return {.bfloat16 = kernels::has_bfloat16_tiles() || kernels::has_quick_bfloat16()}; }

bool has_kernel(const char* name, c10::DispatchKey key) {
  const auto operation = c10::Dispatcher::singleton().findSchema({name, ""});
  return operation && operation->hasKernelForDispatchKey(key);
}

// An accelerator that LibTorch was extended by: what it says, and which operations it brought.
DeviceCapabilities of_extension(torch::Device device) {
  const auto types =
      c10::impl::getDeviceGuardImpl(device.type())->getDeviceCapability(device).capability_data.supported_scalar_types;
  const auto key = c10::DispatchKey::PrivateUse1;
  return {.host = false,
          .bfloat16 = types.has_BFloat16 != 0,
          .float16 = types.has_Half != 0,
          .flash_attention = types.has_BFloat16 != 0 && has_kernel("aten::_flash_attention_forward", key),
          .efficient_attention = has_kernel("aten::_efficient_attention_forward", key),
          .recurrent_layers =
              has_kernel("aten::_thnn_fused_gru_cell", key) && has_kernel("aten::_thnn_fused_lstm_cell", key),
          .graphs = records_graphs(device)};
}

}  // namespace

DeviceCapabilities capabilities_of_cuda(int major, int /*minor*/, int64_t memory) {
  return {.host = false,
          .bfloat16 = major >= 8,
          .float16 = major >= 7,
          .flash_attention = major >= 8,
          .efficient_attention = true,
          .recurrent_layers = true,
          .memory = memory};
}

DeviceCapabilities capabilities_of(torch::Device device) {
  if (device.is_cpu()) return of_cpu();
#ifdef NMT_WITH_CUDA
  if (device.is_cuda()) {
    const auto* card = at::cuda::getDeviceProperties(device.index());
    auto can = capabilities_of_cuda(card->major, card->minor, static_cast<int64_t>(card->totalGlobalMem));
    can.recurrent_layers = at::globalContext().hasCuDNN();
    can.graphs = records_graphs(device);
    return can;
  }
#endif
  if (device.type() == torch::kPrivateUse1) return of_extension(device);
  return {.host = false};
}

}  // namespace nmt
