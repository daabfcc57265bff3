#include "text/language_code.h"

#include <gtest/gtest.h>

#include <utility>

namespace nmt::language_code_test {
namespace {

TEST(MayBeIso639, TakesCodesAndWhatMayStandBehindThem) {
  for (const char* code : {"de", "cs", "CS", "pt_BR", "zh-Hant", "mul", "und", "cze", "ces", "hsb", "sr-Latn-RS", "iw"})
    EXPECT_TRUE(may_be_iso_639(code)) << code;
  for (const char* code : {"czech", "German", "cz", "xx", "c", "12", "d3", "", "-de"})
    EXPECT_FALSE(may_be_iso_639(code)) << code;
}

TEST(AreOtherLanguages, OnlyWhereBothAreKnown) {
  for (const auto& [one, other] : {std::pair("de", "cs"), {"de_AT", "EN"}})
    EXPECT_TRUE(are_other_languages(one, other));
  for (const auto& [one, other] : {std::pair("de", "de"),
                                   {"de", "DE"},
                                   {"pt", "pt_BR"},
                                   {"", "de"},
                                   {"src", "de"},
                                   {"mul", "fr"},
                                   {"deu", "de"},
                                   {"ROMANCE", "fr"},
                                   {"und", "de"}})
    EXPECT_FALSE(are_other_languages(one, other)) << one << ' ' << other;
}

TEST(MatchLanguages, KnowsRegions) {
  using enum LanguageMatch;
  EXPECT_EQ(match_languages("de", "DE"), kSame);
  EXPECT_EQ(match_languages("zh_hant", "zh-Hant"), kSame);
  for (const auto& [one, other] : {std::pair("de", "de-AT"), {"pt-BR", "pt_PT"}, {"deu", "de"}, {"eng-US", "en"}})
    EXPECT_EQ(match_languages(one, other), kOtherRegion) << one << ' ' << other;
  for (const auto& [one, other] : {std::pair("de", "en"), {"de", "den"}, {"de-AT", "en-AT"}, {"", "de"}})
    EXPECT_EQ(match_languages(one, other), kNone) << one << ' ' << other;
}

}  // namespace
}  // namespace nmt::language_code_test
