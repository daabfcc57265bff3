#include "nn/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt {
namespace {

// sin and cos of position / 10000^(2 pair / 8) to six digits.
TEST(Sinusoid, HasThePublishedValues) {
  const auto interleaved = torch::tensor({{.841471, .540302, .099833, .995004, .010000, .999950, .001000, 1.000000},
                                          {.909297, -.416147, .198669, .980067, .019999, .999800, .002000, .999998}});
  const auto half = torch::tensor({{.841471, .099833, .010000, .001000, .540302, .995004, .999950, 1.000000},
                                   {.909297, .198669, .019999, .002000, -.416147, .980067, .999800, .999998}});
  test::expect_close(sinusoid_table(1, 2, 8, Sinusoid::kInterleaved), interleaved, 1e-6);
  test::expect_close(sinusoid_table(1, 2, 8, Sinusoid::kHalfSplit), half, 1e-6);
}

TEST(Sinusoid, GrowsWithTheSentence) {
  const auto positions = make_positions("sinusoidal", "interleaved", 6, 0);
  EXPECT_TRUE(positions->rows(700, 2).equal(sinusoid_table(700, 2, 6, Sinusoid::kInterleaved)));
  EXPECT_TRUE(positions->rows(0, 1).equal(torch::tensor({{0.f, 1.f, 0.f, 1.f, 0.f, 1.f}})));
}

TEST(LearnedPositions, RefuseMoreThanTheyHave) {
  const auto positions = make_positions("learned", "", 4, 10);
  EXPECT_EQ(positions->rows(3, 7).size(0), 7);
  EXPECT_THAT(test::message_of<Error>([&] { positions->rows(3, 8); }),
              testing::HasSubstr("a sentence of 11 tokens does not fit the 10 learned positions"));
}

TEST(Positions, NameTheirChoices) {
  EXPECT_EQ(make_positions("none", "", 4, 10), nullptr);
  EXPECT_THAT(test::message_of<Error>([] { make_positions("rotary", "", 4, 10); }),
              testing::HasSubstr("'rotary' is none of"));
}

}  // namespace
}  // namespace nmt
