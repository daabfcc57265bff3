// The simulated device itself: it computes as the CPU does, and finds each kind of mistake, every time.
#include "simulated_device/simulated_device.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/Event.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "tensor_support.h"

namespace nmt::simulated_device_test {
namespace {

using simulated::Counts;
using simulated::Order;
using simulated::Violations;
using test::expect_close;
using test::wave;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSeeds = 10;

/// Each test in every order of work.
class SimulatedDevice : public ::testing::Test {
 protected:
  void SetUp() override { simulated::reset_counts(); }
  void TearDown() override {
    simulated::finish();
    simulated::set_order(Order::kAtOnce);
    simulated::set_memory_limit(std::nullopt);
  }
  template <typename F>
  void in_every_order(const F& body) {
    for (const auto order : {Order::kAtOnce, Order::kLate, Order::kSeeded})
      for (uint64_t seed = 0; seed < (order == Order::kSeeded ? kSeeds : 1); ++seed) {
        simulated::finish();
        simulated::set_order(order, seed);
        simulated::reset_counts();
        body();
      }
  }
  torch::Device device_ = simulated::device();
};

TEST_F(SimulatedDevice, IsTheAcceleratorOfLibTorch) {
  EXPECT_EQ(at::getAccelerator(), torch::kPrivateUse1);
  EXPECT_EQ(at::accelerator::deviceCount(), 1);
}

TEST_F(SimulatedDevice, ComputesAsTheCpuDoes) {
  in_every_order([&] {
    const auto x = wave({3, 5}, 1), w = wave({4, 5}, 2);
    const auto on_device = x.to(device_), weight = w.to(device_);
    auto y = at::linear(on_device, weight).relu().softmax(-1);
    y.add_(1).select(0, 1).mul_(2);
    auto expected = at::linear(x, w).relu().softmax(-1);
    expected.add_(1).select(0, 1).mul_(2);
    EXPECT_EQ(y.device(), device_);
    EXPECT_TRUE(y.cpu().equal(expected));
    EXPECT_TRUE(y.t().contiguous().cpu().equal(expected.t()));
    const auto [values, ids] = y.topk(2, -1);
    EXPECT_TRUE(ids.cpu().equal(std::get<1>(expected.topk(2, -1))));
    EXPECT_TRUE(at::arange(7, at::TensorOptions(torch::kInt64).device(device_)).cpu().equal(at::arange(7)));
    EXPECT_TRUE(at::cat({y, y}, 1).cpu().equal(at::cat({expected, expected}, 1)));
  });
}

TEST_F(SimulatedDevice, HasGradients) {
  in_every_order([&] {
    const auto loss = [](const torch::Tensor& x, const torch::Tensor& table) {
      const auto embedded = at::embedding(table, at::tensor({1, 2, 1}, torch::kInt64).to(table.device()), 0);
      return (at::layer_norm(embedded.mm(x), {4}).sigmoid() * 3).sum();
    };
    auto x = wave({3, 4}).requires_grad_(), table = wave({5, 3}, 1, 2).requires_grad_();
    loss(x, table).backward();
    auto there = wave({3, 4}).to(device_).requires_grad_(),
         table_there = wave({5, 3}, 1, 2).to(device_).requires_grad_();
    loss(there, table_there).backward();
    expect_close(there.grad().cpu(), x.grad(), 1e-6);
    expect_close(table_there.grad().cpu(), table.grad(), 1e-6);
  });
}

TEST_F(SimulatedDevice, RunsWorkLate) {
  simulated::set_order(Order::kLate);
  const auto x = torch::ones({3}, device_);
  const auto y = (x + 1) * 2;
  EXPECT_EQ(simulated::counts().late, simulated::counts().launches);
  EXPECT_GT(simulated::counts().late, 2);
  EXPECT_THAT(simulated::counts().synchronisations, IsEmpty());
  EXPECT_EQ(y.sum().item<float>(), 12);
  EXPECT_THAT(simulated::counts().synchronisations, ElementsAre("aten::item"));
}

// A random operation draws when it is launched.
TEST_F(SimulatedDevice, DrawsTheSameNumbersInAnyOrder) {
  std::vector<torch::Tensor> drawn;
  in_every_order([&] {
    auto generator = at::globalContext().defaultGenerator(device_);
    generator.set_current_seed(7);
    const auto a = torch::empty({4}, device_).uniform_();
    const auto b = torch::rand({4}, device_);
    drawn.push_back(at::cat({a, b, at::bernoulli(b)}).cpu());
    EXPECT_FALSE(a.cpu().equal(b.cpu()));
  });
  for (const auto& numbers : drawn) EXPECT_TRUE(numbers.equal(drawn.front()));
}

TEST_F(SimulatedDevice, FindsHostAccess) {
  in_every_order([&] {
    const auto x = torch::ones({3}, device_) + 1;
    float value = 0;
    const float* address = x.const_data_ptr<float>();
    EXPECT_THAT(simulated::access_error([&] { value = *static_cast<const volatile float*>(address); }),
                testing::Optional(HasSubstr("the host accesses device memory: 12 bytes, last written by aten::add")));
    EXPECT_TRUE(simulated::access_error([&] { *x.mutable_data_ptr<float>() = 1; }));
    EXPECT_EQ(value, 0);
  });
}

TEST(SimulatedDeviceDeathTest, HostAccessEndsTheProgramWithThePlace) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        const auto x = torch::ones({3}, simulated::device()).relu();
        std::printf("%f", static_cast<double>(x.const_data_ptr<float>()[0]));
      },
      "the host accesses device memory: 12 bytes, last written by aten::relu");
}

