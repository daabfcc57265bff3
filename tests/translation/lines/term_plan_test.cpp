#include "translation/lines/term_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cctype>

#include "text/terms.h"

namespace nmt::term_plan_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Request request(const std::string& line, const std::string& tsv, bool placeholders = true) {
  Request request;
  request.source = line;
  request.terms.glossary = std::make_shared<const Glossary>(Glossary::parse(tsv, "terms"));
  request.terms.keep_placeholders = placeholders;
  return request;
}

bool anything(const std::string& /*phrase*/) { return true; }
bool nothing(const std::string& /*phrase*/) { return false; }

/// A translation of the plan's text into itself, word by word.
AlignedTranslation same_words(const std::string& text) {
  AlignedTranslation translation{.text = text};
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) translation.alignment.push_back({begin, end, begin, end});
    begin = end + 1;
  }
  return translation;
}

std::string restored(const std::string& line, const std::string& tsv) {
  const TermPlan plan(request(line, tsv), nothing, false);
  return plan.restored(same_words(plan.text())).text;
}

TEST(TermPlan, WithoutTermsLeavesTheLineAsItIs) {
  const TermPlan plan(request("Ein Hund.", "Katze\tcat\n"), anything, false);
  EXPECT_TRUE(plan.is_empty());
  EXPECT_EQ(plan.text(), "Ein Hund.");
  EXPECT_TRUE(plan.has_words());
  EXPECT_TRUE(plan.is_met("", {}));
}

TEST(TermPlan, ForcesWhatTheModelCanWrite) {
  const TermPlan plan(request("Ein Hund und ein Hund.", "Hund\thound\n"), anything, false);
  EXPECT_EQ(plan.text(), "Ein Hund und ein Hund.");
  EXPECT_THAT(plan.forced(), ElementsAre("hound"));
  EXPECT_TRUE(plan.is_met("a hound", {}));
  EXPECT_FALSE(plan.is_met("a dog", {}));
}

TEST(TermPlan, ForcesATermInThePartThatHasIt) {
  TermPlan plan(request("Ein Hund {x}. Die Katze. Ein Hund.", "Hund\thound\nKatze\tfeline\n"), anything, false);
  ASSERT_EQ(plan.text(), "Ein Hund. Die Katze. Ein Hund.");
  EXPECT_THAT(plan.forced(), ElementsAre("hound", "feline"));
  plan.divide({0, 10, 21});
  EXPECT_THAT(plan.forced(0), ElementsAre("hound"));
  EXPECT_THAT(plan.forced(1), ElementsAre("feline"));
  EXPECT_THAT(plan.forced(2), ElementsAre("hound"));
  const std::vector<std::string> right = {"a hound", "a feline", "a hound"}, wrong = {"a hound", "a feline", "a dog"};
  EXPECT_TRUE(plan.is_met("a hound a feline a hound", right));
  EXPECT_FALSE(plan.is_met("a hound a feline a dog", wrong));
}

TEST(TermPlan, CutsOutWhatItCannotWriteAndPlaceholders) {
  const TermPlan plan(request("Ein Hund zahlt {price} heute.", "Hund\th\u00F8und\n"), nothing, false);
  EXPECT_EQ(plan.text(), "Ein zahlt heute.");
  EXPECT_THAT(plan.forced(), IsEmpty());
  EXPECT_EQ(plan.restored(same_words(plan.text())).text, "Ein h\u00F8und zahlt {price} heute.");
}

TEST(TermPlan, KeepsTheSpacesAndSignsAround) {
  EXPECT_EQ(restored("Hallo {name}, wie geht es?", ""), "Hallo {name}, wie geht es?");
  EXPECT_EQ(restored("{name} sagt ja", ""), "{name} sagt ja");
  EXPECT_EQ(restored("er sagt %s", ""), "er sagt %s");
  EXPECT_EQ(restored("kostet (%d) viel", ""), "kostet (%d) viel");
  EXPECT_EQ(restored("von %s %s nach", ""), "von %s %s nach");
}

/// The translation of a line whose placeholders stand elsewhere: `text` with its words aligned with the cut text's.
std::string put_back(const std::string& line, const std::string& text, const std::vector<AlignedWords>& alignment) {
  const TermPlan plan(request(line, ""), nothing, false);
  return plan.restored({.text = text, .alignment = alignment}).text;
}

