#include "serving/translation_service.h"

#include <gmock/gmock.h>

#include <optional>

#include "base/error.h"
#include "serving/fake_translator.h"
#include "serving/request_error.h"

namespace nmt::translation_service_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class TranslationServiceTest : public testing::Test {
 protected:
  TranslationServiceTest() { make({.source_language = "de", .target_language = "en", .max_n_best = 4}); }
  void make(ServiceOptions options) {
    options.queue.window = 0ms;
    service_.emplace(translator_.function(), options, *log_);
  }
  static RequestBody body(const nlohmann::json& fields) { return RequestBody::from_json(fields.dump()); }
  nlohmann::json translate(const nlohmann::json& fields) { return service_->translate(body(fields)); }
  nlohmann::json explain(const nlohmann::json& fields) { return service_->explain(body(fields)); }
  /// "STATUS MESSAGE" of a request that is refused.
  std::string refusal(const nlohmann::json& fields) {
    try {
      return "200 " + translate(fields).dump();
    } catch (const RequestError& error) {
      return std::to_string(error.status()) + " " + error.what();
    }
  }

  std::shared_ptr<Logger> log_ = test::silent_log();
  test::FakeTranslator translator_;
  std::optional<TranslationService> service_;
};

TEST_F(TranslationServiceTest, TextOrList) {
  EXPECT_EQ(translate({{"q", "ab"}}), nlohmann::json({{"translatedText", "ba"}}));
  EXPECT_EQ(translate({{"q", {"ab", "cd"}}}), nlohmann::json({{"translatedText", {"ba", "dc"}}}));
  EXPECT_EQ(translate({{"q", {"ab"}}}), nlohmann::json({{"translatedText", nlohmann::json::array({"ba"})}}));
  EXPECT_EQ(translate({{"q", nlohmann::json::array()}})["translatedText"], nlohmann::json::array());
}

TEST_F(TranslationServiceTest, LinesAreTranslatedByThemselves) {
  EXPECT_EQ(translate({{"q", "ab\n\ncd\r\n"}})["translatedText"], "ba\n\ndc\r\n");
  EXPECT_EQ(translate({{"q", {"ab\ncd", "", "ef"}}})["translatedText"], nlohmann::json({"ba\ndc", "", "fe"}));
  EXPECT_EQ(translator_.batches().back(), (std::vector<std::string>{"ab", "cd", "ef"}));
}

TEST_F(TranslationServiceTest, EmptyTextGivesEmptyText) {
  EXPECT_EQ(translate({{"q", ""}}), nlohmann::json({{"translatedText", ""}}));
  EXPECT_EQ(translate({{"q", " \n "}, {"alternatives", 2}}),
            nlohmann::json({{"translatedText", "\n"}, {"alternatives", nlohmann::json::array()}}));
  EXPECT_TRUE(translator_.batches().empty());
}

TEST_F(TranslationServiceTest, Alternatives) {
  EXPECT_EQ(translate({{"q", "ab"}, {"alternatives", 2}})["alternatives"], nlohmann::json({"ba (2)", "ba (3)"}));
  EXPECT_EQ(translate({{"q", "ab\ncd"}, {"alternatives", 1}})["alternatives"],
            nlohmann::json::array({"ba (2)\ndc (2)"}));
  EXPECT_EQ(translate({{"q", {"ab", "cd"}}, {"alternatives", 1}})["alternatives"],
            nlohmann::json({nlohmann::json::array({"ba (2)"}), nlohmann::json::array({"dc (2)"})}));
  EXPECT_EQ(translate({{"q", "ab"}, {"alternatives", 1000}})["alternatives"].size(), 3u) << "no more than there are";
  EXPECT_FALSE(translate({{"q", "ab"}, {"alternatives", 0}}).contains("alternatives"));
}

TEST_F(TranslationServiceTest, ALineWithFewerAlternativesRepeatsItsLast) {
  service_.emplace(
      [](std::span<const Question> questions) {
        std::vector<Answer> answers(questions.size());
        answers[0].n_best = {{.text = "1a"}};
        answers[1].n_best = {{.text = "2a"}, {.text = "2b"}};
        return answers;
      },
      ServiceOptions{.max_n_best = 4}, *log_);
  EXPECT_EQ(translate({{"q", "x\ny"}, {"alternatives", 3}})["alternatives"], nlohmann::json::array({"1a\n2b"}));
}

