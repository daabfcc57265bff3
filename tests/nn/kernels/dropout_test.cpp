#include "kernel_support.h"

namespace nmt::kernels::test::dropout_test {
namespace {

constexpr float kP = 0.25;
constexpr uint64_t kKey = 0x123456789abcdef;

/// The factors of elements begin .. end-1, asked for one by one.
Doubles factors(const Kernels& set, int64_t begin, int64_t end) {
  Doubles result;
  for (int64_t i = begin; i < end; ++i) {
    // The kernel's pointers stand at element 0, which may be far before the one it is asked for.
    std::vector<float> one(static_cast<size_t>(i + 1), 1.0f), out(one.size());
    set.dropout(Type::kFloat, out.data(), one.data(), nullptr, kP, kKey, i, i + 1);
    result.push_back(out.back());
  }
  return result;
}

TEST(DropoutKernel, KeepsTheShareThatItShould) {
  for_each_set([&](const Kernels& set) {
    const auto keep = factors(set, 0, 2000);
    EXPECT_NEAR(std::ranges::count(keep, 0.0) / 2000.0, kP, 0.04);
    EXPECT_EQ(std::ranges::count(keep, 0.0) + std::ranges::count(keep, widen(1 / (1 - kP))), 2000);
    EXPECT_EQ(keep, factors(kernels(), 0, 2000)) << "the same in every set";
  });
}

TEST(DropoutKernel, EqualsAPlainLoop) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const int64_t count : {1, 2, 15, 255, 256, 257, 1000}) {
      for (const int64_t begin : {int64_t{0}, int64_t{1}, std::min<int64_t>(count, 100)}) {
        const auto keep = factors(set, begin, count);
        const auto x = wave<T>(count, 1), residual = wave<T>(count, 2);
        constexpr double kUntouched = 7;
        Doubles plain(count, kUntouched), added(count, kUntouched), relu(count, kUntouched), back(count, kUntouched);
        for (int64_t i = begin; i < count; ++i) {
          const double factor = keep[i - begin];
          plain[i] = widen(x[i]) * factor;
          added[i] = widen(residual[i]) + plain[i];
          relu[i] = std::max(plain[i], 0.0);
          back[i] = relu[i] > 0 ? widen(residual[i]) / (1 - kP) : 0;
        }
        const auto run = [&](auto&& kernel) {
          std::vector<T> out(count, narrow<T>(kUntouched));
          kernel(out);
          return out;
        };
        expect_close(
            run([&](auto& out) { set.dropout(type_of<T>(), out.data(), x.data(), nullptr, kP, kKey, begin, count); }),
            plain, 1e-6);
        expect_close(run([&](auto& out) {
                       set.dropout(type_of<T>(), out.data(), x.data(), residual.data(), kP, kKey, begin, count);
                     }),
                     added, 1e-6);
        const auto activated =
            run([&](auto& out) { set.relu_dropout(type_of<T>(), out.data(), x.data(), kP, kKey, begin, count); });
        expect_close(activated, relu, 1e-6);
        expect_close(run([&](auto& out) {
                       set.relu_dropout_backward(type_of<T>(), out.data(), residual.data(), activated.data(), kP, begin,
                                                 count);
                     }),
                     back, 1e-6);
      }
    }
  });
}

}  // namespace
}  // namespace nmt::kernels::test::dropout_test