TEST(TermPlan, SticksToNoWordBesideWhichItDidNotStand) {
  // "a b" becomes "b a": what stood at the end of the line, before a full stop or at its beginning lands within.
  const std::vector<AlignedWords> crossed = {{0, 1, 2, 3}, {2, 3, 0, 1}};
  EXPECT_EQ(put_back("a b %s", "b a", crossed), "b a %s");
  EXPECT_EQ(put_back("a %s, b", "b a", {{0, 1, 2, 3}, {3, 4, 0, 1}}), "%s b a");
  EXPECT_EQ(put_back("a %s, b", "a b", {{0, 1, 0, 1}, {3, 4, 2, 3}}), "a %s b");
  EXPECT_EQ(put_back("a %s.", "a b.", {{0, 2, 0, 1}}), "a %s b.");
}

TEST(TermPlan, KeepsToTheWordBesideWhichItStood) {
  EXPECT_EQ(restored("{n}x so gro\u00DF", ""), "{n}x so gro\u00DF");
  EXPECT_EQ(restored("Datei{n} ist da", ""), "Datei{n} ist da");
}

TEST(TermPlan, ThereIsNoSpaceBeforeAFullStop) {
  const TermPlan plan(request("Ein Hund.", "Hund\th\u00F8und\n"), nothing, false);
  EXPECT_EQ(plan.text(), "Ein.");
  EXPECT_EQ(plan.restored(same_words("Ein.")).text, "Ein h\u00F8und.");
  EXPECT_EQ(restored("Ein {x} {y}, ja", ""), "Ein {x} {y}, ja");
  // What stood before a word comes to stand before the full stop, or behind a bracket.
  EXPECT_EQ(put_back("{x} a.", "a.", {{0, 1, 0, 1}}), "{x} a.");
  EXPECT_EQ(put_back("a {x} b.", "b a.", {{0, 1, 2, 3}, {2, 3, 0, 1}}), "b a {x}.");
}

TEST(TermPlan, AlignmentsCountWhatTheTextHasLost) {
  const std::string line = "ja {x}, ja {y}.";
  const TermPlan plan(request(line, ""), nothing, false);
  ASSERT_EQ(plan.text(), "ja, ja.");
  const auto result = plan.restored({.text = "ja, ja.", .alignment = {{0, 2, 0, 2}, {2, 3, 2, 3}, {4, 6, 4, 6}}});
  EXPECT_EQ(result.text, line);
  for (const auto& words : result.alignment)
    EXPECT_EQ(line.substr(words.source_begin, words.source_end - words.source_begin),
              result.text.substr(words.target_begin, words.target_end - words.target_begin));
}

TEST(TermPlan, WordsAreNotAlignedWithWhatStandsWithinThem) {
  const TermPlan plan(request("ja {x}, nein", ""), nothing, false);
  ASSERT_EQ(plan.text(), "ja, nein");
  // "ja," and "nein" are the words of the model.
  const auto result = plan.restored({.text = "yes, no", .alignment = {{0, 3, 0, 4}, {4, 8, 5, 7}}});
  EXPECT_EQ(result.text, "yes {x}, no");
  std::vector<std::array<size_t, 4>> found;
  for (const auto& [source_begin, source_end, target_begin, target_end] : result.alignment)
    found.push_back({source_begin, source_end, target_begin, target_end});
  using Words = std::array<size_t, 4>;
  EXPECT_THAT(found, ElementsAre(Words{3, 6, 4, 7}, Words{0, 2, 0, 3}, Words{8, 12, 9, 11}));
}

TEST(TermPlan, ThePrefixHasItsLiterals) {
  auto wanted = request("sieh ({x}) und %s.", "");
  wanted.prefix = "Und %s, {x} da";
  const TermPlan plan(wanted, nothing, false);
  EXPECT_EQ(plan.prefix(), "Und, da");
  EXPECT_EQ(plan.restored({.text = "Und, da sieht"}).text, "Und %s, {x} da sieht");
  EXPECT_TRUE(plan.has_constraints("Und %s, {x} da sieht"));
  EXPECT_FALSE(plan.has_constraints("{x} Und %s, da sieht"));
  wanted.prefix = "Und %s %s";
  EXPECT_EQ(TermPlan(wanted, nothing, false).prefix(), "Und %s") << "the line has one of them";
}