TEST_F(SimulatedDevice, FindsMissingCopies) {
  in_every_order([&] {
    const auto x = torch::ones({3}, device_);
    EXPECT_THROW(x + torch::ones({3}), c10::Error);
    EXPECT_THROW(torch::ones({2, 3}).mv(x), c10::Error);
    EXPECT_THROW(x.index_select(0, torch::tensor({1})), c10::Error);
    EXPECT_EQ((x + torch::tensor(2.F)).sum().item<float>(), 9);  // a single number is taken along
  });
}

TEST_F(SimulatedDevice, FindsMissingWaits) {
  in_every_order([&] {
    const Violations violations;
    const auto x = torch::ones({3}, device_);
    {
      const simulated::OnStream other(1);
      const auto y = x + 1;  // who says that x is ready?
    }
    ASSERT_EQ(violations.found().size(), 1U);
    EXPECT_THAT(violations.found()[0],
                HasSubstr("a wait is missing: aten::add.out on stream 1 reads what aten::fill_"));
    simulated::finish();
  });
}

TEST_F(SimulatedDevice, EventsOrderStreams) {
  in_every_order([&] {
    const Violations violations;
    auto x = torch::ones({3}, device_);
    c10::Event ready(device_.type()), used(device_.type());
    const c10::impl::VirtualGuardImpl guard(device_.type());
    ready.record(guard.getStream(device_));
    torch::Tensor y;
    {
      const simulated::OnStream other(1);
      ready.block(guard.getStream(device_));
      y = x + 1;
      used.record(guard.getStream(device_));
    }
    used.block(guard.getStream(device_));
    x.mul_(5);
    y.record_stream(guard.getStream(device_));
    EXPECT_EQ(y.sum().item<float>(), 6);
    EXPECT_EQ(x.sum().item<float>(), 15);
    EXPECT_THAT(violations.found(), IsEmpty());
  });
}

TEST_F(SimulatedDevice, FindsWritesBeforeReadersAreDone) {
  in_every_order([&] {
    const Violations violations;
    auto x = torch::ones({3}, device_);
    simulated::finish();
    torch::Tensor y;
    {
      const simulated::OnStream other(1);
      y = x + 1;
    }
    x.mul_(5);
    ASSERT_EQ(violations.found().size(), 1U);
    EXPECT_THAT(violations.found()[0], HasSubstr("on stream 0 writes what aten::add.out on stream 1 reads"));
  });
}

TEST_F(SimulatedDevice, FindsMemoryThatIsFreedInUse) {
  in_every_order([&] {
    const c10::impl::VirtualGuardImpl guard(device_.type());
    for (const bool recorded : {false, true}) {
      const Violations violations;
      auto x = torch::ones({3}, device_);
      simulated::finish();
      torch::Tensor y;
      {
        const simulated::OnStream other(1);
        y = x + 1;
        if (recorded) x.record_stream(guard.getStream(device_));
      }
      x.reset();
      EXPECT_EQ(violations.found().size(), recorded ? 0U : 1U);
      if (!recorded) {
        EXPECT_THAT(violations.found()[0], HasSubstr("memory is freed while stream 1 may still use it"));
      }
      simulated::finish();
    }
  });
}

