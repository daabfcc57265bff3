#include "convert/formats/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "archive.h"
#include "base/error.h"

namespace nmt::convert::array_test {
namespace {

using testing::ElementsAre;

// Patterns of IEEE 754 binary16; numpy.float16 gives the same.
TEST(Half, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(to_half(0.0f), 0x0000);
  EXPECT_EQ(to_half(-0.0f), 0x8000);
  EXPECT_EQ(to_half(1.0f), 0x3C00);
  EXPECT_EQ(to_half(-2.5f), 0xC100);
  EXPECT_EQ(to_half(1.0f / 3), 0x3555);
  EXPECT_EQ(to_half(65504.0f), 0x7BFF);
  EXPECT_EQ(to_half(1e9f), 0x7BFF) << "no infinity";
  EXPECT_EQ(to_half(-1e9f), 0xFBFF);
  EXPECT_EQ(to_half(0x1p-24f), 0x0001);
  EXPECT_EQ(to_half(0x1p-25f), 0x0000) << "tie to even";
  EXPECT_EQ(to_half(0x1.8p-24f), 0x0002) << "tie to even";
  EXPECT_EQ(to_half(2049.0f), 0x6800) << "tie to even";
  EXPECT_EQ(to_half(2051.0f), 0x6802) << "tie to even";
  EXPECT_EQ(to_half(2047.9f), 0x6800) << "carries into the exponent";
}

TEST(Half, EveryNumberComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_half(static_cast<uint16_t>(bits));
    if (std::isfinite(value)) {
      ASSERT_EQ(to_half(value), bits);
    }
  }
}

TEST(Bfloat16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(to_bfloat16(1.0f), 0x3F80);
  EXPECT_EQ(to_bfloat16(0x1.01p0f), 0x3F80) << "tie to even";
  EXPECT_EQ(to_bfloat16(0x1.03p0f), 0x3F82) << "tie to even";
  EXPECT_EQ(to_bfloat16(-0x1.011p0f), 0xBF81);
}

TEST(Array, RowsAndColumnsArePicked) {
  const Array matrix{.shape = {2, 3}, .values = {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(pick_rows(matrix, std::vector<int64_t>{1, -1, 0}).values, ElementsAre(4, 5, 6, 0, 0, 0, 1, 2, 3));
  EXPECT_THAT(pick_columns(matrix, std::vector<int64_t>{2, 0}).values, ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(pick_columns(matrix, std::vector<int64_t>{-1, 1}).values, ElementsAre(0, 2, 0, 5));
  const Array vector{.shape = {3}, .values = {1, 2, 3}};
  EXPECT_THAT(pick_rows(vector, std::vector<int64_t>{2, 0, 1}).values, ElementsAre(3, 1, 2));
  EXPECT_THAT(join_rows({&matrix, &matrix}).shape, ElementsAre(4, 3));
}

TEST(Array, TypesOfWeightsAreConvertedAndOthersRefused) {
  const std::string bits = test::number(uint16_t{0x3F80}) + test::number(uint16_t{0x4000});
  const auto stored = [&](const char* type) {
    return StoredArray{.type = type, .shape = {2}, .data = test::as_bytes_of(bits)};
  };
  EXPECT_THAT(to_array(stored("BF16"), "f", "w").values, ElementsAre(1, 2));
  EXPECT_THAT(to_array(stored("F16"), "f", "w").values, ElementsAre(1.875, 2));
  EXPECT_THROW(to_array(stored("I64"), "f", "w"), Error);
  EXPECT_THROW(to_array(stored("F32"), "f", "w"), Error) << "too short";
}

}  // namespace
}  // namespace nmt::convert::array_test
