#include "text/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace nmt::sentence_splitter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SentenceSplitter, EndsSentencesAtPointsAndMarks) {
  const SentenceSplitter english("en");
  EXPECT_THAT(english.split("It works. Does it?  Yes!"), ElementsAre("It works.", "Does it?", "Yes!"));
  EXPECT_THAT(english.split("One sentence without a point"), ElementsAre("One sentence without a point"));
  EXPECT_THAT(english.split("It costs 3.50 euros... Really."), ElementsAre("It costs 3.50 euros...", "Really."));
}

TEST(SentenceSplitter, LeavesWhiteSpaceAndEmptyTextOut) {
  const SentenceSplitter english("en");
  EXPECT_THAT(english.split(""), IsEmpty());
  EXPECT_THAT(english.split(" \t \u00a0"), IsEmpty());
  EXPECT_THAT(english.split("  A word.  "), ElementsAre("A word."));
}

TEST(SentenceSplitter, KnowsAbbreviationsOfItsLanguage) {
  EXPECT_THAT(SentenceSplitter("de").split("Dr. Müller kam. Er blieb."), ElementsAre("Dr. Müller kam.", "Er blieb."));
  EXPECT_THAT(SentenceSplitter("de").split("Es gibt ggf. Kaffee."), ElementsAre("Es gibt ggf. Kaffee."));
  EXPECT_THAT(SentenceSplitter("en").split("There is ggf. Coffee."), ElementsAre("There is ggf.", "Coffee."));
}

TEST(SentenceSplitter, DoesNotEndAfterSingleLetters) {
  EXPECT_THAT(SentenceSplitter("de").split("Er blieb z. B. Drei Tage. Dann ging er."),
              ElementsAre("Er blieb z. B. Drei Tage.", "Dann ging er."));
  EXPECT_THAT(SentenceSplitter("en").split("The U.S. Senate met (J. S. Bach). He left."),
              ElementsAre("The U.S. Senate met (J. S. Bach).", "He left."));
}

TEST(SentenceSplitter, DoesNotEndAfterOrdinalNumbers) {
  EXPECT_THAT(SentenceSplitter("de").split("Am 3. Oktober. Im Jahr 1990. Dann."),
              ElementsAre("Am 3. Oktober.", "Im Jahr 1990.", "Dann."));
  EXPECT_THAT(SentenceSplitter("en").split("He has 3. She has none."), ElementsAre("He has 3.", "She has none."));
}

TEST(SentenceSplitter, KnowsOtherScripts) {
  EXPECT_THAT(SentenceSplitter("zh").split("你好。今天天气很好！"), ElementsAre("你好。", "今天天气很好！"));
  EXPECT_THAT(SentenceSplitter("hi").split("यह एक है। यह दो है।"), ElementsAre("यह एक है।", "यह दो है।"));
}

TEST(SentenceSplitter, TakesAnyLanguageName) {
  for (const std::string language : {"pt-BR", "xx", "source", "no such language", "\xff\xfe", "-"}) {
    EXPECT_THAT(SentenceSplitter(language).split("We do. You too."), ElementsAre("We do.", "You too.")) << language;
  }
  EXPECT_THAT(SentenceSplitter(std::string(1000, 'x')).split("We do. You too."), ElementsAre("We do.", "You too."));
}

TEST(SentenceSplitter, TakesAnyBytes) {
  const SentenceSplitter english("en");
  EXPECT_THAT(english.split("One \xff. Two \xe2\x82."), ElementsAre("One \xff.", "Two \xe2\x82."));
  const std::string zeros("One.\0 Two.", 10);
  std::string joined;
  for (const auto sentence : english.split(zeros)) joined += sentence;
  EXPECT_EQ(std::count(joined.begin(), joined.end(), '\0'), 1) << "nothing but white space is lost";
}

TEST(SentenceSplitter, WorksInSeveralThreads) {
  const SentenceSplitter english("en");
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "Dr. Who came. He left. ";
  std::vector<size_t> counts(4);
  {
    std::vector<std::jthread> threads;
    for (auto& count : counts) threads.emplace_back([&] { count = english.split(text).size(); });
  }
  EXPECT_THAT(counts, testing::Each(4000u));
}

}  // namespace
}  // namespace nmt::sentence_splitter_test
