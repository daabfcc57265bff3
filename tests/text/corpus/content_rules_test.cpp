#include "text/corpus/content_rules.h"

#include <gmock/gmock.h>

#include <map>

#include "base/error.h"
#include "support.h"
#include "text/corpus/cleaning.h"

namespace nmt::content_rules_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the chosen rules say of a pair; "" where it is kept.
std::string dropped(const Choices<CleaningRule>& chosen, const std::string& source, const std::string& target) {
  const auto finding = ContentRules(chosen, "de", "en", nullptr).judge(source, target);
  return finding.rule ? name_of(*finding.rule) : "";
}

double score(CleaningRule rule, const std::string& source, const std::string& target) {
  return ContentRules({rule}, "de", "en", nullptr).judge(source, target).scores.at(0);
}

const Choices<CleaningRule> kWithoutLanguage = {
    CleaningRule::kLetters,  CleaningRule::kCopies,    CleaningRule::kRepetitions,
    CleaningRule::kNumbers,  CleaningRule::kAddresses, CleaningRule::kMarkup,
    CleaningRule::kEndMarks, CleaningRule::kHeldOut,   CleaningRule::kNearDuplicates};

TEST(ContentRules, KeepGoodPairs) {
  const std::pair<const char*, const char*> pairs[] = {
      {"Zwei Männer warten auf den Bus.", "Two men are waiting for the bus."},
      {"2 Männer warten.", "Two men are waiting."},
      {"Tom Jackson.", "Tom Jackson."},
      {"Es kostet 1.000,50 Euro.", "It costs 1,000.50 euros."},
      {"Er fragte: „Warum?“", "He asked, \"Why?\""},
      {"Ein Hund läuft", "A dog is running."},
      {"Ja, ja, ja.", "Yes, yes, yes."},
      {"Wenn a < b und c > d ist, R&D", "If a < b and c > d, R&D"},
      {"", ""}};
  for (const auto& [source, target] : pairs) EXPECT_EQ(dropped(kWithoutLanguage, source, target), "") << source;
}

TEST(ContentRules, NameWhatIsWrong) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"Два человека ждут.", "Two men are waiting.", "letters"},
      {"12 / 34 * 56 = --", "12 / 34 * 56 = --", "letters"},
      {"Two men are waiting.", "Two men are waiting.", "copies"},
      {"TWO men are waiting", "Two men are waiting, too.", "copies"},
      {"aaaaaaaaaa", "Two men are waiting.", "repetitions"},
      {"sehr sehr sehr sehr sehr gut", "very good", "repetitions"},
      {"3 Männer warten.", "4 men are waiting.", "numbers"},
      {"Es war 1984.", "It was long ago.", "numbers"},
      {"Siehe https://example.org dort.", "See there.", "addresses"},
      {"Siehe dort.", "See www.example.org there.", "addresses"},
      {"Schreib an anna@example.org heute.", "Write today.", "addresses"},
      {"Ein <b>Hund</b> läuft.", "A dog is running.", "markup"},
      {"Ein Hund &amp; eine Katze", "A dog and a cat", "markup"},
      {"Warten sie?", "They are waiting.", "end_marks"},
      {"Sie warten,", "They are waiting.", "end_marks"}};
  for (const auto& [source, target, rule] : cases) EXPECT_EQ(dropped(kWithoutLanguage, source, target), rule) << source;
}

TEST(ContentRules, ScoresAreWhatTheirNamesSay) {
  EXPECT_FLOAT_EQ(score(CleaningRule::kLetters, "ab12", "abc"), 0.5F) << "the worse side";
  EXPECT_FLOAT_EQ(score(CleaningRule::kCopies, "a b c d", "A, B. x y"), 0.5F);
  EXPECT_FLOAT_EQ(score(CleaningRule::kRepetitions, "Schifffahrt", "a a"), 3);
  EXPECT_FLOAT_EQ(score(CleaningRule::kNumbers, "1 2 3", "1 2 4 5"), 3);
  EXPECT_FLOAT_EQ(score(CleaningRule::kNumbers, "1 12 13", "-"), 1) << "up to twelve may be written in words";
  EXPECT_FLOAT_EQ(score(CleaningRule::kNumbers, "07", "7"), 0);
  EXPECT_FLOAT_EQ(score(CleaningRule::kNumbers, "٧", "7"), 0) << "digits of any script";
  EXPECT_FLOAT_EQ(score(CleaningRule::kAddresses, "http://www.a.org b@c.de", "x"), 2);
  EXPECT_FLOAT_EQ(score(CleaningRule::kEndMarks, "a", "b."), 0.5F);
}

TEST(ContentRules, KnowTheScriptsOfLanguages) {
  for (const auto& [language, text] : std::map<std::string, std::string>{{"ja", "カタカナと漢字"},
                                                                         {"zh", "汉字"},
                                                                         {"zh-Hant", "漢字"},
                                                                         {"ko", "한국어"},
                                                                         {"ru", "Привет"},
                                                                         {"hi", "नमस्ते"},
                                                                         {"sr-Latn", "Zdravo"},
                                                                         {"und", "Привет"}})
    EXPECT_FLOAT_EQ(ContentRules({CleaningRule::kLetters}, language, "en", nullptr).judge(text, "Hello").scores.at(0),
                    0)
        << language;
  EXPECT_FLOAT_EQ(ContentRules({CleaningRule::kLetters}, "ru", "en", nullptr).judge("Hello", "Hello").scores.at(0), 1);
}

