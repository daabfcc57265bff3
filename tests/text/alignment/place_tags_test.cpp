#include "text/place_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <random>

#include "text/alignment/toy_translators.h"

namespace nmt::place_tags_test {
namespace {

/// A source text with tags [0 ... ] and elements without words (1): parsed, placed in `target`, written the same way.
std::string placed(const std::string& marked, const std::string& target, const std::string& links,
                   TagNeighbour neighbour = TagNeighbour::kNeither) {
  std::string source;
  std::vector<TagSpan> spans;
  std::vector<size_t> open;
  std::string names;
  for (size_t i = 0; i < marked.size(); ++i) {
    const auto parent = open.empty() ? kNone : open.back();
    if (marked[i] == '[') {
      open.push_back(spans.size());
      names += marked[++i];
      spans.push_back({source.size(), source.size(), parent});
    } else if (marked[i] == ']') {
      spans[open.back()].end = source.size();
      open.pop_back();
    } else if (marked[i] == '(') {
      names += marked[++i];
      spans.push_back({source.size(), source.size(), parent, neighbour});
      ++i;
    } else {
      source += marked[i];
    }
  }
  const auto translation = test::aligned(source, target, links);
  std::string out;
  size_t at = 0;
  for (const auto& event : place_tags(source, spans, translation)) {
    out += target.substr(at, event.position - at);
    at = event.position;
    const bool is_pair = marked.find(std::string("[") + names[event.span]) != marked.npos;
    out += is_pair ? (event.closes ? std::string("]") : std::string("[") + names[event.span])
                   : (event.closes ? std::string() : std::string("(") + names[event.span] + ")");
  }
  return out + target.substr(at);
}

TEST(PlaceTags, AroundTheAlignedWord) {
  EXPECT_EQ(placed("the [ared] house", "das rote Haus", "0-0 1-1 2-2"), "das [arote] Haus");
  EXPECT_EQ(placed("the [ared] house", "la maison rouge", "0-0 1-2 2-1"), "la maison [arouge]");
  EXPECT_EQ(placed("the [ared house] here", "hier das rote Haus", "0-1 1-2 2-3 3-0"), "hier das [arote Haus]");
}

TEST(PlaceTags, AroundAllOfTheTextWhereItHeldAll) {
  EXPECT_EQ(placed("[athe house]", "ein kleines Haus dort", "1-2"), "[aein kleines Haus dort]");
  EXPECT_EQ(placed("[a[bthe house]]", "ein kleines Haus dort", "1-2"), "[a[bein kleines Haus dort]]");
}

TEST(PlaceTags, WordsThatBelongToNothingGoWithTheEndOfTheirParent) {
  EXPECT_EQ(placed("[ahouse] here", "das Haus hier", "0-1 1-2"), "[adas Haus] hier");
  EXPECT_EQ(placed("see [ahim]", "sieh ihn an", "0-0 1-1"), "sieh [aihn an]");
}

TEST(PlaceTags, OneRunOfScatteredWords) {
  EXPECT_EQ(placed("he [aturned off] the light", "er schaltete das Licht aus", "0-0 1-1 2-4 3-2 4-3"),
            "er [aschaltete] das Licht aus");
  // Words that belong to nothing do not part a run.
  EXPECT_EQ(placed("[ared house] here", "rotes kleines Haus hier", "0-0 1-2 2-3"), "[arotes kleines Haus] hier");
}

TEST(PlaceTags, NestAsTheyDid) {
  EXPECT_EQ(placed("see [athe [bred] house] now", "jetzt la maison rouge", "1-1 2-3 3-2 4-0 0-0"),
            "jetzt [ala maison [brouge]]");
  // The word of the inner one is outside of the run of the outer one: it stays inside, without words.
  EXPECT_EQ(placed("x [aa [bb]] y z", "B Y Z A X", "0-4 1-3 2-0 3-1 4-2"), "[a[bB]] Y Z A X");
  EXPECT_EQ(placed("x [aa c [bb]] y z", "B Y Z C A X", "0-5 1-4 2-3 3-0 4-1 5-2"), "B Y Z [aC A[b]] X");
  EXPECT_EQ(placed("x [aa [bb] c d] e", "B A C D E", "0-4 1-1 2-0 3-2 4-3 5-4"), "[a[bB] A C D] E");
}

TEST(PlaceTags, SiblingsShareNoWord) {
  EXPECT_EQ(placed("[aNew] [bYork] x", "Newyork x", "0-0 1-0 2-1"), "[aNewyork][b] x");
  EXPECT_EQ(placed("[aone] [btwo] [cthree]", "drei zwei eins", "0-2 1-1 2-0"), "[cdrei] [bzwei] [aeins]");
}

TEST(PlaceTags, PunctuationStaysOutside) {
  EXPECT_EQ(placed("a [ared].", "ein rotes.", "0-0 1-1"), "ein [arotes].");
  EXPECT_EQ(placed("a [ared.]", "ein rotes.", "0-0 1-1"), "ein [arotes.]");
  EXPECT_EQ(placed("say \"[ano]\" twice", "zweimal \"nein\" sagen", "0-2 1-1 2-0"), "zweimal \"[anein]\" sagen");
}

TEST(PlaceTags, ElementsWithoutWordsGoBetweenTheirNeighbours) {
  EXPECT_EQ(placed("one (a)two three", "eins zwei drei", "0-0 1-1 2-2"), "eins(a) zwei drei");
  EXPECT_EQ(placed("one (a)two three", "eins zwei drei", "0-0 1-1 2-2", TagNeighbour::kRight), "eins (a)zwei drei");
  EXPECT_EQ(placed("(a)one two", "zwei eins", "0-1 1-0"), "(a)zwei eins");
  EXPECT_EQ(placed("one two(a)", "zwei eins", "0-1 1-0"), "zwei eins(a)");
  EXPECT_EQ(placed("one two(a) three", "zwei eins drei", "0-1 1-0 2-2", TagNeighbour::kLeft), "zwei(a) eins drei");
  // Neighbours without links are passed over.
  EXPECT_EQ(placed("one so (a)very two", "eins zwei", "0-0 3-1"), "eins(a) zwei");
}

TEST(PlaceTags, ElementsWithoutWordsKeepTheirOrderAndTheirParent) {
  EXPECT_EQ(placed("one (a)(b)(c)two", "zwei eins", "0-1 1-0"), "zwei eins(a)(b)(c)");
  EXPECT_EQ(placed("x [aone (b)two] y", "y zwei eins x", "0-3 1-2 2-1 3-0"), "y [azwei eins(b)] x");
  EXPECT_EQ(placed("x [a(b)] y", "x y", "0-0 1-1"), "x[a(b)] y");
  // Not into the middle of another element.
  EXPECT_EQ(placed("one (b)[atwo three so] four", "zwei eins drei so vier", "0-1 1-0 2-2 3-3 4-4", TagNeighbour::kLeft),
            "zwei eins(b) [adrei so] vier");
  EXPECT_EQ(
      placed("one (b)[atwo three so] four", "zwei eins drei so vier", "0-1 1-0 1-1 2-2 3-3 4-4", TagNeighbour::kLeft),
      "(b)[azwei eins drei so] vier");
}

TEST(PlaceTags, WithoutAnAlignmentByPlace) {
  EXPECT_EQ(placed("one two [athree] four", "eins zwei drei vier", ""), "eins zwei [adrei] vier");
  EXPECT_EQ(placed("one two [athree]", "eins", ""), "[aeins]");
  EXPECT_EQ(placed("one [atwo]", "", ""), "[a]");
  EXPECT_EQ(placed("[a](b)", "eins", ""), "[a](b)eins");
}

TEST(PlaceTags, WordsOfScriptsWithoutSpaces) { EXPECT_EQ(placed("one [atwo]", "\u4E00\u4E8C", ""), "\u4E00[a\u4E8C]"); }

struct Generated {
  std::string source;
  std::vector<TagSpan> spans;
  AlignedTranslation target;
};

Generated generate(std::mt19937& random) {
  const auto text = [&] {
    std::string out;
    const size_t words = random() % 8;
    for (size_t i = 0; i < words; ++i) {
      static const std::vector<std::string> kParts = {"ab",      "c", "d.", "\u00E9t\u00E9", "\u4E00\u4E8C", "(x)",
                                                      "e\u0301", "-", "12"};
      out += (i ? " " : "") + kParts[random() % kParts.size()];
    }
    return out;
  };
  Generated made{.source = text(), .spans = {}, .target = {text()}};
  const size_t size = made.source.size();
  // Nested spans with any borders.
  const std::function<void(size_t, size_t, size_t, int)> add = [&](size_t begin, size_t end, size_t parent, int depth) {
    while (begin <= end && random() % 3) {
      const size_t from = begin + random() % (end - begin + 1), to = from + random() % (end - from + 1);
      const auto neighbour = static_cast<TagNeighbour>(random() % 3);
      made.spans.push_back({from, to, parent, neighbour});
      if (depth < 4) add(from, to, made.spans.size() - 1, depth + 1);
      begin = to + (random() % 2);
    }
  };
  add(0, size, kNone, 0);
  const size_t pairs = random() % 10;
  for (size_t i = 0; i < pairs; ++i) {
    const auto place = [&](size_t most) { return random() % 50 == 0 ? random() : random() % (most + 1); };
    made.target.alignment.push_back(
        {place(size), place(size), place(made.target.text.size()), place(made.target.text.size())});
  }
  return made;
}

TEST(PlaceTags, AnyInputGivesEachTagOnceWellNested) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const auto made = generate(random);
    const auto events = place_tags(made.source, made.spans, made.target);
    ASSERT_EQ(events.size(), 2 * made.spans.size());
    std::vector<size_t> open;
    std::vector<int> seen(made.spans.size(), 0);
    size_t at = 0;
    for (const auto& event : events) {
      ASSERT_GE(event.position, at);
      at = event.position;
      ASSERT_LE(at, made.target.text.size());
      // Between characters.
      ASSERT_TRUE(at == made.target.text.size() || (made.target.text[at] & 0xC0) != 0x80);
      if (event.closes) {
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(open.back(), event.span);
        open.pop_back();
      } else {
        ASSERT_EQ(made.spans[event.span].parent, open.empty() ? kNone : open.back());
        open.push_back(event.span);
        ++seen[event.span];
      }
    }
    ASSERT_TRUE(open.empty());
    for (const int count : seen) ASSERT_EQ(count, 1);
  }
}

TEST(PlaceTags, TakesTimeThatGrowsWithTheText) {
  std::string marked, target, links;
  for (int i = 0; i < 20000; ++i) {
    marked += "[aw] (b)";
    target += "v ";
    links += std::to_string(i) + "-" + std::to_string(19999 - i) + " ";
  }
  std::string source;
  std::vector<TagSpan> spans;
  for (int i = 0; i < 20000; ++i) {
    spans.push_back({source.size(), source.size() + 1});
    source += "w ";
    spans.push_back({source.size(), source.size()});
  }
  const std::clock_t started = std::clock();
  EXPECT_EQ(place_tags(source, spans, test::aligned(source, target, links)).size(), 80000);
  EXPECT_LT(std::clock() - started, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace nmt::place_tags_test
