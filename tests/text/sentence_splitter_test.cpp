#include "text/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <thread>

#include "base/files/line_reader.h"
#include "support.h"

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

TEST(SentenceSplitter, KnowsTitlesInTextsOfAnyLanguage) {
  EXPECT_THAT(SentenceSplitter("de").split("Das sagte Mr. Smith. Lt. Col. Miller schwieg."),
              ElementsAre("Das sagte Mr. Smith.", "Lt. Col. Miller schwieg."));
  EXPECT_THAT(SentenceSplitter("fr").split("Le Dr. Martin est là. Mme. Blanc aussi."),
              ElementsAre("Le Dr. Martin est là.", "Mme. Blanc aussi."));
}

TEST(SentenceSplitter, KnowsCzech) {
  const SentenceSplitter czech("cs");
  EXPECT_THAT(czech.split("Přišel prof. Novák, např. Jan. Byl zde 3. ledna, tzv. Tři králové. Odešel."),
              ElementsAre("Přišel prof. Novák, např. Jan.", "Byl zde 3. ledna, tzv. Tři králové.", "Odešel."));
  EXPECT_THAT(czech.split("Napsal to J. K. Tyl („Kde je sv. Jan?“). Konec."),
              ElementsAre("Napsal to J. K. Tyl („Kde je sv. Jan?“).", "Konec."));
}

TEST(SentenceSplitter, QuotationsStayWithWhatIsSaidOfThem) {
  EXPECT_THAT(SentenceSplitter("de").split("„Komm!“ sagte sie. „Dr. May ist da.“ Er ging."),
              ElementsAre("„Komm!“ sagte sie.", "„Dr. May ist da.“", "Er ging."));
  EXPECT_THAT(SentenceSplitter("de").split("Er rief. »Komm!«, rief er. »Gut«, sagte sie."),
              ElementsAre("Er rief.", "»Komm!«, rief er.", "»Gut«, sagte sie."));
  EXPECT_THAT(SentenceSplitter("fr").split("« Viens ! » dit-il. « Viens ! » Il partit."),
              ElementsAre("« Viens ! » dit-il.", "« Viens ! »", "Il partit."));
  EXPECT_THAT(SentenceSplitter("en").split("A shirt that says \"Why?\" is on sale. \"Yes.\" He left."),
              ElementsAre("A shirt that says \"Why?\" is on sale.", "\"Yes.\"", "He left."));
}

TEST(SentenceSplitter, WhatHasNoLetterStandsWithASentence) {
  const SentenceSplitter english("en");
  EXPECT_THAT(english.split("1. Open it. 2. Close it."), ElementsAre("1. Open it.", "2. Close it."));
  EXPECT_THAT(english.split("Really? 12. :-)"), ElementsAre("Really? 12. :-)"));
  EXPECT_THAT(english.split("12. 13."), ElementsAre("12. 13."));
}

TEST(SentenceSplitter, LowerCasedTextStaysWhole) {
  EXPECT_THAT(SentenceSplitter("en").split("what now? it works! really."), ElementsAre("what now? it works! really."));
}

TEST(SentenceSplitter, KnowsOtherScripts) {
  EXPECT_THAT(SentenceSplitter("zh").split("你好。今天天气很好！"), ElementsAre("你好。", "今天天气很好！"));
  EXPECT_THAT(SentenceSplitter("hi").split("यह एक है। यह दो है।"), ElementsAre("यह एक है।", "यह दो है।"));
}

struct Counts {
  int lines = 0, split = 0;   // lines of one sentence, as a rule, and those in which it finds several
  int joined = 0, found = 0;  // of each two lines joined the places between them, and those at which it splits
};

Counts counts_of(const std::filesystem::path& file, const std::string& language) {
  const SentenceSplitter splitter(language);
  LineReader reader(file.string());
  Counts counts;
  std::string before;
  for (auto next = reader.next(); next && counts.lines < 30'000; next = reader.next()) {
    const std::string line(*next), both = before + " " + line;
    ++counts.lines;
    counts.split += splitter.split(line).size() > 1 ? 1 : 0;
    if (counts.lines % 2 == 0) {
      ++counts.joined;
      for (const auto sentence : splitter.split(both))
        counts.found += sentence.data() == both.data() + before.size() + 1 ? 1 : 0;
    }
    before = line;
  }
  return counts;
}

TEST(SentenceSplitter, IsRightOnRealText) {
  const auto shared = test::shared_directory();
  if (shared.empty()) GTEST_SKIP() << "no real data (NMT_SHARED)";
  struct Case {
    const char *file, *language;
    double least_found;  // a part of the lines has no point at its end
  };
  for (const auto& [file, language, least_found] : {Case{"tatoeba/train.de.gz", "de", 0.99},
                                                    {"tatoeba/train.en.gz", "en", 0.99},
                                                    {"multi30k/train.de.gz", "de", 0.98},
                                                    {"multi30k/train.en.gz", "en", 0.93},
                                                    {"multi30k/train.fr.gz", "fr", 0.93},
                                                    {"multi30k/train.cs.gz", "cs", 0.93}}) {
    const auto counts = counts_of(shared / "data" / file, language);
    std::cout << file << ": " << counts.split << " of " << counts.lines << " lines split, " << counts.found << " of "
              << counts.joined << " places found" << std::endl;
    EXPECT_LE(counts.split, counts.lines / 200) << file;
    EXPECT_GE(counts.found, least_found * counts.joined) << file;
  }
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

TEST(HasLetters, OfAnyScript) {
  for (const char* text : {"a", "12ä", "…ß", "列", "ע"}) EXPECT_TRUE(has_letters(text)) << text;
  for (const char* text : {"", "12 + 30 = 42", "?!", "😀", "\xff"}) EXPECT_FALSE(has_letters(text)) << text;
}

}  // namespace
}  // namespace nmt::sentence_splitter_test
