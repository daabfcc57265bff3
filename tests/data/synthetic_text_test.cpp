#include "data/synthetic_text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::synthetic_text_test {
namespace {

TEST(SyntheticText, IsReadAsItWasWritten) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "bt.tsv";
  EXPECT_FALSE(SyntheticText::read(file));
  const SyntheticText text{
      .side = SyntheticSide::kTarget, .symbols = {"<BT>", "<blank>"}, .sha256 = "abc", .made = {{"seed", 7}}};
  text.write(file);
  const auto read = SyntheticText::read(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->to_json(), text.to_json());
  EXPECT_EQ(read->side, SyntheticSide::kTarget);
}

TEST(SyntheticText, OnlyItsOwnFormIsRead) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "bt.tsv", record = synthetic_text_file(file);
  for (const char* other : {"", "no JSON", "[1]", "{\"format\": \"x\"}", "{\"format\": 1}", "{\"pairs\": 3}"}) {
    write_file_atomically(record, other);
    EXPECT_FALSE(SyntheticText::read(file)) << other;
  }
  const auto whole = SyntheticText{.made = "x"}.to_json();
  for (const char* key : {"version", "side", "symbols", "sha256", "made"}) {
    auto damaged = whole;
    damaged.erase(key);
    write_file_atomically(record, damaged.dump());
    EXPECT_NE(test::message_of<Error>([&] { SyntheticText::read(file); }).find("bt.tsv.json: damaged"),
              std::string::npos)
        << key;
  }
  auto later = whole;
  later["version"] = 2;
  write_file_atomically(record, later.dump());
  EXPECT_NE(test::message_of<Error>([&] { SyntheticText::read(file); }).find("another version"), std::string::npos);
}

}  // namespace
}  // namespace nmt::synthetic_text_test
