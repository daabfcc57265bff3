#include "translation/synthesis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::synthesis_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

Translation translation_of(const std::vector<std::string>& texts) {
  Translation translation{.text = texts.empty() ? "" : texts.front()};
  for (const auto& text : texts) translation.alternatives.push_back({.text = text});
  return translation;
}

std::string pair_of(PairMaker& pairs, const std::string& source, const std::vector<std::string>& texts,
                    int64_t number = 1) {
  const auto translation = translation_of(texts);
  return pairs.line({.number = number, .source = source, .translation = translation});
}

TEST(PairMaker, TheInputIsTheTargetOrTheSource) {
  PairMaker back({.tag = "<BT>"});
  EXPECT_EQ(pair_of(back, "a dog", {"ein Hund"}), "<BT> ein Hund\ta dog\n");
  EXPECT_EQ(pair_of(back, "a\tdog", {"ein\tHund"}), "<BT> ein Hund\ta dog\n");
  EXPECT_EQ(pair_of(back, "", {}), "\t\n");
  EXPECT_THAT(back.symbols(), ElementsAre("<BT>"));
  PairMaker forward({.side = SyntheticSide::kTarget});
  EXPECT_EQ(pair_of(forward, "a dog", {"ein Hund"}), "a dog\tein Hund\n");
  EXPECT_TRUE(forward.symbols().empty());
}

TEST(PairMaker, TakesTheNearestOfTheBest) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "references", "c c\n\nb\n");
  PairMaker pairs({.side = SyntheticSide::kTarget});
  pairs.nearest_to(LineReader(folder / "references"), [](std::string_view text, std::string_view reference) {
    return reference.empty() ? 0.0 : static_cast<double>(std::ranges::count(text, reference[0]));
  });
  EXPECT_EQ(pair_of(pairs, "1", {"a", "c", "c c", "cc"}), "1\tc c\n") << "of equal ones the first";
  EXPECT_EQ(pair_of(pairs, "2", {"a", "c"}), "2\ta\n");
  EXPECT_THAT(message_of<Error>([&] { pairs.finish(); }), HasSubstr("has more lines than the input"));
  EXPECT_THAT(message_of<Error>([&] { pair_of(pairs, "4", {"a"}, 4); }), HasSubstr("ends before line 4 of the input"));
}

TEST(Noise, IsAFunctionOfSeedAndLine) {
  const std::string text = "one two three four five six seven eight nine ten";
  const auto line = [&](uint64_t seed, int64_t first, int64_t number) {
    PairMaker pairs({.noise = 0.2, .seed = seed, .first_line = first});
    return pair_of(pairs, "x", {text}, number);
  };
  EXPECT_EQ(line(1, 0, 7), line(1, 5, 2)) << "the number of the line in the whole text";
  EXPECT_NE(line(1, 0, 7), line(1, 0, 8));
  EXPECT_NE(line(1, 0, 7), line(2, 0, 7));
  PairMaker pairs({.tag = "<BT>", .noise = 0.2});
  EXPECT_THAT(pairs.symbols(), ElementsAre("<BT>", "<blank>"));
}

TEST(Noise, DropsBlanksAndMovesWords) {
  constexpr int kWords = 20, kTexts = 500;
  std::string text;
  for (int i = 0; i < kWords; ++i) text += std::to_string(i) + " ";
  int words = 0, blanks = 0, moved = 0;
  for (uint64_t seed = 0; seed < kTexts; ++seed) {
    const auto noisy = with_noise(text, 0.1, CounterRandom({seed}));
    std::vector<int> kept;
    std::string word;
    for (std::istringstream stream(noisy); stream >> word;) {
      ++words;
      if (word == kBlank)
        ++blanks;
      else
        kept.push_back(std::stoi(word));
    }
    moved += !std::ranges::is_sorted(kept);
    for (size_t i = 0; i < kept.size(); ++i)
      for (size_t j = i + 1; j < kept.size(); ++j) EXPECT_LT(kept[i] - kept[j], 4) << noisy;
  }
  EXPECT_NEAR(words, kWords * kTexts * 0.9, 150);
  EXPECT_NEAR(blanks, kWords * kTexts * 0.1, 150);
  EXPECT_GT(moved, kTexts * 9 / 10);
  EXPECT_EQ(with_noise(" ", 0.1, CounterRandom({1})), "");
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_NE(with_noise("a b", 0.5, CounterRandom({seed})), "");
}

}  // namespace
}  // namespace nmt::synthesis_test
