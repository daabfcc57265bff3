#include "language/language_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

#include "base/files/line_reader.h"
#include "support.h"

namespace nmt {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string best(const LanguageDetector& detector, const std::string& text) {
  const auto found = detector.detect(text);
  return found.empty() ? "" : found.front().code;
}

TEST(LanguageDetector, TellsLanguagesApart) {
  const LanguageDetector detector({"de", "en", "fr", "cs", "ja"});
  EXPECT_EQ(best(detector, "Der Zug nach Hamburg hat heute leider zwanzig Minuten Verspätung."), "de");
  EXPECT_EQ(best(detector, "The train to Hamburg is twenty minutes late today, I am afraid."), "en");
  EXPECT_EQ(best(detector, "Le train pour Hambourg a malheureusement vingt minutes de retard."), "fr");
  EXPECT_EQ(best(detector, "Vlak do Hamburku má dnes bohužel dvacet minut zpoždění."), "cs");
  EXPECT_EQ(best(detector, "ハンブルク行きの列車は今日二十分遅れています。"), "ja");
}

TEST(LanguageDetector, IsSureOfASentence) {
  const auto found = LanguageDetector({"de", "en"}).detect("The train to Hamburg is twenty minutes late today.");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_GT(found[0].confidence, 90);
  EXPECT_LE(found[0].confidence, 100);
}

TEST(LanguageDetector, ShortTextIsDecidedByTheChoice) {
  const LanguageDetector detector({"de", "en"});
  EXPECT_EQ(best(detector, "Hello"), "en");
  EXPECT_EQ(best(detector, "Hallo"), "de");
  EXPECT_EQ(best(detector, "Wo?"), "de");
  EXPECT_LE(detector.detect("Wo?").at(0).confidence, 50);
}

TEST(LanguageDetector, ControlCharactersDoNoHarm) {
  const LanguageDetector detector({"de", "en"});
  const std::string plain = "How old is my father? And the dog is in the house.";
  const auto expected = detector.detect(plain).at(0);
  EXPECT_EQ(expected.code, "en");
  // CLD2's check of UTF-8 refuses these.
  for (const char* sign : {"\b", "\v", "\x7f", "\u0085", "\u0092", "\u009d", "\ufdd0", "\ufffe", "\U0001fffe"}) {
    auto text = plain;
    text.replace(text.find(' ', 20), 1, sign);
    const auto found = detector.detect(text);
    ASSERT_FALSE(found.empty()) << testing::PrintToString(sign);
    EXPECT_EQ(found[0].code, "en") << testing::PrintToString(sign);
    EXPECT_GT(found[0].confidence, 90);
  }
}

TEST(LanguageDetector, AddressesNamesAndTopicsDoNotCount) {
  const LanguageDetector detector({"de", "en", "fr"});
  for (const char* text :
       {"https://www.example.com/the-best-english-article-of-the-year-and-more Wir gehen nach Hause.",
        "Wir gehen nach Hause. #thebestdayofmylife #happy #love @someone",
        "@the_old_man@example.com Wir gehen nach Hause.", "Wir gehen nach Hause.#the_best_day_of_my_whole_life",
        "the.old.man.and.the.house@example.com: Wir gehen nach Hause.",
        "Wir gehen nach Hause, {the_name_of_the_house}."})
    EXPECT_EQ(best(detector, text), "de") << text;
  EXPECT_EQ(best(detector, "@someone #the #house #is #old"), "en") << "there is nothing else";
  EXPECT_EQ(best(detector, "He writes C# and the other writes in C at home"), "en");
}

TEST(LanguageDetector, FindsOnlyWhatItWasAskedAbout) {
  const LanguageDetector detector({"de", "en"});
  EXPECT_THAT(detector.detect("ハンブルク行きの列車は今日二十分遅れています。"), IsEmpty());
  EXPECT_THAT(LanguageDetector({}).detect("The train is late today."), IsEmpty());
}

TEST(LanguageDetector, SaysTheCodesThatItWasGiven) {
  EXPECT_EQ(best(LanguageDetector({"pt-BR", "en"}), "O trem para Hamburgo está vinte minutos atrasado hoje."), "pt-BR");
  EXPECT_EQ(best(LanguageDetector({"he", "en"}), "הרכבת להמבורג מאחרת היום בעשרים דקות"), "he");
  EXPECT_EQ(best(LanguageDetector({"zh-Hans", "zh-Hant"}), "今天開往漢堡的列車晚點二十分鐘，對不起。"), "zh-Hant");
  EXPECT_EQ(best(LanguageDetector({"zh-Hans", "zh-Hant"}), "今天开往汉堡的列车晚点二十分钟，对不起。"), "zh-Hans");
}

TEST(LanguageDetector, FindsNothingInWhatHasNoLetters) {
  const LanguageDetector detector({"de", "en"});
  for (const char* text : {"", " ", "123, 456!", "¿?", "\n"}) EXPECT_THAT(detector.detect(text), IsEmpty()) << text;
}

TEST(LanguageDetector, ReadsTheBeginningOfALongText) {
  std::string text = "x";  // so that the limit falls into a character
  while (text.size() < 200'000) text += "Grüße aus der schönen Stadt, in der wir wohnen. ü";
  EXPECT_EQ(best(LanguageDetector({"de", "en"}), text), "de");
}

TEST(LanguageIdentifier, IsSureOfASentenceAndOfNoWord) {
  const auto identifier = make_language_identifier();
  const auto others = [&](const char* text, const char* language) {
    return identifier->share_of_others(text, language, std::string(language) == "de" ? "en" : "de");
  };
  const char* german = "Der Zug nach Hamburg hat heute leider zwanzig Minuten Verspätung.";
  EXPECT_EQ(others(german, "de"), 0);
  EXPECT_EQ(others(german, "de-AT"), 0);
  EXPECT_GT(others(german, "en"), 0.9);
  EXPECT_GT(others("הרכבת להמבורג מאחרת היום בעשרים דקות", "en"), 0.9);
  EXPECT_EQ(others("הרכבת להמבורג מאחרת היום בעשרים דקות", "he"), 0) << "iw to the detector";
  for (const char* text : {"", "12:30", "https://example.org/seite"}) EXPECT_EQ(others(text, "en"), 0) << text;
  for (const char* text : {"Wo hat der Kellner getanzt?", "Hörte ein Musiker mich?"}) {
    EXPECT_EQ(others(text, "de"), 0) << text;
    EXPECT_GT(others(text, "en"), 0.7) << text;
  }
}

/// The share of the first thousand lines of a file that are found to be in this language.
double share_right(const LanguageDetector& detector, const std::filesystem::path& file, const std::string& language) {
  LineReader reader(file.string());
  int lines = 0, right = 0;
  for (auto line = reader.next(); line && lines < 1000; line = reader.next(), ++lines)
    right += best(detector, std::string(*line)) == language ? 1 : 0;
  return static_cast<double>(right) / lines;
}

TEST(LanguageDetector, IsRightOnRealText) {
  const auto shared = test::shared_directory();
  if (shared.empty()) GTEST_SKIP() << "no real data (NMT_SHARED)";
  const LanguageDetector detector({"de", "en", "fr", "cs"});
  for (const auto& [file, language] :
       {std::pair{"multi30k/train.de.gz", "de"}, std::pair{"multi30k/train.en.gz", "en"},
        std::pair{"multi30k/train.fr.gz", "fr"}, std::pair{"multi30k/train.cs.gz", "cs"},
        std::pair{"europarl/train.de.gz", "de"}, std::pair{"europarl/train.en.gz", "en"},
        std::pair{"iwslt14/train.de.gz", "de"}, std::pair{"iwslt14/train.en.gz", "en"}}) {
    const double right = share_right(detector, shared / "data" / file, language);
    std::cout << file << ": " << right << std::endl;
    EXPECT_GE(right, 0.95) << file;
  }
  // Short ones: greetings, exclamations, two words.
  for (const auto& [file, language] :
       {std::pair{"tatoeba/train.de.gz", "de"}, std::pair{"tatoeba/train.en.gz", "en"}}) {
    const double right = share_right(detector, shared / "data" / file, language);
    std::cout << file << " (short): " << right << std::endl;
    EXPECT_GE(right, 0.9) << file;
  }
}

}  // namespace
}  // namespace nmt
