#include <cmath>
#include <random>

#include "scoring/python/python_number.h"
#include "support.h"

namespace nmt::scoring::summation_test {
namespace {

TEST(CompensatedSum, KeepsWhatAPlainSumLoses) {
  EXPECT_EQ(compensated_sum(std::vector{1.0, 1e100, 1.0, -1e100}), 2.0);
  EXPECT_EQ(compensated_sum(std::vector<double>(10, 0.1)), 1.0);
  EXPECT_EQ(compensated_sum(std::vector<double>{}), 0.0);
  EXPECT_TRUE(std::isinf(compensated_sum(std::vector{INFINITY, 1.0})));
}

TEST(ExactSum, RoundsOnce) {
  EXPECT_EQ(exact_sum(std::vector<double>(10, 0.1)), 1.0);
  EXPECT_EQ(exact_sum(std::vector{1.0, 0x1p-53, 0x1p-120}), 1.0 + 0x1p-52);  // a long double loses the last one
  EXPECT_EQ(exact_sum(std::vector{0.0, -0.0}), 0.0);
  EXPECT_EQ(exact_sum(std::vector<double>{}), 0.0);
}

TEST(ExactMean, RoundsOnce) {
  EXPECT_EQ(exact_mean(std::vector<double>(10, 0.1)), 0.1);
  EXPECT_EQ(exact_mean(std::vector{1e16, 1.0, 1.0}), 3333333333333334.0);
  EXPECT_EQ(exact_mean(std::vector{0.0, 0.0}), 0.0);
  EXPECT_EQ(exact_mean(std::vector{5e-324, 0.0}), 0.0);       // half of the smallest number: to even
  EXPECT_EQ(exact_mean(std::vector{1.5e-323, 0.0}), 1e-323);  // three halves of it: to even
  EXPECT_EQ(exact_mean(std::vector{1e308, 1e308}), 1e308);    // the sum is beyond the range
  EXPECT_EQ(exact_mean(std::vector{1.0, 1.0 + 0x1p-52}), 1.0);
  EXPECT_EQ(exact_mean(std::vector{1.0 + 0x1p-52, 1.0 + 0x1p-51}), 1.0 + 0x1p-51);
}

TEST(ExactMean, IsTheNearestNumberForRandomScores) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> values(1 + random() % 1000);
    long double sum = 0;  // 64 bits of mantissa: scores of like size and few bits sum exactly
    for (double& value : values) {
      value = static_cast<double>(random() % (1 << 20)) / 1024;
      sum += value;
    }
    EXPECT_EQ(exact_mean(values), static_cast<double>(sum / values.size()));
  }
}

// Figures of numpy.mean (1.24 and 2.4) of sqrt(1), sqrt(2), ...: the order of summation shows in the last digits.
TEST(PairwiseMean, EqualsNumpyMean) {
  const auto roots = [](size_t size) {
    std::vector<double> values(size);
    for (size_t i = 0; i < size; ++i) values[i] = std::sqrt(static_cast<double>(i + 1));
    return values;
  };
  struct Case {
    size_t size;
    double mean;
  };
  for (const auto& [size, mean] :
       {Case{1, 1.0}, Case{7, 1.925367628755647}, Case{8, 2.0382500657544655}, Case{9, 2.145111169559525},
        Case{100, 6.714629471031478}, Case{128, 7.585071167574663}, Case{129, 7.614317256908198},
        Case{255, 10.676319155324938}, Case{1000, 21.097455887480734}, Case{10000, 66.67164591971083}})
    EXPECT_EQ(pairwise_mean(roots(size)), mean) << size;
  for (const auto& [size, mean] :
       {Case{1, 1.0}, Case{7, 1.9253675937652588}, Case{8, 2.038250207901001}, Case{9, 2.145111322402954},
        Case{100, 6.714630126953125}, Case{128, 7.585071086883545}, Case{129, 7.614317417144775},
        Case{255, 10.676319122314453}, Case{1000, 21.097457885742188}, Case{10000, 66.67164611816406}}) {
    const auto values = roots(size);
    EXPECT_EQ(pairwise_mean(std::vector<float>(values.begin(), values.end())), static_cast<float>(mean)) << size;
  }
}

}  // namespace
}  // namespace nmt::scoring::summation_test
