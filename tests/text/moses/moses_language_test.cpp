#include "text/moses/moses_language.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"

namespace nmt::moses_language_test {
namespace {

constexpr auto kDe = MosesLanguage::kGerman, kEn = MosesLanguage::kEnglish, kFr = MosesLanguage::kFrench;

TEST(MosesLanguage, IsGermanEnglishOrFrench) {
  EXPECT_EQ(moses_language("de"), kDe);
  EXPECT_EQ(moses_language("en"), kEn);
  EXPECT_EQ(moses_language("fr"), kFr);
  for (const char* code : {"de", "en", "fr"}) EXPECT_EQ(moses_code(moses_language(code)), code);
  EXPECT_EQ(test::message_of<Error>([] { moses_language("it"); }),
            "the Moses tokenizer here knows de, en and fr, not 'it'");
  EXPECT_FALSE(has_moses_rules(""));
  EXPECT_FALSE(has_moses_rules("DE"));
}

TEST(MosesLanguage, KnowsAbbreviations) {
  for (const auto language : {kDe, kEn}) {
    EXPECT_EQ(point_after("Dr", language), Point::kPartOfWord);
    EXPECT_EQ(point_after("X", language), Point::kPartOfWord);
    EXPECT_EQ(point_after("vs", language), Point::kPartOfWord);
    EXPECT_EQ(point_after("v", language), Point::kPartOfWord);
    EXPECT_EQ(point_after("house", language), Point::kOwnToken);
    EXPECT_EQ(point_after("", language), Point::kOwnToken);
  }
  EXPECT_EQ(point_after("usw", kDe), Point::kPartOfWord);
  EXPECT_EQ(point_after("usw", kEn), Point::kOwnToken);
  EXPECT_EQ(point_after("xix", kDe), Point::kPartOfWord);
  EXPECT_EQ(point_after("x", kDe), Point::kPartOfWord);
  EXPECT_EQ(point_after("x", kEn), Point::kOwnToken);
  EXPECT_EQ(point_after("Nov", kEn), Point::kPartOfWord);
}

TEST(MosesLanguage, KnowsFrenchAbbreviations) {
  for (const char* word : {"etc", "MM", "vol", "\u00e9d", "t\u00e9l", "A", "Z", "b", "z"})
    EXPECT_EQ(point_after(word, kFr), Point::kPartOfWord) << word;
  for (const char* word : {"a", "Dr", "Mme", "No", "3", "ed", "\u00c9d"})
    EXPECT_EQ(point_after(word, kFr), Point::kOwnToken) << word;
}

TEST(MosesLanguage, SomePointsDependOnTheNextWord) {
  for (const char* word : {"No", "Art", "pp"}) {
    EXPECT_EQ(point_after(word, kEn), Point::kBeforeNumber);
    EXPECT_EQ(point_after(word, kDe), Point::kPartOfWord);
  }
}

TEST(MosesLanguage, GermanOrdinalsEndAt99) {
  for (const char* word : {"1", "9", "10", "99"}) EXPECT_EQ(point_after(word, kDe), Point::kPartOfWord) << word;
  for (const char* word : {"0", "00", "09", "100"}) EXPECT_EQ(point_after(word, kDe), Point::kOwnToken) << word;
  EXPECT_EQ(point_after("5", kEn), Point::kOwnToken);
}

}  // namespace
}  // namespace nmt::moses_language_test