TEST_F(TranslationServiceTest, Languages) {
  for (const char* source : {"de", "auto", ""})
    EXPECT_EQ(translate({{"q", "ab"}, {"source", source}, {"target", "en"}})["translatedText"], "ba") << source;
  EXPECT_THAT(refusal({{"q", "ab"}, {"source", "fr"}, {"target", "en"}}),
              HasSubstr("400 source 'fr' is not supported: this server translates from de into en"));
  EXPECT_THAT(refusal({{"q", "ab"}, {"source", "de"}, {"target", "fr"}}), HasSubstr("400 target 'fr'"));
  EXPECT_THAT(refusal({{"q", "ab"}, {"source", "de"}, {"target", "auto"}}), HasSubstr("400 target 'auto'"));
  EXPECT_EQ(service_->languages(), nlohmann::ordered_json::parse(R"([
      {"code": "de", "name": "German", "targets": ["en"]}, {"code": "en", "name": "English", "targets": []}])"));
}

TEST_F(TranslationServiceTest, ModelsThatDoNotSayTheirLanguagesTakeAny) {
  make({});
  EXPECT_EQ(translate({{"q", "ab"}, {"source", "fr"}, {"target", "is"}})["translatedText"], "ba");
  EXPECT_EQ(service_->languages().size(), 1u);
  EXPECT_EQ(service_->languages()[0]["code"], "und");
}

TEST_F(TranslationServiceTest, Formats) {
  EXPECT_EQ(translate({{"q", "ab"}, {"format", "text"}})["translatedText"], "ba");
  EXPECT_THAT(refusal({{"q", "ab"}, {"format", "html"}}), HasSubstr("400 format 'html' is not supported"));
}

TEST_F(TranslationServiceTest, AsksForTheKey) {
  make({.api_key = "secret"});
  EXPECT_THAT(refusal({{"q", "ab"}}), HasSubstr("403 this server wants an API key"));
  for (const char* wrong : {"secre", "secret ", "Secret", "secrets"})
    EXPECT_THAT(refusal({{"q", "ab"}, {"api_key", wrong}}), HasSubstr("403 the API key is not valid")) << wrong;
  EXPECT_EQ(translate({{"q", "ab"}, {"api_key", "secret"}})["translatedText"], "ba");
  EXPECT_THROW(explain({{"q", "ab"}}), RequestError);
  EXPECT_EQ(explain({{"q", "ab"}, {"api_key", "secret"}})["text"], "ba");
  EXPECT_TRUE(service_->settings()["keyRequired"].get<bool>());
}

TEST_F(TranslationServiceTest, ExplainsEachLine) {
  auto reply = explain({{"q", "ab\n\ncd"}, {"n_best", 2}, {"attention", true}});
  EXPECT_GE(reply["seconds"], 0.0);
  reply.erase("seconds");
  EXPECT_EQ(reply, nlohmann::json::parse(R"json({"text": "ba\n\ndc", "lines": [
      {"source": "ab", "source_tokens": 2, "split": false, "attention_svg": "<svg>ba</svg>", "n_best": [
        {"text": "ba", "score": -1.0, "log_probability": -2.0, "tokens": 3, "finished": true},
        {"text": "ba (2)", "score": -2.0, "log_probability": -4.0, "tokens": 3, "finished": true}]},
      {"source": "cd", "source_tokens": 2, "split": false, "attention_svg": "<svg>dc</svg>", "n_best": [
        {"text": "dc", "score": -1.0, "log_probability": -2.0, "tokens": 3, "finished": true},
        {"text": "dc (2)", "score": -2.0, "log_probability": -4.0, "tokens": 3, "finished": true}]}]})json"));
  EXPECT_FALSE(explain({{"q", "ab"}})["lines"][0].contains("attention_svg"));
  EXPECT_EQ(explain({{"q", "ab"}, {"n_best", 1000}})["lines"][0]["n_best"].size(), 4u);
  EXPECT_EQ(explain({{"q", ""}})["lines"].size(), 0u);
  EXPECT_THROW(explain({{"q", {"ab"}}}), RequestError);
}

TEST_F(TranslationServiceTest, TheTimeLimitCounts) {
  make({.time_limit = 20ms});
  translator_.hold();
  EXPECT_THAT(refusal({{"q", "ab"}}), HasSubstr("504 "));
  translator_.release();
}

TEST_F(TranslationServiceTest, CountsWhatItDid) {
  translate({{"q", "ab\ncd"}});
  refusal({{"q", 3}});
  const auto text = service_->metrics_text();
  EXPECT_THAT(text, HasSubstr("nmt_sentences_total 2\n"));
  EXPECT_THAT(text, HasSubstr("nmt_source_tokens_total 4\n"));
  EXPECT_THAT(text, HasSubstr("nmt_target_tokens_total 6\n"));
  EXPECT_THAT(text, HasSubstr("nmt_request_seconds_count 2\n")) << "what is refused took time, too";
}

TEST_F(TranslationServiceTest, RefusesOptionsOutOfRange) {
  EXPECT_THROW(make({.max_n_best = 0}), Error);
  EXPECT_THROW(make({.time_limit = 0ms}), Error);
  EXPECT_THROW(make({.queue = {.max_waiting = 0}}), Error);
}

}  // namespace
}  // namespace nmt::translation_service_test