TEST_F(SimulatedDevice, FindsPinnedMemoryThatIsReadTooEarly) {
  in_every_order([&] {
    const auto x = torch::ones({3}, device_);
    const auto pinned = torch::zeros({3}).pin_memory();
    EXPECT_TRUE(pinned.is_pinned());
    pinned.copy_(x, /*non_blocking=*/true);
    const float* address = pinned.const_data_ptr<float>();
    EXPECT_THAT(simulated::access_error([&] { (void)*static_cast<const volatile float*>(address); }),
                testing::Optional(HasSubstr("pinned memory that the device is not known to be done with")));
    const c10::impl::VirtualGuardImpl guard(device_.type());
    c10::Event done(device_.type());
    done.record(guard.getStream(device_));
    done.synchronize();
    EXPECT_EQ(pinned.sum().item<float>(), 3);
    EXPECT_THAT(simulated::counts().synchronisations, IsEmpty());  // an event is not the whole stream
  });
}

TEST_F(SimulatedDevice, FindsPinnedMemoryThatIsOverwritten) {
  in_every_order([&] {
    auto pinned = torch::ones({3}).pin_memory();
    const auto x = pinned.to(device_, /*non_blocking=*/true);
    float* address = pinned.mutable_data_ptr<float>();
    EXPECT_EQ(address[0], 1);  // the host may read it, too
    EXPECT_TRUE(simulated::access_error([&] { *static_cast<volatile float*>(address) = 2; }));
    EXPECT_EQ(x.sum().item<float>(), 3);
    address[0] = 2;
  });
}

TEST_F(SimulatedDevice, FreedPinnedMemoryIsKeptForItsCopies) {
  in_every_order([&] {
    const auto x = torch::full({3}, 5.F).pin_memory().to(device_, /*non_blocking=*/true);
    EXPECT_THAT(simulated::counts().synchronisations, IsEmpty());
    EXPECT_EQ(x.sum().item<float>(), 15);
  });
}

TEST_F(SimulatedDevice, CountsHiddenSynchronisations) {
  const std::vector<std::function<void(const torch::Tensor&)>> hidden = {
      [](const auto& x) { x.sum().template item<float>(); },
      [](const auto& x) { x.cpu(); },
      [](const auto& x) { torch::ones({3}).to(x.device()); },
      [](const auto& x) { torch::ones({3}).to(x.device(), /*non_blocking=*/true); },
      [](const auto& x) { at::nonzero(x); },
      [](const auto& x) { x.index({x > 0}); },
      [](const auto& x) { x.equal(x); },
      [](const auto& x) { at::masked_select(x, x > 0); },
      [](const auto& x) { (void)x.is_nonzero(); },
  };
  in_every_order([&] {
    for (size_t i = 0; i < hidden.size(); ++i) {
      const auto x = torch::ones({i + 1 == hidden.size() ? 1 : 3}, device_);
      simulated::reset_counts();
      hidden[i](x);
      EXPECT_GE(simulated::counts().synchronisations.size(), 1U) << i;
    }
    const auto x = torch::ones({3}, device_), rows = torch::ones({3}, device_).to(torch::kInt64);
    simulated::reset_counts();
    (x.index_select(0, rows) * 2).masked_fill(x > 1, 5).pow(2).cumsum(0).sort();
    torch::ones({2}).pin_memory().to(device_, true);
    EXPECT_THAT(simulated::counts().synchronisations, IsEmpty());
  });
}

TEST_F(SimulatedDevice, RunsOutOfMemory) {
  in_every_order([&] {
    simulated::set_memory_limit(simulated::bytes_in_use() + 1000);
    const auto x = torch::ones({200}, device_);
    EXPECT_THROW(torch::ones({200}, device_), c10::OutOfMemoryError);
    simulated::set_memory_limit(std::nullopt);
    simulated::fail_allocation_after(1);
    const auto y = torch::ones({200}, device_);
    EXPECT_THROW(torch::ones({200}, device_), c10::OutOfMemoryError);
    EXPECT_EQ(torch::ones({200}, device_).sum().item<float>(), 200);
  });
}

TEST_F(SimulatedDevice, FreshMemoryIsNotANumber) { EXPECT_TRUE(torch::empty({3}, device_).isnan().all().item<bool>()); }

TEST_F(SimulatedDevice, GraphsAreRecordedAndReplayed) {
  in_every_order([&] {
    auto x = torch::ones({3}, device_), y = torch::zeros({3}, device_);
    simulated::Graph graph;
    graph.begin();
    y.copy_(x * 2 + y);
    EXPECT_THROW(y.sum().item<float>(), c10::Error);  // the host asks
    graph.end();
    EXPECT_EQ(y.sum().item<float>(), 0);
    graph.replay();
    x.fill_(3);
    graph.replay();
    EXPECT_EQ(y.sum().item<float>(), 3 * (2 + 6));
    const Violations violations;
    x.reset();
    graph.replay();
    EXPECT_EQ(violations.found().size(), 1U);
  });
}

}  // namespace
}  // namespace nmt::simulated_device_test
