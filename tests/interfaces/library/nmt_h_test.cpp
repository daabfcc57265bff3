#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/files/strict_json.h"
#include "evaluation/tiny_model.h"
#include "nmt.h"
#include "nmt/version.h"
#include "support.h"

namespace nmt::nmt_h_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// The answer of a call, freed.
json taken(char* answer) {
  const auto result = answer ? json::parse(answer) : json();
  nmt_free(answer);
  return result;
}

class NmtH : public testing::Test {
 protected:
  NmtH() : model_(test::save_tiny_model(folder_ / "model", test::kTinyTransformer).string()) {
    const json options = {{"models", {model_}}, {"threads", 1}, {"device", "cpu"}};
    EXPECT_EQ(nmt_translator_create(options.dump().c_str(), &translator_), NMT_OK) << nmt_error();
  }
  ~NmtH() override { nmt_translator_free(translator_); }

  json translate(const json& request, nmt_status expected = NMT_OK) {
    char* answer = nullptr;
    EXPECT_EQ(nmt_translator_translate(translator_, request.dump().c_str(), nullptr, nullptr, &answer), expected)
        << nmt_error();
    EXPECT_EQ(answer == nullptr, expected != NMT_OK);
    return taken(answer);
  }
  std::string refused(json request) {
    if (!request.contains("texts")) request["texts"] = {"a"};
    translate(request, NMT_USER_ERROR);
    return nmt_error();
  }

  test::TemporaryDirectory folder_;
  const std::string model_;
  nmt_translator* translator_ = nullptr;
};

json score(const json& request, nmt_status expected = NMT_OK) {
  char* answer = nullptr;
  EXPECT_EQ(nmt_score(request.dump().c_str(), &answer), expected) << nmt_error();
  return taken(answer);
}

TEST_F(NmtH, TellsAllOfATranslation) {
  const auto answer = translate(
      {{"texts", {"a b c", ""}}, {"n_best", 2}, {"token_scores", true}, {"alignment", true}, {"attention", true}});
  const auto& translations = answer.at("translations");
  ASSERT_EQ(translations.size(), 2u);
  EXPECT_EQ(translations[1]["text"], "");
  EXPECT_TRUE(translations[1]["alternatives"].empty());
  const auto& best = translations[0]["alternatives"][0];
  EXPECT_EQ(translations[0]["text"], best["text"]);
  EXPECT_GE(best["score"], translations[0]["alternatives"][1]["score"]);
  EXPECT_EQ(best["pieces"].size(), best["tokens"]);
  EXPECT_EQ(best["token_scores"].size(), best["tokens"]);
  EXPECT_EQ(best["attention"][0]["rows"].size() * best["attention"][0]["columns"].size(),
            best["attention"][0]["weights"].size());
  char* text = nullptr;
  ASSERT_EQ(nmt_translator_translate_text(translator_, "a b c", &text), NMT_OK);
  EXPECT_EQ(text, translate({{"texts", {"a b c"}}})["translations"][0]["text"]);
  nmt_free(text);
}

TEST_F(NmtH, OptionsOfTheSectionDecodingGoByTheirNames) {
  EXPECT_EQ(
      translate({{"texts", {"a b c"}}, {"beam_size", 5}, {"n_best", 5}})["translations"][0]["alternatives"].size(), 5u);
  EXPECT_LE(translate({{"texts", {"a b c"}}, {"max_length", 2}})["translations"][0]["target_tokens"], 2);
  EXPECT_THAT(
      translate({{"texts", {{{"source", "a"}, {"prefix", "h h"}}}}})["translations"][0]["text"].get<std::string>(),
      StartsWith("h h"));
  EXPECT_THAT(refused({{"beam_sise", 4}}), HasSubstr("did you mean decoding.beam_size"));
  EXPECT_THAT(refused({{"beam_size", "wide"}}), HasSubstr("beam_size"));
  EXPECT_THAT(refused({{"precision", "int8"}}), HasSubstr("where a translator is made"));
}

