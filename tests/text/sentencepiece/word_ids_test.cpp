#include <gmock/gmock.h>

#include <map>
#include <string>

#include "base/random.h"
#include "text/sentencepiece/word_encoder.h"

namespace nmt::word_ids_test {
namespace {

using Ids = std::vector<int32_t>;

Ids found(const WordIds& words, std::string_view word) {
  const auto ids = words.find(word);
  return ids ? Ids(ids->begin(), ids->end()) : Ids{-1};
}

TEST(WordIds, FindsWhatWasInserted) {
  WordIds words(1000);
  words.insert("haus", Ids{7, 8});
  words.insert("hau", Ids{9});
  words.insert("", Ids{});
  words.insert(std::string_view("a\0b", 3), Ids{1, 2, 3});
  EXPECT_EQ(found(words, "haus"), (Ids{7, 8}));
  EXPECT_EQ(found(words, "hau"), Ids{9});
  EXPECT_EQ(found(words, ""), Ids{});
  EXPECT_EQ(found(words, std::string_view("a\0b", 3)), (Ids{1, 2, 3}));
  EXPECT_EQ(found(words, "ha"), Ids{-1});
  EXPECT_EQ(found(words, std::string_view("a\0c", 3)), Ids{-1});
  EXPECT_EQ(words.size(), 4u);
}

TEST(WordIds, AgreesWithAMapOrForgets) {
  WordIds words(3000);
  std::map<std::string, Ids> all;
  CounterRandom random({3});
  size_t known = 0, largest = 0;
  for (int i = 0; i < 50000; ++i) {
    const std::string word = "w" + std::to_string(random.below(700));
    if (const auto ids = words.find(word)) {
      ASSERT_EQ(Ids(ids->begin(), ids->end()), all.at(word));
      ++known;
      continue;
    }
    all[word].assign(random.below(5), static_cast<int32_t>(i));
    words.insert(word, all[word]);
    ASSERT_EQ(found(words, word), all[word]);
    largest = std::max(largest, words.size());
  }
  EXPECT_GT(known, 25000u);
  // Five numbers a word: all 700 have no space at once.
  EXPECT_GT(largest, 400u);
  EXPECT_LT(largest, 700u);
}

TEST(WordIds, KeepsSlotsFreeWhereWordsAreShort) {
  WordIds words(400);  // 128 slots
  for (int i = 0; i < 10000; ++i) {
    words.insert(std::to_string(i), Ids{});
    ASSERT_LE(words.size(), 96u);
    ASSERT_EQ(found(words, "no such word"), Ids{-1});
  }
}

TEST(WordIds, LeavesOutWhatHasNoRoom) {
  for (const size_t capacity : {0, 1, 2, 5}) {
    WordIds words(capacity);
    words.insert("a long word", Ids{1, 2, 3});
    EXPECT_EQ(found(words, "a long word"), Ids{-1}) << capacity;
    words.insert("a", Ids{1});
    EXPECT_EQ(words.size(), capacity >= 5 ? 1u : 0u) << capacity;
  }
}

}  // namespace
}  // namespace nmt::word_ids_test