TEST(ContentRules, GreekAsksWithASemicolon) {
  const ContentRules rules({CleaningRule::kEndMarks}, "el", "en", nullptr);
  EXPECT_FALSE(rules.judge("Τι κάνεις;", "How are you?").rule);
  EXPECT_TRUE(rules.judge("Τι κάνεις.", "How are you?").rule);
}

TEST(ContentRules, ASpellingIsTheLettersAlone) {
  const ContentRules rules({CleaningRule::kHeldOut}, "de", "en", nullptr);
  const auto spelling = [&](const char* text) { return rules.source_spelling(text).hash; };
  EXPECT_EQ(spelling("Schöne Straße, 12!"), spelling("SCHÖNE\u00ADSTRASSE"));
  EXPECT_EQ(spelling("Caf\u00E9"), spelling("cafe\u0301"));
  EXPECT_NE(spelling("schon"), spelling("schön"));
  EXPECT_EQ(spelling("12 + 3"), 0u);
  EXPECT_FALSE(rules.source_spelling("Guten Morgen").is_long);
  EXPECT_TRUE(rules.source_spelling("Guten Morgen, ihr alle dort").is_long);
}

/// Takes what is written in capitals for another language.
class Capitals final : public LanguageIdentifier {
 public:
  double share_of_others(std::string_view text, const std::string& language, const std::string& other) const override {
    EXPECT_THAT(std::pair(language, other), testing::AnyOf(std::pair("de", "en"), std::pair("en", "de")));
    return text == lower(text) ? 0 : 1;
  }

 private:
  static std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(c));
    return result;
  }
};

TEST(ContentRules, AShortLineNeedsBothSidesToBeOfAnotherLanguage) {
  const Capitals identifier;
  const ContentRules rules({CleaningRule::kLanguage}, "de", "en", &identifier);
  EXPECT_FALSE(rules.judge("guten morgen", "good morning").rule);
  EXPECT_FALSE(rules.judge("GUTEN MORGEN", "good morning").rule);
  EXPECT_TRUE(rules.judge("GUTEN MORGEN", "GOOD MORNING").rule);
  EXPECT_TRUE(rules.judge("GUTEN MORGEN, IHR ALLE DORT", "good morning, all of you").rule);
}

TEST(ContentRules, TheLanguageNeedsADetector) {
  for (const auto rule : {CleaningRule::kLanguage, CleaningRule::kAll})
    EXPECT_THAT(test::message_of<Error>([&] { ContentRules({rule}, "de", "en", nullptr); }),
                HasSubstr("data.clean: the rule language needs a language detector"));
}

TEST(ContentRules, WithoutAnyNothingIsAsked) {
  const auto finding = ContentRules({}, "de", "en", nullptr).judge("Siehe www.example.org", "aaaaaaaaa");
  EXPECT_FALSE(finding.rule);
  EXPECT_THAT(finding.scores, IsEmpty());
}

/// The verdicts on pairs, one after the other.
std::vector<std::string> verdicts(const std::vector<CleaningRule>& clean, const HeldOutText& held_out,
                                  const std::vector<std::pair<std::string, std::string>>& pairs) {
  const ContentRules content(kWithoutLanguage, "de", "en", nullptr);
  CleaningRules rules({.max_length_ratio = 3, .clean = clean}, held_out);
  CleaningCounts counts;
  std::vector<std::string> result;
  for (const auto& [source, target] : pairs) {
    PairHashes hashes(source, target);
    hashes.content = content.judge(source, target);
    const CleaningRules::Lengths lengths{std::ssize(source), std::ssize(target)};
    result.emplace_back(name_of_verdict(rules.judge(hashes, lengths, counts).verdict));
  }
  return result;
}

TEST(ContentRules, ANearDuplicateHasTheLettersOfAPairThatWasKept) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"Es ist 3 Uhr.", "It's 4 o'clock."},  // the numbers differ: nothing that the next one repeats
      {"Es ist 3 Uhr.", "It's 3 o'clock."},
      {"ES IST 5 UHR!", "It's 5 o'clock"},
      {"Es ist 3 Uhr.", "It is 3 o'clock now"},  // another translation
      {"17", "17"},
      {"18", "18"}};
  const std::vector<CleaningRule> near = {CleaningRule::kNearDuplicates};
  EXPECT_THAT(verdicts(near, {}, pairs),
              ElementsAre("numbers", "kept", "near_duplicates", "kept", "letters", "letters"));
  EXPECT_THAT(verdicts({}, {}, pairs), ElementsAre("numbers", "kept", "kept", "kept", "letters", "letters"));
}

TEST(ContentRules, HeldOutTextIsFoundInAnySpelling) {
  const ContentRules content(kWithoutLanguage, "de", "en", nullptr);
  HeldOutText held_out;
  const auto add = [&](const char* source, const char* target) {
    held_out.add(content.source_spelling(source), content.target_spelling(target));
  };
  add("Zwei Männer warten auf den Bus.", "Two men wait for the old bus.");
  add("Ja.", "Yes.");
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"ZWEI MÄNNER WARTEN AUF DEN BUS", "Two men wait for the old bus"},
      {"Zwei Männer, die warten", "TWO MEN WAIT FOR THE OLD BUS!"},  // a long side alone
      {"Ja!", "Yes!"},
      {"Ja.", "Sure."}};  // a short side alone
  EXPECT_THAT(verdicts({CleaningRule::kHeldOut}, held_out, pairs),
              ElementsAre("held_out", "held_out", "held_out", "kept"));
  EXPECT_THAT(verdicts({}, held_out, pairs), Each("kept"));
}

}  // namespace
}  // namespace nmt::content_rules_test
