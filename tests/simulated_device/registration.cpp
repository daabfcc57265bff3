// The device as LibTorch sees it: devices, streams, events, memory.

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "simulated_device/streams.h"
#include "simulated_device/tensors.h"

namespace nmt::simulated {

torch::Device device() { return {torch::kPrivateUse1, 0}; }

namespace {

bool has_bfloat16 = true, has_float16 = true;

c10::Stream stream_of(int stream) { return c10::Stream(c10::Stream::UNSAFE, device(), stream); }
int number_of(const c10::Stream& stream) { return static_cast<int>(stream.id()); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return torch::kPrivateUse1; }
  c10::Device exchangeDevice(c10::Device) const override { return device(); }
  c10::Device getDevice() const override { return device(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.supported_scalar_types.has_BFloat16 = has_bfloat16;
    capability.capability_data.supported_scalar_types.has_Half = has_float16;
    return capability;
  }

  c10::Stream getStream(c10::Device) const override { return stream_of(present_stream()); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream_of(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return stream_of(next_pool_stream()); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream_of(next_pool_stream()); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream_of(exchange_stream(number_of(stream)));
  }
  bool queryStream(const c10::Stream& stream) const override { return is_done(clock_of(number_of(stream))); }
  void synchronizeStream(const c10::Stream& stream) const override {
    const int before = exchange_stream(number_of(stream));
    synchronise("a stream");
    exchange_stream(before);
  }
  void synchronizeDevice(c10::DeviceIndex) const override {
    synchronise("the device");
    wait_for_all();
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    if (data.get()) (*static_cast<BlockPointer*>(data.get_context()))->recorded.insert(number_of(stream));
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (!*event) *event = new Clock;
    *static_cast<Clock*>(*event) = clock_of(number_of(stream));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) make_wait(number_of(stream), *static_cast<Clock*>(event));
  }
  bool queryEvent(void* event) const override { return !event || is_done(*static_cast<Clock*>(event)); }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Clock*>(event); }
  void synchronizeEvent(void* event) const override {
    if (event) wait_for(*static_cast<Clock*>(event));
  }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return default_generator(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return new_generator(); }
  c10::Device getDeviceFromPtr(void*) const override { return device(); }
  bool isPinnedPtr(const void* data) const override { return is_pinned_address(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

const bool registered = [] {
  c10::register_privateuse1_backend("simulated");
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  c10::SetAllocator(torch::kPrivateUse1, &device_allocator());
  return true;
}();

}  // namespace

void set_types(bool bfloat16, bool float16) { has_bfloat16 = bfloat16, has_float16 = float16; }

}  // namespace nmt::simulated
