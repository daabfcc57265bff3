#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "text/terms.h"

namespace nmt::glossary_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Glossary parse(const std::string& tsv) { return Glossary::parse(tsv, "terms.tsv"); }

/// What stands in the text and what it is to become.
std::vector<std::string> found(const std::string& tsv, const std::string& text) {
  const auto glossary = parse(tsv);
  std::vector<std::string> result;
  for (const auto& [range, term] : glossary.find(text)) {
    const auto& target = glossary.terms()[term].target;
    result.push_back(text.substr(range.begin, range.end - range.begin) + "=" + target);
  }
  return result;
}

TEST(Glossary, ReadsTermsAndFlags) {
  const auto glossary = parse("\xEF\xBB\xBF# a list\r\nHund\thound\r\n\n  Haus \t house \tcase\nNMT\t\tcase, keep");
  ASSERT_EQ(glossary.terms().size(), 3u);
  EXPECT_EQ(glossary.terms()[0].source, "Hund");
  EXPECT_EQ(glossary.terms()[0].target, "hound");
  EXPECT_FALSE(glossary.terms()[0].match_case);
  EXPECT_EQ(glossary.terms()[1].source, "Haus");
  EXPECT_TRUE(glossary.terms()[1].match_case);
  EXPECT_EQ(glossary.terms()[2].target, "");
}

TEST(Glossary, FindsWholeWordsInAnyCaseWithAnySpaceBetween) {
  EXPECT_THAT(found("Hund\thound\n", "Hunde, hund, HUND-Hund; unhund"),
              ElementsAre("hund=hound", "HUND=hound", "Hund=hound"));
  EXPECT_THAT(found("rote Ampel\tstop light\n", "Die rote \u00A0 Ampel."), ElementsAre("rote \u00A0 Ampel=stop light"));
  EXPECT_THAT(found("C++\tcpp\n", "Mit C++, C und c++."), ElementsAre("C++=cpp", "c++=cpp"));
  EXPECT_THAT(found("Stra\u00DFe\troad\n", "STRASSE"), ElementsAre("STRASSE=road")) << "full case folding";
  EXPECT_THAT(found("Hund\thound\n", ""), ElementsAre());
}

TEST(Glossary, PrefersTheLongestAndThenTheExactCase) {
  const std::string tsv = "Bank\tbank\nBank am See\tbench\nIT\tinformation technology\tcase\nit\tthat\tcase\nIt\tany\n";
  EXPECT_THAT(found(tsv, "Bank am See und Bank am Tag"), ElementsAre("Bank am See=bench", "Bank=bank"));
  EXPECT_THAT(found(tsv, "IT it iT"), ElementsAre("IT=information technology", "it=that", "iT=any"));
}

TEST(Glossary, ATermInAnotherIsNotFound) {
  EXPECT_THAT(found("a b c\tx\nb\ty\n", "a b c b"), ElementsAre("a b c=x", "b=y"));
}

TEST(Glossary, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& tsv) { return test::message_of<Error>([&] { parse(tsv); }); };
  EXPECT_THAT(error("a\tb\nHund\n"), HasSubstr("terms.tsv:2: use SOURCE, a tab, TARGET"));
  EXPECT_THAT(error("a\tb\tcase\tmore\n"), HasSubstr("terms.tsv:1: "));
  EXPECT_THAT(error("\tb\n"), HasSubstr("terms.tsv:1: "));
  EXPECT_THAT(error("a\tb\tloud\n"), HasSubstr("flag 'loud'"));
  EXPECT_THAT(error("a\t\n"), HasSubstr("'a' has no target"));
  EXPECT_THAT(error("a\tb\tkeep\n"), HasSubstr("'a' is to be kept"));
  EXPECT_THAT(error("a b\tx\nA  B\ty\n"), HasSubstr("terms.tsv:2: 'A  B' stands in the glossary already, with 'x'"));
  EXPECT_THAT(error("a b\tx\tcase\na  b\ty\tcase\n"), HasSubstr("'a  b' stands in the glossary already, with 'x'"));
  std::string long_side = "w";
  for (int i = 0; i < 100; ++i) long_side += " w";
  EXPECT_THAT(error(long_side + "\tx\n"), HasSubstr("terms.tsv:1: a term has 100 words at most"));
  EXPECT_THAT(error("x\t" + long_side + "\n"), HasSubstr("a term has 100 words at most"));
  EXPECT_THAT(error("a\xFF\tb\n"), HasSubstr("terms.tsv:1: is not UTF-8"));
}

