#include "server/translation_service.h"

#include <gmock/gmock.h>

#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "server/fake_translator.h"
#include "server/http/http_message.h"
#include "support.h"
#include "text/terms.h"

namespace nmt::translation_service_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class TranslationServiceTest : public testing::Test {
 protected:
  TranslationServiceTest() { make({.pairs = {{"de", "en"}}, .max_n_best = 4}); }
  void make(ServiceOptions options) {
    options.queue.window = 0ms;
    service_.emplace(translator_.function(), options, *log_);
  }
  static ServiceOptions with(AdmissionRules rules) {
    ServiceOptions options;
    options.pairs = {{"de", "en"}};
    options.admission = std::move(rules);
    return options;
  }
  /// From de into en, where the fields say nothing else.
  static RequestBody body(const nlohmann::json& fields) {
    nlohmann::json all = {{"source", "de"}, {"target", "en"}};
    all.update(fields);
    return RequestBody::from_json(all.dump());
  }
  using Call = void (TranslationService::*)(const RequestBody&, const Caller&, HttpReply);
  /// Waits for the answer; a refusal is thrown.
  HttpResponse response_of(Call call, const nlohmann::json& fields, const Caller& caller = {}) {
    const auto answered = std::make_shared<std::promise<HttpResponse>>();
    std::future<HttpResponse> response = answered->get_future();
    ((*service_).*call)(body(fields), caller,
                        HttpReply([answered](HttpResponse given) { answered->set_value(std::move(given)); }));
    return response.get();
  }
  nlohmann::json translate(const nlohmann::json& fields) {
    return nlohmann::json::parse(response_of(&TranslationService::translate, fields).body);
  }
  nlohmann::json explain(const nlohmann::json& fields) {
    return nlohmann::json::parse(response_of(&TranslationService::explain, fields).body);
  }
  /// The events of an answer that is a stream, when it has ended.
  std::string events(Call call, const nlohmann::json& fields) {
    const auto response = response_of(call, fields);
    if (!response.stream) return std::to_string(response.status) + " " + response.body;
    EXPECT_EQ(response.content_type, "text/event-stream; charset=utf-8");
    std::string text;
    EXPECT_TRUE(test::eventually([&] {
      const auto [bytes, ended] = response.stream->take();
      text += bytes;
      return ended;
    }));
    return text;
  }
  /// "STATUS MESSAGE" of a request that is refused.
  std::string refusal(const nlohmann::json& fields, const Caller& caller = {}) {
    try {
      const auto response = response_of(&TranslationService::translate, fields, caller);
      return std::to_string(response.status) + " " + response.body;
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
            nlohmann::json({{"translatedText", " \n "}, {"alternatives", nlohmann::json::array()}}));
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
  service_.emplace(in_batches([](const LanguagePair&, std::span<const Request> questions, const auto&) {
                     std::vector<Translation> answers(questions.size());
                     answers[0].alternatives = {{.text = "1a"}};
                     answers[1].alternatives = {{.text = "2a"}, {.text = "2b"}};
                     return answers;
                   }),
                   ServiceOptions{.pairs = {{"de", "en"}}, .max_n_best = 4}, *log_);
  EXPECT_EQ(translate({{"q", "x\ny"}, {"alternatives", 3}})["alternatives"], nlohmann::json::array({"1a\n2b"}));
}

TEST_F(TranslationServiceTest, Languages) {
  EXPECT_EQ(translate({{"q", "ab"}, {"source", "de"}, {"target", "en"}})["translatedText"], "ba");
  EXPECT_EQ(refusal({{"q", "ab"}, {"source", "fr"}, {"target", "en"}}), "400 fr is not supported");
  EXPECT_EQ(refusal({{"q", "ab"}, {"source", "de"}, {"target", "fr"}}), "400 fr is not supported");
  EXPECT_EQ(refusal({{"q", "ab"}, {"source", ""}}), "400 Invalid request: missing source parameter");
  EXPECT_EQ(refusal({{"q", "ab"}, {"target", nullptr}}), "400 Invalid request: missing target parameter");
  EXPECT_EQ(service_->languages(), nlohmann::ordered_json::parse(R"([
      {"code": "de", "name": "German", "targets": ["en"]}, {"code": "en", "name": "English", "targets": []}])"));
}

TEST_F(TranslationServiceTest, SourceAutoIsDetected) {
  const std::string german = "das ist ein Haus und ein Garten", english = "this is a house and a garden";
  const std::string translated(german.rbegin(), german.rend());
  auto reply = translate({{"q", german}, {"source", "auto"}});
  EXPECT_EQ(reply["translatedText"], translated);
  EXPECT_EQ(reply["detectedLanguage"]["language"], "de");
  EXPECT_GT(reply["detectedLanguage"]["confidence"], 50);
  reply = translate({{"q", {german, english, "12"}}, {"source", "auto"}, {"alternatives", 1}});
  EXPECT_EQ(reply["translatedText"], nlohmann::json({translated, english, "12"})) << "English is English already";
  EXPECT_EQ(reply["detectedLanguage"].size(), 3u);
  EXPECT_EQ(reply["detectedLanguage"][1]["language"], "en");
  EXPECT_EQ(reply["detectedLanguage"][2], nlohmann::json({{"confidence", 0.0}, {"language", "de"}}));
  EXPECT_EQ(reply["alternatives"][1], nlohmann::json::array());
}

TEST_F(TranslationServiceTest, EachTextGoesToItsPair) {
  make({.pairs = {{"de", "en"}, {"en", "de"}}, .max_n_best = 4});
  const std::string german = "das ist ein Haus und ein Garten", english = "this is a house and a garden";
  const auto reply = translate({{"q", {german, english}}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(reply["translatedText"], nlohmann::json({german, std::string(english.rbegin(), english.rend())}));
}

TEST_F(TranslationServiceTest, Detects) {
  EXPECT_EQ(service_->detect(body({{"q", "das ist ein Haus"}}), {})[0]["language"], "de");
  EXPECT_EQ(service_->detect(body({{"q", "123"}}), {}),
            nlohmann::ordered_json::parse(R"([{"confidence": 0.0, "language": "de"}])"));
  EXPECT_THROW(service_->detect(body({{"q", {"das ist ein Haus"}}}), {}), RequestError);
  EXPECT_THROW(service_->detect(body(nlohmann::json::object()), {}), RequestError);
  make(with({.keys = ApiKeys::single("secret")}));
  EXPECT_THROW(service_->detect(body({{"q", "das ist ein Haus"}}), {}), RequestError);
}

TEST_F(TranslationServiceTest, KeepsSuggestions) {
  const nlohmann::json fields = {{"q", "das Haus\n"}, {"s", "the \"house\""}};
  EXPECT_THROW(service_->suggest(body(fields), {}), RequestError) << "not asked for";
  EXPECT_FALSE(service_->settings()["suggestions"].get<bool>());

  const test::TemporaryDirectory folder;
  const auto path = folder / "suggestions.jsonl";
  auto options = with({});
  options.suggestions = path.string();
  make(options);
  EXPECT_TRUE(service_->settings()["suggestions"].get<bool>());
  EXPECT_EQ(service_->suggest(body(fields), {}), nlohmann::ordered_json({{"success", true}}));
  EXPECT_THROW(service_->suggest(body({{"q", "das Haus"}}), {}), RequestError) << "no s";
  EXPECT_THROW(service_->suggest(body({{"q", "das Haus"}, {"s", "x"}, {"target", "fr"}}), {}), RequestError);
  service_->suggest(body({{"q", "zwei"}, {"s", "two"}}), {});
  std::istringstream lines(read_file(path));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  auto kept = nlohmann::json::parse(line);
  EXPECT_GT(kept["time"], 1'700'000'000);
  kept.erase("time");
  EXPECT_EQ(kept, nlohmann::json({{"q", "das Haus\n"}, {"s", "the \"house\""}, {"source", "de"}, {"target", "en"}}));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(TranslationServiceTest, ModelsThatDoNotSayTheirLanguagesTakeAny) {
  make(ServiceOptions());
  EXPECT_EQ(translate({{"q", "ab"}, {"source", "fr"}, {"target", "is"}})["translatedText"], "ba");
  EXPECT_EQ(service_->languages().size(), 1u);
  EXPECT_EQ(service_->languages()[0]["code"], "und");
}

TEST_F(TranslationServiceTest, Formats) {
  EXPECT_EQ(translate({{"q", "ab"}, {"format", "text"}})["translatedText"], "ba");
  EXPECT_EQ(refusal({{"q", "ab"}, {"format", "pdf"}}), "400 pdf format is not supported");
}

TEST_F(TranslationServiceTest, MarkupStays) {
  const nlohmann::json html = {{"format", "html"}, {"q", "<p class=x>ab</p><p>&amp;</p>\n<p>cd</p>"}};
  EXPECT_EQ(translate(html)["translatedText"], "<p class=x>ba</p><p>&amp;</p>\n<p>dc</p>");
  EXPECT_EQ(translate({{"format", "html"}, {"q", {"<b>ab</b>", "", "ef"}}, {"alternatives", 2}}),
            nlohmann::json::parse(R"({"translatedText": ["<b>ba</b>", "", "fe"], "alternatives": [[], [], []]})"));
  EXPECT_EQ(translate({{"format", "html"}, {"q", nlohmann::json::array()}})["translatedText"], nlohmann::json::array());
  EXPECT_EQ(refusal({{"format", "html"}, {"q", "<p>ab"}, {"source", "fr"}}), "400 fr is not supported");
  EXPECT_EQ(refusal({{"format", "html"}, {"q", {"<p>ab", "<p>fail"}}}),
            R"(500 {"error":"the translation failed; the server's log says why"})");
}

TEST_F(TranslationServiceTest, AClientSaysWhetherSentencesAreSplit) {
  const auto asked = [&] { return translator_.questions().back().split_sentences; };
  for (const char* const format : {"text", "html"}) {
    translate({{"q", "ab"}, {"format", format}});
    EXPECT_EQ(asked(), std::nullopt) << "as the service does";
    translate({{"q", "ab"}, {"format", format}, {"split_sentences", false}});
    EXPECT_EQ(asked(), false);
    translate({{"q", "ab"}, {"format", format}, {"split_sentences", "true"}});
    EXPECT_EQ(asked(), true);
  }
  explain({{"q", "ab"}, {"split_sentences", false}});
  EXPECT_EQ(asked(), false);
  EXPECT_EQ(refusal({{"q", "ab"}, {"split_sentences", "maybe"}}), "400 split_sentences: true or false was expected");
}

// A request is as long as --max-characters lets it be, like the same text as a document.
TEST_F(TranslationServiceTest, ManyLinesTextsOrFragmentsAreOneRequest) {
  constexpr size_t kMany = 2000;
  const std::vector<std::string> texts(kMany, "ab"), translated(kMany, "ba");
  std::string lines, translated_lines;
  for (size_t i = 0; i < kMany; ++i) lines += "ab\n", translated_lines += "ba\n";
  EXPECT_EQ(translate({{"q", lines}})["translatedText"], translated_lines);
  EXPECT_EQ(translate({{"q", texts}})["translatedText"], translated);
  EXPECT_EQ(translate({{"q", texts}, {"format", "html"}})["translatedText"], translated);
  EXPECT_EQ(explain({{"q", lines}})["text"], translated_lines);
  EXPECT_EQ(refusal({{"q", std::vector<std::string>(10'001)}}), "413 10001 texts: at most 10000 a request");
}

TEST_F(TranslationServiceTest, TheSourceOfMarkupIsDetected) {
  const auto reply =
      translate({{"format", "html"},
                 {"source", "auto"},
                 {"q", {"<p>this is a house</p><p>and this is a garden</p>", "<p>das ist ein Haus</p>"}}});
  EXPECT_EQ(reply["translatedText"][0], "<p>this is a house</p><p>and this is a garden</p>") << "English already";
  EXPECT_EQ(reply["translatedText"][1], "<p>suaH nie tsi sad</p>");
  EXPECT_EQ(reply["detectedLanguage"][0]["language"], "en");
  EXPECT_EQ(reply["detectedLanguage"][1]["language"], "de");
}

TEST_F(TranslationServiceTest, TranslatesDocuments) {
  const auto send = [&](const std::string& name, const std::string& bytes, const nlohmann::json& fields = {},
                        const Caller& caller = {}) {
    const auto answered = std::make_shared<std::promise<HttpResponse>>();
    try {
      service_->translate_file({name, bytes}, body(fields.is_null() ? nlohmann::json::object() : fields), caller,
                               "https://here",
                               HttpReply([answered](HttpResponse given) { answered->set_value(std::move(given)); }));
    } catch (const RequestError& refused) {
      return error_response(refused);
    }
    return answered->get_future().get();
  };
  const auto reply = send("a letter.html", "<html><p>ab</p></html>");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const std::string url = nlohmann::json::parse(reply.body)["translatedFileUrl"];
  EXPECT_THAT(url, testing::MatchesRegex("https://here/download_file/[0-9a-f]{32}\\.html"));
  const auto download = service_->download(url.substr(url.rfind('/') + 1));
  ASSERT_TRUE(download);
  EXPECT_EQ(download->bytes, "<html><p>ba</p></html>");
  EXPECT_EQ(download->file_name, "a letter.html");
  EXPECT_THAT(download->media_type, HasSubstr("text/html"));
  EXPECT_FALSE(service_->download("letter.html"));

  std::string large;
  while (large.size() < 300 << 10) large += "<p class='a long name of a class'>ab</p>";
  EXPECT_EQ(send("large.html", large).status, 200);

  EXPECT_THAT(send("a.pdf", "x").body, HasSubstr("file format not supported"));
  EXPECT_THAT(send("a.txt", "").body, HasSubstr("empty file"));
  EXPECT_THAT(send("a.txt", "ab", {{"target", ""}}).body, HasSubstr("missing target parameter"));
  EXPECT_THAT(send("a.txt", "ab", {{"target", "zz"}}).body, HasSubstr("zz is not supported"));
  EXPECT_EQ(send("a.docx", "PK\x03\x04").status, 400) << "damaged";
  auto options = with({.keys = ApiKeys::single("secret"), .max_document_characters = 4});
  make(options);
  EXPECT_EQ(send("a.txt", "ab").status, 403);
  EXPECT_EQ(send("a.txt", "abcd", {{"api_key", "secret"}}).status, 200);
  EXPECT_EQ(send("a.txt", "abcde", {{"api_key", "secret"}}).status, 400);
}

TEST_F(TranslationServiceTest, ALongDocumentLeavesRoomForOthers) {
  auto options = with({});
  options.queue = {.max_waiting = 8, .max_batch = 2};
  make(options);
  std::string html, expected;
  for (int i = 0; i < 100; ++i) html += "<p>ab</p>", expected += "<p>ba</p>";
  EXPECT_EQ(translate({{"format", "html"}, {"q", html}})["translatedText"], expected);
  for (const auto& batch : translator_.batches()) EXPECT_LE(batch.size(), 2u);
}

TEST_F(TranslationServiceTest, AsksForTheKey) {
  make(with({.keys = ApiKeys::single("secret")}));
  EXPECT_THAT(refusal({{"q", "ab"}}), HasSubstr("403 this server wants an API key"));
  for (const char* wrong : {"secre", "secret ", "Secret", "secrets"})
    EXPECT_THAT(refusal({{"q", "ab"}, {"api_key", wrong}}), HasSubstr("403 the API key is not valid")) << wrong;
  EXPECT_EQ(translate({{"q", "ab"}, {"api_key", "secret"}})["translatedText"], "ba");
  EXPECT_THAT(refusal({{"q", "ab"}}, {.key = "secret"}), HasSubstr("200 ")) << "in a header";
  EXPECT_THROW(explain({{"q", "ab"}}), RequestError);
  EXPECT_EQ(explain({{"q", "ab"}, {"api_key", "secret"}})["text"], "ba");
  EXPECT_TRUE(service_->settings()["keyRequired"].get<bool>());
}

TEST_F(TranslationServiceTest, ExplainsEachLine) {
  auto reply = explain({{"q", "ab\n\ncd"}, {"n_best", 2}, {"attention", true}});
  EXPECT_GE(reply["seconds"], 0.0);
  reply.erase("seconds");
  for (auto& line : reply["lines"]) {
    const std::string svg = line["attention_svg"], source = line["source"];
    EXPECT_TRUE(svg.starts_with("<svg") && svg.find(std::string(source.rbegin(), source.rend())) != svg.npos) << svg;
    line.erase("attention_svg");
  }
  EXPECT_EQ(reply, nlohmann::json::parse(R"json({"text": "ba\n\ndc", "lines": [
      {"source": "ab", "source_tokens": 2, "split": false, "n_best": [
        {"text": "ba", "score": -1.0, "log_probability": -2.0, "tokens": 3, "finished": true},
        {"text": "ba (2)", "score": -2.0, "log_probability": -4.0, "tokens": 3, "finished": true}]},
      {"source": "cd", "source_tokens": 2, "split": false, "n_best": [
        {"text": "dc", "score": -1.0, "log_probability": -2.0, "tokens": 3, "finished": true},
        {"text": "dc (2)", "score": -2.0, "log_probability": -4.0, "tokens": 3, "finished": true}]}]})json"));
  EXPECT_FALSE(explain({{"q", "ab"}})["lines"][0].contains("attention_svg"));
  EXPECT_EQ(explain({{"q", "ab"}, {"n_best", 1000}})["lines"][0]["n_best"].size(), 4u);
  EXPECT_EQ(explain({{"q", ""}})["lines"].size(), 0u);
  EXPECT_THROW(explain({{"q", {"ab"}}}), RequestError);
}

TEST_F(TranslationServiceTest, ExplainsNothingOfATextInTheTargetLanguage) {
  const std::string english = "The old man has a house in the city.";
  const auto reply = explain({{"q", english}, {"source", "auto"}, {"target", "en"}});
  EXPECT_EQ(reply["text"], english);
  EXPECT_EQ(reply["lines"].size(), 0u);
  EXPECT_EQ(reply["detectedLanguage"]["language"], "en");
}

TEST_F(TranslationServiceTest, ExplainsWhichWordsBelongTogether) {
  EXPECT_EQ(explain({{"q", "\u00E4b"}, {"alignment", true}})["lines"][0]["alignment"],
            nlohmann::json::parse(R"([{"source": [0, 2], "target": [0, 2]}])"))
      << "in characters";
  EXPECT_FALSE(explain({{"q", "ab"}})["lines"][0].contains("alignment"));
}

TEST_F(TranslationServiceTest, ExplainsHowABeginningGoesOn) {
  explain({{"q", "ab"}, {"prefix", "The "}, {"n_best", 3}});
  EXPECT_EQ(translator_.questions().back().prefix, "The ");
  EXPECT_EQ(translator_.questions().back().n_best, 3);
  EXPECT_TRUE(translator_.questions().back().distinct);
  explain({{"q", "ab"}, {"prefix", ""}, {"n_best", 2}});
  EXPECT_TRUE(translator_.questions().back().distinct) << "other first words";
  explain({{"q", "ab"}});
  EXPECT_FALSE(translator_.questions().back().distinct);
  EXPECT_THROW(explain({{"q", "ab\ncd"}, {"prefix", "The"}}), RequestError);
}

TEST_F(TranslationServiceTest, TakesTheTermsOfTheClient) {
  const nlohmann::json fields = {{"q", "ein Hund"}, {"glossary", "Hund\thound\n"}, {"keep_placeholders", true}};
  for (const auto call : {&TranslationService::translate, &TranslationService::explain}) {
    response_of(call, fields);
    const auto asked = translator_.questions().back();
    ASSERT_TRUE(asked.terms.glossary);
    EXPECT_EQ(asked.terms.glossary->find("ein Hund").size(), 1u);
    EXPECT_TRUE(asked.terms.keep_placeholders);
  }
  auto html = fields;
  html["format"] = "html";
  translate(html);
  EXPECT_TRUE(translator_.questions().back().terms.glossary && translator_.questions().back().terms.keep_placeholders);
  translate({{"q", "ab"}});
  EXPECT_FALSE(translator_.questions().back().terms.glossary || translator_.questions().back().terms.keep_placeholders);
  EXPECT_EQ(refusal({{"q", "ab"}, {"glossary", "Hund"}}),
            "400 glossary:1: use SOURCE, a tab, TARGET, and perhaps a tab and flags (case, keep)");
}

TEST_F(TranslationServiceTest, StreamsLineByLine) {
  EXPECT_THAT(
      events(&TranslationService::translate, {{"q", "ab\n\ncd"}, {"stream", true}, {"alternatives", 1}}),
      testing::MatchesRegex(
          "event: line\ndata: \\{\"line\":0,\"translatedText\":\"ba\",\"alternatives\":\\[\"ba \\(2\\)\"\\]\\}\n\n"
          "event: line\ndata: \\{\"line\":2,\"translatedText\":\"dc\",\"alternatives\":\\[\"dc \\(2\\)\"\\]\\}\n\n"
          "event: end\ndata: \\{\"seconds\":[0-9.e-]+\\}\n\n"));
  EXPECT_THAT(events(&TranslationService::explain, {{"q", "ab"}, {"stream", true}}),
              testing::AllOf(HasSubstr("\"source\":\"ab\""), HasSubstr("\"line\":0"), HasSubstr("event: end\n")));
  EXPECT_THAT(events(&TranslationService::translate, {{"q", ""}, {"stream", true}}),
              testing::StartsWith("event: end\n"))
      << "nothing to translate";
  EXPECT_THAT(refusal({{"q", {"ab"}}, {"stream", true}}), HasSubstr("400 stream: goes with one text in q"));
  EXPECT_THAT(refusal({{"q", "ab"}, {"stream", true}, {"format", "html"}}), HasSubstr("400 stream: goes with format"));
}

TEST_F(TranslationServiceTest, AStreamThatFailsSaysSo) {
  EXPECT_THAT(events(&TranslationService::translate, {{"q", "fail"}, {"stream", true}}), HasSubstr("500 {\"error\""))
      << "before its first event it is an answer like others";
}

TEST_F(TranslationServiceTest, CharactersOfARequest) {
  make(with({.max_characters = 4}));
  EXPECT_THAT(refusal({{"q", "äöüß"}}), HasSubstr("200 ")) << "characters, not bytes";
  EXPECT_EQ(refusal({{"q", "abcde"}}), "400 Invalid request: request (5) exceeds text limit (4)");
  EXPECT_EQ(refusal({{"q", {"abc", "de"}}}), "400 Invalid request: request (5) exceeds text limit (4)");
  EXPECT_EQ(service_->settings()["charLimit"], 4);
}

TEST_F(TranslationServiceTest, LimitsOfAMinute) {
  make(with({.limit = {.requests = 2}}));
  const Caller one{.address = "10.0.0.1"}, other{.address = "10.0.0.2"};
  EXPECT_THAT(refusal({{"q", "ab"}}, one), HasSubstr("200 "));
  EXPECT_THAT(refusal({{"q", "ab"}}, one), HasSubstr("200 "));
  EXPECT_THAT(refusal({{"q", "ab"}}, one), HasSubstr("429 Slowdown: the limit is reached; try again in 30 s"));
  EXPECT_THAT(refusal({{"q", "ab"}}, other), HasSubstr("200 "));
}

TEST_F(TranslationServiceTest, NoPictureOfALongLine) {
  const std::string line(1001, 'a');
  EXPECT_FALSE(explain({{"q", line}, {"attention", true}})["lines"][0].contains("attention_svg"));
  EXPECT_TRUE(explain({{"q", line.substr(1)}, {"attention", true}})["lines"][0].contains("attention_svg"));
}

TEST_F(TranslationServiceTest, ALineThatFailsIsAnError) {
  EXPECT_EQ(refusal({{"q", "fail"}}), "500 {\"error\":\"the translation failed; the server's log says why\"}");
}

TEST_F(TranslationServiceTest, CountsWhatItDid) {
  translate({{"q", "ab\ncd"}});
  refusal({{"q", 3}});
  const auto text = service_->metrics_text();
  EXPECT_THAT(text, HasSubstr("nmt_sentences_total 2\n"));
  EXPECT_THAT(text, HasSubstr("nmt_source_tokens_total 4\n"));
  EXPECT_THAT(text, HasSubstr("nmt_target_tokens_total 6\n"));
  EXPECT_THAT(text, HasSubstr("nmt_request_seconds_count{pair=\"de-en\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("nmt_request_seconds_count{pair=\"none\"} 1\n")) << "what is refused took time, too";
}

TEST_F(TranslationServiceTest, RefusesOptionsOutOfRange) {
  ServiceOptions options;
  options.max_n_best = 0;
  EXPECT_THROW(make(options), Error);
  options = {};
  options.admission.max_characters = 0;
  EXPECT_THROW(make(options), Error);
  options = {};
  options.queue.max_waiting = 0;
  EXPECT_THROW(make(options), Error);
  options = {};
  options.pairs.clear();
  EXPECT_THROW(make(options), Error);
}

}  // namespace
}  // namespace nmt::translation_service_test
