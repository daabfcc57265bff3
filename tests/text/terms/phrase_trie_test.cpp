#include <gtest/gtest.h>

#include <vector>

#include "text/terms.h"

namespace nmt::phrase_trie_test {
namespace {

using Words = std::vector<std::string_view>;

TEST(PhraseTrie, FindsTheLongest) {
  PhraseTrie trie;
  EXPECT_EQ(trie.longest(Words{"a"}).words, 0u);
  EXPECT_EQ(trie.add(Words{"a", "b", "c"}, 7), std::nullopt);
  EXPECT_EQ(trie.add(Words{"a"}, 8), std::nullopt);
  EXPECT_EQ(trie.add(Words{"b"}, 9), std::nullopt);
  EXPECT_EQ(trie.add(Words{"a"}, 10), std::optional<size_t>(8)) << "it is there";
  const auto expect = [&](const Words& words, size_t length, size_t number) {
    const auto found = trie.longest(words);
    EXPECT_EQ(found.words, length);
    EXPECT_EQ(length > 0 ? found.number : number, number);
  };
  expect({"a", "b", "c", "d"}, 3, 7);
  expect({"a", "b", "d"}, 1, 8);
  expect({"b", "c"}, 1, 9);
  expect({"c"}, 0, 0);
  expect({"new"}, 0, 0);
  expect({}, 0, 0);
}

}  // namespace
}  // namespace nmt::phrase_trie_test
