#include <gtest/gtest.h>

#include <vector>

#include "nn/positions/table_positions.h"
#include "tensor_support.h"

namespace nmt::sinusoid_test {
namespace {

using test::expect_close;

// Golden values: golden/make_positions.py.
TEST(Sinusoid, HasThePublishedValuesInEveryForm) {
  struct Case {
    const char* name;
    std::vector<double> first, second;  // positions 1 and 2, d = 8
  };
  const Case cases[] = {
      {"interleaved",
       {.841471, .540302, .099833, .995004, .010000, .999950, .001000, 1.000000},
       {.909297, -.416147, .198669, .980067, .019999, .999800, .002000, .999998}},
      {"half_split",
       {.841471, .099833, .010000, .001000, .540302, .995004, .999950, 1.000000},
       {.909297, .198669, .019999, .002000, -.416147, .980067, .999800, .999998}},
      {"half_split_t2t",
       {.841471, .046399, .002154, .000100, .540302, .998923, .999998, 1.000000},
       {.909297, .092699, .004309, .000200, -.416147, .995694, .999991, 1.000000}},
      {"doubled",
       {.841471, .540302, .010000, .999950, .000100, 1.000000, .000001, 1.000000},
       {.909297, -.416147, .019999, .999800, .000200, 1.000000, .000002, 1.000000}},
      {"legacy_raw",
       {.841471, .995004, .010000, 1.000000, .000100, 1.000000, .000001, 1.000000},
       {.909297, .980067, .019999, .999998, .000200, 1.000000, .000002, 1.000000}},
  };
  for (const auto& c : cases) {
    const auto table = sinusoid_table(1, 2, 8, Choice<Sinusoid>(c.name));
    expect_close(table[0], torch::tensor(c.first), 6e-7, c.name);
    expect_close(table[1], torch::tensor(c.second), 6e-7, c.name);
  }
}

// Two words of a published example, positions 2 and 10 of 512 features. It prints vectors of twice the paper's exponent
// (doubled); the paper's formula (interleaved) gives others.
TEST(Sinusoid, HasTheVectorsOfThePublishedExample) {
  struct Case {
    const char* name;
    int64_t position;
    std::vector<double> start, end;  // features 0-7 and 504-511
    double cosine;                   // of the vectors of positions 2 and 10
  };
  const Case cases[] = {
      {"interleaved",
       2,
       {9.09297427e-01, -4.16146837e-01, 9.36414739e-01, -3.50895194e-01, 9.58144376e-01, -2.86285442e-01,
        9.74888185e-01, -2.22694919e-01},
       {2.30956395e-04, 9.99999973e-01, 2.22794770e-04, 9.99999975e-01, 2.14921564e-04, 9.99999977e-01, 2.07326584e-04,
        9.99999979e-01},
       0.7225200832},
      {"interleaved",
       10,
       {-5.44021111e-01, -8.39071529e-01, -2.20023185e-01, -9.75494643e-01, 1.18776483e-01, -9.92921018e-01,
        4.33079619e-01, -9.01355670e-01},
       {1.15478173e-03, 9.99999333e-01, 1.11397363e-03, 9.99999380e-01, 1.07460762e-03, 9.99999423e-01, 1.03663274e-03,
        9.99999463e-01},
       0.7225200832},
      {"doubled",
       2,
       {9.09297427e-01, -4.16146837e-01, 9.58144376e-01, -2.86285442e-01, 9.87046251e-01, -1.60435961e-01,
        9.99164200e-01, -4.08766567e-02},
       {2.66704286e-08, 1, 2.48187552e-08, 1, 2.30956397e-08, 1, 2.14921566e-08, 1},
       0.8600013331},
      {"doubled",
       10,
       {-5.44021111e-01, -8.39071529e-01, 1.18776483e-01, -9.92921018e-01, 6.92634182e-01, -7.21289047e-01,
        9.79174779e-01, -2.03019092e-01},
       {1.33352143e-07, 1, 1.24093776e-07, 1, 1.15478198e-07, 1, 1.07460783e-07, 1},
       0.8600013331},
  };
  for (const auto& c : cases) {
    const auto table = sinusoid_table(0, 11, 512, Choice<Sinusoid>(c.name));
    expect_close(table[c.position].narrow(0, 0, 8), torch::tensor(c.start), 6e-8, c.name);
    const auto end = table[c.position].narrow(0, 504, 8);
    const auto expected = torch::tensor(c.end, torch::kFloat64);
    expect_close(end / expected, torch::ones(8), 2e-7, c.name);
    const auto a = table[2].to(torch::kFloat64), b = table[10].to(torch::kFloat64);
    EXPECT_NEAR((a.dot(b) / (a.norm() * b.norm())).item<double>(), c.cosine, 1e-7) << c.name;
  }
}

// The same vectors as far as they are printed: features 0 to 27 (of position 10: to 23), and of 484 to 511 the sines,
// the cosines beside them being 1. Digits of float32.
TEST(Sinusoid, HasEveryPrintedFeatureOfThePublishedExample) {
  struct Case {
    int64_t position;
    std::vector<double> start, sines_at_the_end;
  };
  const Case cases[] = {
      {2,
       {9.09297407e-01, -4.16146845e-01, 9.58144367e-01, -2.86285430e-01, 9.87046242e-01, -1.60435960e-01,
        9.99164224e-01, -4.08766568e-02, 9.97479975e-01, 7.09482506e-02,  9.84703004e-01, 1.74241230e-01,
        9.63226616e-01, 2.68690288e-01,  9.35118318e-01, 3.54335666e-01,  9.02130723e-01, 4.31462824e-01,
        8.65725577e-01, 5.00518918e-01,  8.27103794e-01, 5.62049210e-01,  7.87237823e-01, 6.16649508e-01,
        7.46903539e-01, 6.64932430e-01,  7.06710517e-01, 7.07502782e-01},
       {5.47683925e-08, 5.09659337e-08, 4.74274735e-08, 4.41346799e-08, 4.10704999e-08, 3.82190599e-08, 3.55655878e-08,
        3.30963417e-08, 3.07985317e-08, 2.86602511e-08, 2.66704294e-08, 2.48187551e-08, 2.30956392e-08,
        2.14921574e-08}},
      {10,
       {-5.44021130e-01, -8.39071512e-01, 1.18776485e-01,  -9.92920995e-01, 6.92634165e-01,  -7.21289039e-01,
        9.79174793e-01,  -2.03019097e-01, 9.37632740e-01,  3.47627431e-01,  6.40478015e-01,  7.67976522e-01,
        2.09077001e-01,  9.77899194e-01,  -2.37917677e-01, 9.71285343e-01,  -6.12936735e-01, 7.90131986e-01,
        -8.67519796e-01, 4.97402608e-01,  -9.87655997e-01, 1.56638563e-01,  -9.83699203e-01, -1.79821849e-01},
       {2.73841977e-07, 2.54829672e-07, 2.37137371e-07, 2.20673414e-07, 2.05352507e-07, 1.91095296e-07, 1.77827943e-07,
        1.65481708e-07, 1.53992659e-07, 1.43301250e-07, 1.33352145e-07, 1.24093773e-07, 1.15478201e-07,
        1.07460785e-07}},
  };
  const auto table = sinusoid_table(0, 11, 512, Sinusoid::kDoubled).to(torch::kFloat64);
  for (const auto& c : cases) {
    const auto found = table[c.position];
    for (size_t k = 0; k < c.start.size(); ++k)
      EXPECT_NEAR(found[static_cast<int64_t>(k)].item<double>(), c.start[k], 6e-8) << c.position << " feature " << k;
    ASSERT_EQ(c.sines_at_the_end.size(), 14u);
    for (int64_t i = 0; i < 14; ++i) {
      const double sine = c.sines_at_the_end[static_cast<size_t>(i)];
      EXPECT_NEAR(found[484 + 2 * i].item<double>() / sine, 1, 2e-7) << c.position << " feature " << 484 + 2 * i;
      EXPECT_EQ(found[485 + 2 * i].item<double>(), 1) << c.position << " feature " << 485 + 2 * i;
    }
  }
}

TEST(Sinusoid, RowsGrowBothWays) {
  SinusoidRows sinusoids(6, Sinusoid::kInterleaved);
  for (const int64_t first : {0, 3, 700, -5, -300, 2})
    EXPECT_TRUE(sinusoids.rows(first, 9).equal(sinusoid_table(first, 9, 6, Sinusoid::kInterleaved))) << first;
  EXPECT_TRUE(sinusoids.rows(0, 1).equal(torch::tensor({{0.f, 1.f, 0.f, 1.f, 0.f, 1.f}})));
}

}  // namespace
}  // namespace nmt::sinusoid_test