TEST(TermPlan, ThePrefixIsComparedAsTheModelWritesIt) {
  auto wanted = request("Da {x} ist er", "");
  wanted.prefix = "DA {x} IST";
  const auto small = [](const std::string& text) {
    std::string result = text;
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
  };
  const TermPlan plan(wanted, nothing, false, small);
  EXPECT_EQ(plan.prefix(), "DA IST");
  EXPECT_EQ(plan.restored({.text = "da ist er"}).text, "da {x} ist er");
  EXPECT_TRUE(plan.has_constraints("da {x} ist er"));
}

TEST(TermPlan, PhrasesLeaveOutWhatIsCutOut) {
  auto wanted = request("sieh {x} und", "");
  wanted.must = {"{x}", "da ({x}), dort", "hier"};
  const TermPlan plan(wanted, nothing, false);
  EXPECT_THAT(plan.must(), ElementsAre("da", "dort", "hier"));
  EXPECT_TRUE(plan.has_constraints("da ({x}), dort"));
  EXPECT_FALSE(plan.has_constraints("{x} da (), dort"));
}

TEST(TermPlan, WithoutWordsHasNothingToTranslate) {
  const TermPlan plan(request("{a}: %s", ""), anything, false);
  EXPECT_FALSE(plan.has_words());
  EXPECT_EQ(plan.restored({.text = plan.text()}).text, "{a}: %s");
}

TEST(TermPlan, SignsStayWhereTheyStandWithoutWords) {
  for (const char* line : {"{a}: %s!", "({a}) - [%s]", "{a} / {b}, {c}.", "!{a}!"}) {
    const TermPlan plan(request(line, ""), nothing, false);
    EXPECT_EQ(plan.restored({.text = plan.text()}).text, line);
  }
}

TEST(TermPlan, ATagIsNoWord) {
  const std::string tag = ">>de<< ";
  const auto plan = [&](const std::string& line, const std::string& tsv) {
    return TermPlan(request(tag + line, tsv), nothing, false, {}, tag.size());
  };
  const TermPlan signs = plan("{a}: %s", ""), words = plan("{a} Hund", "de\tof\nHund\tdog\n");
  EXPECT_FALSE(signs.has_words());
  const auto restored = signs.restored({.text = signs.text()});
  EXPECT_EQ(restored.text, "{a}: %s");
  ASSERT_EQ(restored.alignment.size(), 2u);
  EXPECT_EQ(restored.alignment[0].source_begin, tag.size()) << "of the line";
  EXPECT_FALSE(words.has_words()) << "both are cut out";
  EXPECT_EQ(words.restored({.text = words.text()}).text, "{a} dog");
  EXPECT_EQ(plan("{a} Katze", "de\tof\n").text(), ">>de<< Katze") << "what the model reads has its tag";
}

TEST(TermPlan, APlaceholderGoesBeforeATermInIt) {
  EXPECT_EQ(restored("siehe https://hund.org/Hund jetzt", "Hund\thound\n"), "siehe https://hund.org/Hund jetzt");
}

TEST(TermPlan, AlignsWordsAndLiteralsWithTheLine) {
  const std::string line = "Ein {n} Hund";
  const TermPlan plan(request(line, ""), nothing, false);
  const auto result = plan.restored(same_words(plan.text()));
  EXPECT_EQ(result.text, line);
  for (const auto& words : result.alignment) {
    EXPECT_EQ(line.substr(words.source_begin, words.source_end - words.source_begin),
              result.text.substr(words.target_begin, words.target_end - words.target_begin));
  }
  EXPECT_EQ(result.alignment.size(), 3u);
}

TEST(TermPlan, PutsEveryLiteralInOnceWithoutAnAlignment) {
  const TermPlan plan(request("a {x} b %s c https://e.org", ""), nothing, false);
  for (const std::string translation : {"", "one", "one two three four five", "one,two. three!"}) {
    const auto text = plan.restored({.text = translation}).text;
    for (const std::string literal : {"{x}", "%s", "https://e.org"}) {
      const auto at = text.find(literal);
      ASSERT_NE(at, std::string::npos) << text;
      EXPECT_EQ(text.find(literal, at + 1), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace nmt::term_plan_test