TEST_F(NmtH, SaysWhatIsWrongInOneLine) {
  EXPECT_EQ(refused({{"alignment", "maybe"}}), "alignment: \"maybe\" is of another type");
  EXPECT_THAT(refused({{"glossary", "none.tsv"}}), HasSubstr("none.tsv"));
  EXPECT_EQ(refused({{"texts", "a"}}), "texts: give a list of texts");
  EXPECT_THAT(refused({{"texts", {{{"sauce", "a"}}}}}), HasSubstr("sauce: no such option here"));
  char* answer = nullptr;
  EXPECT_EQ(nmt_translator_translate(translator_, "[1]", nullptr, nullptr, &answer), NMT_USER_ERROR);
  EXPECT_EQ(nmt_translator_translate(translator_, "{\"texts\": [\"a\xff\"]}", nullptr, nullptr, &answer),
            NMT_USER_ERROR);
  EXPECT_EQ(std::string(nmt_error()).find_first_of("\n\xff"), std::string::npos);
  EXPECT_EQ(nmt_translator_translate(translator_, nullptr, nullptr, nullptr, &answer), NMT_USER_ERROR);
  EXPECT_EQ(nmt_translator_translate(nullptr, "{}", nullptr, nullptr, &answer), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error(), "translator is NULL");
  std::thread([] { EXPECT_STREQ(nmt_error(), "") << "of another thread"; }).join();
  nmt_translator* none = translator_;
  EXPECT_EQ(nmt_translator_create("{\"models\": [\"no/such/folder\"]}", &none), NMT_USER_ERROR);
  EXPECT_EQ(none, nullptr);
  EXPECT_THAT(nmt_error(), HasSubstr("no/such/folder"));
}

TEST_F(NmtH, ACallbackHearsOfProgressAndEndsTheWork) {
  std::vector<std::string> events;
  const auto listen = [](void* user, const char* event) {
    static_cast<std::vector<std::string>*>(user)->push_back(event);
    return 1;
  };
  const json request = {{"texts", {"a", "a b", "a b c"}}, {"batch_size", 1}};
  char* answer = nullptr;
  EXPECT_EQ(nmt_translator_translate(translator_, request.dump().c_str(), listen, &events, &answer), NMT_STOPPED);
  EXPECT_EQ(answer, nullptr);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(json::parse(events.front())["event"], "progress");
}

TEST_F(NmtH, ScoresGivenTranslations) {
  char* answer = nullptr;
  const json request = {{"sources", {"a b"}}, {"targets", {"h"}}, {"length_penalty", 0}};
  ASSERT_EQ(nmt_translator_score(translator_, request.dump().c_str(), nullptr, nullptr, &answer), NMT_OK)
      << nmt_error();
  const auto alternative = taken(answer)["alternatives"][0];
  EXPECT_EQ(alternative["score"], alternative["log_probability"]);
}

TEST_F(NmtH, Serves) {
  nmt_server* server = nullptr;
  const json options = {{"models", {model_}}, {"device", "cpu"}, {"threads", 1}};
  ASSERT_EQ(nmt_server_create(options.dump().c_str(), nullptr, nullptr, &server), NMT_OK) << nmt_error();
  EXPECT_THAT(nmt_server_url(server), HasSubstr("http://127.0.0.1:"));
  nmt_server_free(server);
  EXPECT_EQ(nmt_server_create("{}", nullptr, nullptr, &server), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error(), HasSubstr("config_file"));
  EXPECT_STREQ(nmt_version(), NMT_VERSION_STRING);
}

TEST(NmtHScore, IsThatOfSacreBleu) {
  const auto bleu = score({{"metric", "bleu"},
                           {"lowercase", true},
                           {"hypotheses", {"The cat sat on the mat"}},
                           {"references", {{"the cat sat on the mat"}, {"a cat"}}}});
  EXPECT_NEAR(bleu["score"], 100, 1e-9);
  EXPECT_EQ(bleu["signature"], "nrefs:2|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(bleu["precisions"].size(), 4u);
  EXPECT_NEAR(score({{"metric", "chrf"}, {"hypotheses", {"a"}}, {"references", {{"a"}}}, {"sentence", true}})["score"],
              100, 1e-9);
  score({{"metric", "meteor"}, {"hypotheses", {"a"}}, {"references", {{"a"}}}}, NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error(), "metric 'meteor': one of bleu, chrf, ter");
  score({{"metric", "ter"}, {"tokenizer", "13a"}, {"hypotheses", {"a"}}, {"references", {{"a"}}}}, NMT_USER_ERROR);
  EXPECT_THAT(nmt_error(), HasSubstr("tokenizer: no such option here"));
}

TEST(NmtHTraining, ErrorsAreTexts) {
  char* answer = nullptr;
  EXPECT_EQ(nmt_train("{\"configuration\": \"none.yaml\"}", nullptr, nullptr, &answer), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error(), HasSubstr("none.yaml"));
  EXPECT_EQ(nmt_prepare("{\"settings\": [\"data.nothing=1\"]}", nullptr, nullptr, nullptr), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error(), HasSubstr("unknown option data.nothing"));
  EXPECT_EQ(nmt_train("{\"overwrite\": true}", nullptr, nullptr, nullptr), NMT_USER_ERROR);
}

TEST(NmtHQuoted, IsJson) {
  char* quoted = nmt_quoted("a \"b\"\xff\n", 7);
  EXPECT_STREQ(quoted, "\"a \\\"b\\\"\xEF\xBF\xBD\\n\"");
  nmt_free(quoted);
}

}  // namespace
}  // namespace nmt::nmt_h_test
