#include "convert/formats/weight_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::convert::weight_file_test {
namespace {

using test::Archive;
using test::message_of;
using test::number;
using testing::ElementsAre;
using testing::HasSubstr;

/// An .npz with w [2, 3] = 0 .. 5.
std::string npz() {
  std::string array = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  array = std::string("\x93NUMPY\x01\0", 8) + number(static_cast<uint16_t>(array.size())) + array;
  for (int i = 0; i < 6; ++i) array += number(static_cast<float>(i));
  return Archive().add("w.npy", array).bytes();
}

class WeightFileTest : public testing::Test {
 protected:
  void SetUp() override { write_file_atomically(folder_ / "x.npz", npz()); }
  test::TemporaryDirectory folder_;
};

TEST_F(WeightFileTest, SwapsAxesOnDemand) {
  WeightFile file(folder_ / "x.npz");
  EXPECT_THAT(file.read("w", {2, 3}).values, ElementsAre(0, 1, 2, 3, 4, 5));
  file.transpose("w");
  EXPECT_THAT(file.read("w", {3, 2}).values, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(message_of<Error>([&] { file.read("w", {2, 3}); }), HasSubstr("tensor w is [3, 2]"));
  EXPECT_THAT(message_of<Error>([&] { file.read("v", {2, 3}); }), HasSubstr("tensor v is missing"));
}

TEST_F(WeightFileTest, RefusesATensorThatNobodyReads) {
  const WeightFile file(folder_ / "x.npz");
  file.refuse_others({"v", "w"});
  EXPECT_THAT(message_of<Error>([&] { file.refuse_others({"v"}); }), HasSubstr("x.npz: tensor w belongs to no part"));
}

// A small file that names one tensor many times must not fill the memory.
TEST_F(WeightFileTest, ReadsNoMoreThanTwiceTheFile) {
  WeightFile file(folder_ / "x.npz");
  int reads = 0;
  const auto message = message_of<Error>([&] {
    for (; reads < 1000; ++reads) file.read("w", {2, 3});
  });
  EXPECT_THAT(message, HasSubstr("one and the same"));
  EXPECT_NEAR(reads, 2.0 * npz().size() / (6 * sizeof(float)), 1);
}

}  // namespace
}  // namespace nmt::convert::weight_file_test
