#include "translation/lines/term_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/terms/glossary.h"

namespace nmt::term_plan_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TranslationRequest request(const std::string& line, const std::string& tsv, bool placeholders = true) {
  TranslationRequest request;
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
  EXPECT_TRUE(plan.is_met(""));
}

TEST(TermPlan, ForcesWhatTheModelCanWrite) {
  const TermPlan plan(request("Ein Hund und ein Hund.", "Hund\thound\n"), anything, false);
  EXPECT_EQ(plan.text(), "Ein Hund und ein Hund.");
  EXPECT_THAT(plan.forced(), ElementsAre("hound"));
  EXPECT_TRUE(plan.is_met("a hound"));
  EXPECT_FALSE(plan.is_met("a dog"));
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

TEST(TermPlan, WithoutWordsHasNothingToTranslate) {
  const TermPlan plan(request("{a}: %s", ""), anything, false);
  EXPECT_FALSE(plan.has_words());
  EXPECT_EQ(plan.restored({.text = plan.text()}).text, "{a}: %s");
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
