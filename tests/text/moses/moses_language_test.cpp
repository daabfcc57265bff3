#include "text/moses/moses_language.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"

namespace nmt::moses_language_test {
namespace {

constexpr auto kDe = MosesLanguage::kGerman, kEn = MosesLanguage::kEnglish;

TEST(MosesLanguage, IsGermanOrEnglish) {
  EXPECT_EQ(moses_language("de"), kDe);
  EXPECT_EQ(moses_language("en"), kEn);
  EXPECT_EQ(test::message_of<Error>([] { moses_language("fr"); }),
            "the Moses tokenizer here knows de and en, not 'fr'");
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
