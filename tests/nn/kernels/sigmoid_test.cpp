#include <limits>

#include "kernel_support.h"

namespace nmt::kernels::test::sigmoid_test {
namespace {

TEST(SigmoidKernel, EqualsAPlainLoop) {
  for_each_set([&](const Kernels& set) {
    for (const int64_t count : {1, 15, 16, 17, 100}) {
      for (const double scale : {0.1, 5.0, 60.0}) {
        auto x = wave<float>(count, 1, scale);
        std::vector<float> y(count);
        set.sigmoid(x.data(), y.data(), count);
        for (int64_t i = 0; i < count; ++i) {
          const double expected = 1 / (1 + std::exp(-double{x[i]}));
          EXPECT_NEAR(y[i], expected, 1e-6 * expected) << x[i];
        }
        set.sigmoid(x.data(), x.data(), count);
        EXPECT_EQ(x, y) << "in place";
      }
    }
  });
}

TEST(SigmoidKernel, KeepsWhatIsNoNumber) {
  for_each_set([&](const Kernels& set) {
    const std::vector<float> x = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()};
    std::vector<float> y(x.size());
    set.sigmoid(x.data(), y.data(), std::ssize(x));
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], 1);
    EXPECT_NEAR(y[2], 0, 1e-38);
  });
}

}  // namespace
}  // namespace nmt::kernels::test::sigmoid_test