TEST(Glossary, ACarriageReturnStandsOnlyBeforeALineFeed) {
  EXPECT_THAT([] { parse("a\tb\r\nHund\tho\rund\n"); },
              testing::ThrowsMessage<Error>(HasSubstr("terms.tsv:2: a carriage return stands within the line")));
}

TEST(Glossary, TheTargetsStayInTheNextTranslation) {
  const auto next = parse("Hund\thound\nNMT\t\tkeep\nTier\thound\n").of_targets();
  EXPECT_EQ(next.terms().size(), 2u) << "of one target there is one term";
  EXPECT_EQ(next.find("The hound and NMT, Hound.").size(), 2u);
}

TEST(Glossary, TargetsThatDifferInSpacesAreOne) {
  EXPECT_EQ(parse("a\tx  y\nb\tx y\n").of_targets().terms().size(), 1u);
}

// A glossary comes with a request. These took minutes when each term was compared with those of its first word.
TEST(Glossary, HasAsManyTermsAsAClientLikes) {
  std::string tsv, text;
  for (int i = 0; i < 200'000; ++i) tsv += "a b" + std::to_string(i) + "\tx\n";
  for (int i = 0; i < 100'000; ++i) text += "a ";
  const auto glossary = parse(tsv);
  EXPECT_EQ(glossary.terms().size(), 200'000u);
  EXPECT_EQ(glossary.find(text + "b7 a B199999").size(), 2u);
}

TEST(Glossary, ATargetMayBeginLikeAComment) {
  const auto next = parse("Raute\t#hash\nzwei\ta,b\n").of_targets();
  ASSERT_EQ(next.terms().size(), 2u);
  EXPECT_EQ(next.find("The #hash is a,b.").size(), 2u);
  EXPECT_EQ(next.find("The #Hash").size(), 0u) << "in this case only";
}

TEST(FindAsWords, SaysWhere) {
  EXPECT_EQ(find_as_words("hounds or a hound", "hound"), 12u);
  EXPECT_EQ(find_as_words("a hound, a hound", "hound", 3), 11u);
  EXPECT_EQ(find_as_words("a hound", "hound", 3), std::string_view::npos);
  EXPECT_EQ(find_as_words("a hound", ""), std::string_view::npos);
}

TEST(StandsAsWords, NoLetterGoesOn) {
  EXPECT_TRUE(stands_as_words("the hound.", "hound"));
  EXPECT_TRUE(stands_as_words("hounds or a hound", "hound"));
  EXPECT_FALSE(stands_as_words("hounds", "hound"));
  EXPECT_FALSE(stands_as_words("greyhound", "hound"));
  EXPECT_FALSE(stands_as_words("althse", "alt"));
  EXPECT_TRUE(stands_as_words("(C++)", "C++"));
  EXPECT_TRUE(stands_as_words("C++x", "C++")) << "its end is no letter";
  EXPECT_FALSE(stands_as_words("caf\u00e9s", "caf\u00e9"));
  EXPECT_TRUE(stands_as_words("\u6211\u7231\u732b\u3002", "\u732b"));
  EXPECT_FALSE(stands_as_words("", "hound"));
}

TEST(Glossary, ATermHasAnEnd) {
  const std::string longest(1000, 'a');
  EXPECT_EQ(parse(longest + "\t" + longest).terms().size(), 1u);
  for (const auto& tsv : {longest + "a\tb", "b\t" + longest + "a"})
    EXPECT_THAT(test::message_of<Error>([&] { parse(tsv); }), HasSubstr("terms.tsv:1: a term has 1000 bytes at most"));
}

TEST(Glossary, CountsWhatItPutsIntoAText) {
  const auto glossary = parse("a\t\u00e4\u00f6\u00fc\nb c\tx\nd\t\tkeep\n");
  EXPECT_EQ(glossary.inserted_characters("a, a and b c, b, d"), 7);
  EXPECT_EQ(glossary.inserted_characters("nothing"), 0);
}

}  // namespace
}  // namespace nmt::glossary_test
