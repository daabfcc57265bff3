// Recurrent layers on a device that has them as one call (cuDNN) take it, and nothing waits.
#include "nn/layers/recurrent_layer.h"

#include <gmock/gmock.h>

#include "nn/device/device.h"
#include "on_device/device_under_test.h"
#include "tensor_support.h"

namespace nmt::on_device_recurrent_test {
namespace {

using kernels::Cell;
using test::expect_close;
using test::wave;
using ::testing::IsEmpty;

class OnDeviceRecurrent : public test::DeviceTest {};

TEST_F(OnDeviceRecurrent, LayersAreOneCall) {
  if (!capabilities_of(device_).recurrent_layers) GTEST_SKIP() << "this LibTorch has no cuDNN";
  for (const auto order : {test::Order::kAtOnce, test::Order::kLate, test::Order::kSeeded})
    for (const auto kind : {Cell::kGru, Cell::kLstm, Cell::kElman}) {
      SCOPED_TRACE(static_cast<int>(kind));
      test::set_order(order, 4);
      const auto lengths = torch::tensor({int64_t{2}, int64_t{5}}, torch::kInt64);
      const auto run = [&](torch::Device device) {
        RecurrentLayer layer(kind, 3, 4, /*bidirectional=*/true);
        {
          const torch::NoGradGuard no_grad;
          double start = 0.3;
          for (auto& item : layer->named_parameters())
            item.value().copy_(wave(item.value().sizes(), 0.4, start += 0.9));
        }
        move_module(*layer, device);
        auto x = wave({5, 2, 3}, 1, 0.3).to(device).requires_grad_();
        const test::NoWaits waits;
        const auto output = layer(x, lengths);
        output.last[0].state.sum().backward();
        EXPECT_THAT(waits.found(), IsEmpty());
        return std::vector{output.states.detach(), x.grad()};
      };
      const auto here = run(torch::kCPU), there = run(device_);
      const double tolerance = test::kSimulated ? 1e-6 : 1e-3;
      expect_close(there[0].cpu().select(1, 1), here[0].select(1, 1), tolerance);
      expect_close(there[1].cpu(), here[1], tolerance);
      // The loop of cells holds the last state beyond a sentence's end.
      EXPECT_EQ(there[0].narrow(0, 2, 3).select(1, 0).abs().max().item<float>(), 0);
    }
}

}  // namespace
}  // namespace nmt::on_device_recurrent_test
