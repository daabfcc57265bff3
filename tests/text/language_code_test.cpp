#include "text/language_code.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
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

LanguageMatch match(std::string_view one, std::string_view other) {
  return match_languages(LanguageCode(one), LanguageCode(other));
}

TEST(MatchLanguages, KnowsRegions) {
  using enum LanguageMatch;
  for (const auto& [one, other] : {std::pair("de", "DE"), {"zh_hant", "zh-Hant"}, {"deu", "de"}, {"pt_br", "pt-BR"}})
    EXPECT_EQ(match(one, other), kSame) << one << ' ' << other;
  for (const auto& [one, other] : {std::pair("de", "de-AT"),
                                   {"pt-BR", "pt_PT"},
                                   {"eng-US", "en"},
                                   {"zh-CN", "zh-Hans"},
                                   {"zh-HK", "zh-Hant"},
                                   {"zh", "zh-Hans"}})
    EXPECT_EQ(match(one, other), kOtherRegion) << one << ' ' << other;
  for (const auto& [one, other] : {std::pair("de", "en"),
                                   {"de", "den"},
                                   {"de-AT", "en-AT"},
                                   {"", "de"},
                                   {"und", "en"},
                                   {"mul", "en"},
                                   {"nn", "nb"}})
    EXPECT_EQ(match(one, other), kNone) << one << ' ' << other;
}

TEST(MatchLanguages, KnowsScripts) {
  for (const auto& [one, other] : {std::pair("zh-Hans", "zh-Hant"), {"zh-TW", "zh"}, {"sr", "sr-Latn"}})
    EXPECT_EQ(match(one, other), LanguageMatch::kOtherScript) << one << ' ' << other;
}

// What is withdrawn from ISO 639-1, and what programs still send.
TEST(MatchLanguages, KnowsOlderCodes) {
  for (const auto& [one, other] :
       {std::pair("iw", "he"), {"in", "id"}, {"ji", "yi"}, {"jw", "jv"}, {"tl", "fil"}, {"no", "nb"}, {"ger", "de"}})
    EXPECT_EQ(match(one, other), LanguageMatch::kSame) << one << ' ' << other;
}

TEST(MatchLanguages, TakesAnyText) {
  for (const std::string& odd : {std::string("\xff\xfe"), std::string(1000, 'x'), std::string("a b"), std::string("-"),
                                 std::string("de\0en", 5)}) {
    EXPECT_EQ(match(odd, odd), LanguageMatch::kSame);
    EXPECT_EQ(match(odd, "de"), LanguageMatch::kNone);
  }
}

}  // namespace
}  // namespace nmt::language_code_test
