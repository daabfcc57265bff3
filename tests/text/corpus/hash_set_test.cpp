#include "text/corpus/hash_set.h"

#include <gmock/gmock.h>

#include <string>
#include <unordered_set>

#include "base/error.h"
#include "base/random.h"
#include "support.h"

namespace nmt::hash_set_test {
namespace {

TEST(HashSet, AgreesWithTheStandardSet) {
  HashSet set;
  std::unordered_set<uint64_t> expected;
  CounterRandom random({7});
  for (int i = 0; i < 50000; ++i) {
    const uint64_t key = random.below(40000);  // small, so also neighbours and repeats, and zero
    EXPECT_EQ(set.contains(key),
              expected.contains(key) || (key <= 1 && (expected.contains(0) || expected.contains(1))));
    EXPECT_EQ(set.insert(key), key <= 1 ? !expected.contains(0) && !expected.contains(1) : !expected.contains(key));
    expected.insert(key);
  }
  EXPECT_EQ(set.size(), static_cast<int64_t>(expected.size()) - 1);  // 0 and 1 are one
  EXPECT_FALSE(set.contains(1u << 30));
}

TEST(HashSet, AgreesWithTheStandardSetWhenMostOfItIsInAFile) {
  const test::TemporaryDirectory folder;
  HashSet set(folder.path(), 700);
  std::unordered_set<uint64_t> expected;
  CounterRandom random({7});
  for (int i = 0; i < 50000; ++i) {
    const uint64_t key = mix64(2 + random.below(20000));  // over the whole range
    ASSERT_EQ(set.contains(key), expected.contains(key));
    ASSERT_EQ(set.insert(key), expected.insert(key).second);
    ASSERT_EQ(set.size(), std::ssize(expected));
  }
  EXPECT_GT(set.size(), 15000);
  for (const uint64_t key : expected) {
    EXPECT_TRUE(set.contains(key));
    EXPECT_EQ(set.contains(key + 1), expected.contains(key + 1));
    EXPECT_EQ(set.contains(key - 1), expected.contains(key - 1));
  }
  for (const uint64_t key : {uint64_t{0}, ~uint64_t{0}}) {
    EXPECT_TRUE(set.insert(key));
    EXPECT_TRUE(set.contains(key));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the file has no name";
}

TEST(HashSet, SaysThatTheDiskRefuses) {
  HashSet set("/nowhere", 3);
  EXPECT_TRUE(set.insert(1) && set.insert(2));
  EXPECT_THAT(test::message_of<Error>([&] { set.insert(3); }), testing::HasSubstr("/nowhere"));
}

TEST(HashOfText, DiffersForTextsThatAreNearlyAlike) {
  HashSet set;
  int64_t texts = 0;
  std::string text;
  for (int length = 0; length < 40; ++length, text += 'a') {
    for (const char* end : {"", "b", "c", " ", "\x01"}) {
      EXPECT_TRUE(set.insert(hash_of_text(text + end))) << text + end;
      ++texts;
    }
  }
  EXPECT_TRUE(set.insert(hash_of_text(std::string(3, '\0'))));
  EXPECT_TRUE(set.insert(hash_of_text(std::string(4, '\0'))));
  EXPECT_EQ(set.size(), texts + 2);
}

}  // namespace
}  // namespace nmt::hash_set_test
