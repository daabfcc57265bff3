#include "server/languages/service_languages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

using ::testing::ElementsAre;

constexpr const char* kGerman = "Der Zug hat heute leider zwanzig Minuten Verspätung.";
constexpr const char* kEnglish = "The train is twenty minutes late today.";
constexpr const char* kFrench = "Le train a malheureusement vingt minutes de retard.";

const ServiceLanguages& three() {
  static const ServiceLanguages languages({{"de", "en"}, {"en", "de"}, {"fr", "en"}});
  return languages;
}

std::string refusal(const ServiceLanguages& languages, const std::string& source, const std::string& target) {
  try {
    languages.direction(source, target, kGerman);
  } catch (const RequestError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.what();
  }
  return "";
}

TEST(ServiceLanguages, FindsThePair) {
  EXPECT_EQ(three().direction("de", "en", "").pair->name(), "de-en");
  EXPECT_EQ(three().direction("en", "de", "").pair->name(), "en-de");
  EXPECT_EQ(three().direction("FR", "En", "").pair->name(), "fr-en");
  EXPECT_FALSE(three().direction("fr", "en", "").detected);
}

TEST(ServiceLanguages, RefusesWhatIsNotServed) {
  EXPECT_EQ(refusal(three(), "de", "zz"), "zz is not supported");
  EXPECT_EQ(refusal(three(), "xx", "zz"), "xx is not supported");
  EXPECT_EQ(refusal(three(), "de", "fr"), "fr is not supported as a target of de");
  EXPECT_EQ(refusal(three(), "auto", "fr"), "fr is not supported as a target");
  EXPECT_EQ(refusal(three(), "de", "auto"), "auto is not supported");
}

TEST(ServiceLanguages, ATextInTheTargetLanguageStays) {
  EXPECT_FALSE(three().direction("en", "en", kEnglish).pair);
  EXPECT_FALSE(three().direction("auto", "en", kEnglish).pair);
}

TEST(ServiceLanguages, DetectsTheSource) {
  EXPECT_EQ(three().direction("auto", "en", kGerman).pair->name(), "de-en");
  EXPECT_EQ(three().direction("auto", "en", kFrench).pair->name(), "fr-en");
  const auto english = three().direction("auto", "de", kEnglish);
  EXPECT_EQ(english.pair->name(), "en-de");
  EXPECT_EQ(english.detected->code, "en");
  EXPECT_GT(english.detected->confidence, 90);
}

TEST(ServiceLanguages, WhatCannotBeDetectedIsTakenForTheFirstSource) {
  const auto nothing = three().direction("auto", "en", "123");
  EXPECT_EQ(nothing.pair->name(), "de-en");
  EXPECT_EQ(nothing.detected->code, "de");
  EXPECT_EQ(nothing.detected->confidence, 0);
  EXPECT_EQ(three().direction("auto", "de", "123").detected->code, "en");
  EXPECT_EQ(three().detect("123").at(0).code, "de");
  EXPECT_EQ(three().detect(kFrench).at(0).code, "fr");
}

TEST(ServiceLanguages, KnowsOlderCodes) {
  const ServiceLanguages languages({{"en", "pt-BR"}, {"en", "zh-Hant"}, {"en", "zh-Hans"}});
  EXPECT_EQ(languages.direction("en", "pb", "").pair->name(), "en-pt-BR");
  EXPECT_EQ(languages.direction("en", "zt", "").pair->name(), "en-zh-Hant");
  EXPECT_EQ(languages.direction("en", "zh", "").pair->name(), "en-zh-Hans");
  const ServiceLanguages old(std::vector<LanguagePair>{{"en", "zh"}});
  EXPECT_EQ(old.direction("en", "zh-Hans", "").pair->name(), "en-zh");
}

TEST(ServiceLanguages, KnowsRegions) {
  const ServiceLanguages languages({{"en", "pt"}, {"en", "pt-PT"}, {"en", "zh-Hant"}, {"en", "zh-Hans"}, {"en", "nb"}});
  for (const auto& [asked, own] : {std::pair("pt_BR", "pt"),
                                   {"pt_pt", "pt-PT"},
                                   {"zh-CN", "zh-Hans"},
                                   {"zh_TW", "zh-Hant"},
                                   {"zh-HK", "zh-Hant"},
                                   {"no", "nb"},
                                   {"nb-NO", "nb"},
                                   {"por", "pt"}})
    EXPECT_EQ(languages.direction("en_GB", asked, "").pair->target, own) << asked;
  EXPECT_EQ(refusal(languages, "en", "nn"), "nn is not supported");
  EXPECT_FALSE(languages.direction("en-US", "en-GB", "").pair) << "one language";
  const ServiceLanguages traditional(std::vector<LanguagePair>{{"en", "zh-Hant"}});
  EXPECT_EQ(refusal(traditional, "en", "zh-CN"), "zh-CN is not supported") << "another script";
}

TEST(ServiceLanguages, KnowsAliases) {
  const ServiceLanguages languages(std::vector<LanguagePair>{{"en", "nb"}}, {{"nn", "nb"}});
  EXPECT_EQ(languages.direction("en", "NN", "").pair->name(), "en-nb");
  EXPECT_THAT(languages.codes(), ElementsAre("en", "nb"));
}

TEST(ServiceLanguages, AModelOfUnknownLanguagesTakesAll) {
  const ServiceLanguages unknown(std::vector<LanguagePair>(1));
  EXPECT_EQ(unknown.direction("de", "en", kGerman).pair->name(), "und-und");
  EXPECT_EQ(unknown.direction("auto", "en", kGerman).pair->name(), "und-und");
  EXPECT_EQ(unknown.direction("auto", "en", kGerman).detected->code, "und");
}

TEST(ServiceLanguages, ListsLanguagesWithTheirTargets) {
  EXPECT_THAT(three().codes(), ElementsAre("de", "en", "fr"));
  EXPECT_EQ(three().to_json().dump(),
            R"([{"code":"de","name":"German","targets":["en"]},{"code":"en","name":"English","targets":["de"]},)"
            R"({"code":"fr","name":"French","targets":["en"]}])");
}

}  // namespace
}  // namespace nmt
