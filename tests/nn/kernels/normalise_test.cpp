#include "kernel_support.h"

namespace nmt::kernels::test::normalise_test {
namespace {

TEST(NormaliseKernel, EqualsAPlainLoop) {
  constexpr int64_t kRows = 3;
  constexpr double kEpsilon = 1e-3;
  for_each_set([&](const Kernels& set) {
    for (const int64_t size : {1, 2, 15, 16, 17, 100}) {
      const auto x = wave<float>(kRows * size, 1, 3), weight = wave<float>(size, 2), bias = wave<float>(size, 3);
      for (const bool with_bias : {true, false}) {
        std::vector<float> y(kRows * size);
        const NormRows task{.x = x.data(),
                            .weight = weight.data(),
                            .bias = with_bias ? bias.data() : nullptr,
                            .y = y.data(),
                            .size = size,
                            .epsilon = kEpsilon};
        set.normalise(task, {0, 1});
        set.normalise(task, {1, kRows});
        Doubles expected;
        for (int64_t row = 0; row < kRows; ++row) {
          double mean = 0, square = 0;
          for (int64_t i = 0; i < size; ++i) mean += with_bias ? x[row * size + i] / double(size) : 0;
          for (int64_t i = 0; i < size; ++i) square += std::pow(x[row * size + i] - mean, 2) / double(size);
          for (int64_t i = 0; i < size; ++i)
            expected.push_back(weight[i] * (x[row * size + i] - mean) / std::sqrt(square + kEpsilon) +
                               (with_bias ? bias[i] : 0));
        }
        expect_close(y, expected, 1e-5);
      }
    }
  });
}

}  // namespace
}  // namespace nmt::kernels::test::normalise_test
