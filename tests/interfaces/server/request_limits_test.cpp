// What counts against the limits of a client (docs/serving.md#keys).
#include <gmock/gmock.h>

#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "server/fake_translator.h"
#include "server/http/http_message.h"
#include "server/translation_service.h"
#include "support.h"

namespace nmt::request_limits_test {
namespace {

using nlohmann::json;

class RequestLimitsTest : public testing::Test {
 protected:
  RequestLimitsTest() {
    ServiceOptions options;
    options.pairs = {{"de", "en"}};
    options.admission.limit = {.requests = 2};
    options.admission.max_characters = 50;
    options.suggestions = (folder_ / "suggestions").string();
    service_.emplace(translator_.function(), options, *log_);
  }
  static RequestBody body(const json& fields) {
    json all = {{"q", "ab"}, {"source", "de"}, {"target", "en"}};
    all.update(fields);
    return RequestBody::from_json(all.dump());
  }
  template <typename Ask>
  int status_of(Ask&& ask) {
    const auto answered = std::make_shared<std::promise<int>>();
    auto status = answered->get_future();
    try {
      ask(HttpReply([answered](const HttpResponse& given) { answered->set_value(given.status); }));
    } catch (const RequestError& error) {
      return error.status();
    }
    return status.get();
  }
  int translate(const json& fields) {
    return status_of([&](HttpReply reply) { service_->translate(body(fields), {}, std::move(reply)); });
  }
  int explain(const json& fields) {
    return status_of([&](HttpReply reply) { service_->explain(body(fields), {}, std::move(reply)); });
  }
  int suggest(const json& fields) {
    try {
      json all = {{"s", "ba"}};
      all.update(fields);
      service_->suggest(body(all), {});
      return 200;
    } catch (const RequestError& error) {
      return error.status();
    }
  }
  /// The requests that are left of the two.
  int left() {
    int left = 0;
    while (translate(json::object()) == 200) ++left;
    return left;
  }

  test::TemporaryDirectory folder_;
  std::shared_ptr<Logger> log_ = test::silent_log();
  test::FakeTranslator translator_;
  std::optional<TranslationService> service_;
};

TEST_F(RequestLimitsTest, WhatIsRefusedDoesNotCount) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(translate({{"source", "fr"}}), 400);
    EXPECT_EQ(translate({{"target", "fr"}}), 400);
    EXPECT_EQ(translate({{"source", "en"}, {"target", "de"}}), 400) << "no such pair";
    EXPECT_EQ(translate({{"source", "auto"}, {"target", "fr"}}), 400);
    EXPECT_EQ(translate({{"format", "docx"}}), 400);
    EXPECT_EQ(translate({{"format", "html"}, {"target", "fr"}}), 400);
    EXPECT_EQ(translate({{"stream", true}, {"q", json::array({"ab"})}}), 400);
    EXPECT_EQ(translate({{"alternatives", "many"}}), 400);
    EXPECT_EQ(translate({{"split_sentences", "many"}, {"format", "html"}}), 400);
    EXPECT_EQ(explain({{"split_sentences", "many"}}), 400);
    EXPECT_EQ(explain({{"source", "fr"}}), 400);
    EXPECT_EQ(explain({{"q", "ab\ncd"}, {"prefix", "b"}}), 400);
    EXPECT_EQ(suggest({{"source", "fr"}}), 400);
  }
  EXPECT_EQ(left(), 2);
}

TEST_F(RequestLimitsTest, WhatIsCopiedDoesNotCount) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(translate({{"source", "en"}}), 200) << "into the same language";
    EXPECT_EQ(translate({{"q", ""}}), 200);
    EXPECT_EQ(translate({{"q", {" \n", ""}}}), 200);
    EXPECT_EQ(explain({{"source", "en"}}), 200);
  }
  EXPECT_EQ(left(), 2);
}

TEST_F(RequestLimitsTest, AllTextsOfARequestCountTogether) {
  const std::string most(48, 'a'), half(24, 'a');  // q has two
  EXPECT_EQ(explain({{"prefix", most + "a"}}), 400);
  EXPECT_EQ(explain({{"glossary", half + "\t" + half}}), 400);
  EXPECT_EQ(translate({{"glossary", half + "\t" + half}}), 400);
  EXPECT_EQ(translate({{"glossary", half + "\t" + half}, {"format", "html"}}), 400);
  EXPECT_EQ(suggest({{"s", most + "a"}}), 400);
  EXPECT_EQ(translate({{"source", std::string(1001, 'a')}}), 400);
  EXPECT_EQ(translate({{"q", json(std::vector<std::string>(10'001))}}), 413) << "texts, though they are empty";
  EXPECT_EQ(translate({{"q", json(std::vector<std::string>(10'001))}, {"format", "html"}}), 413);
  // What terms put in counts, too: 2 * 20 beside 3 and 22.
  const auto inserted = json{{"q", "a a"}, {"glossary", "a\t" + std::string(20, 'b')}};
  EXPECT_EQ(translate(inserted), 400);
  EXPECT_EQ(explain(inserted), 400);
  auto html = inserted;
  html["format"] = "html";
  EXPECT_EQ(translate(html), 400);
  EXPECT_EQ(left(), 1) << "the markup was read";
}

// Else who has nothing left could keep asking for what costs most.
TEST_F(RequestLimitsTest, WhatIsWorkCounts) {
  const std::string english = "The old man has a house in the city.";
  EXPECT_EQ(translate({{"source", "auto"}, {"q", english}}), 200) << "its language is looked for";
  EXPECT_EQ(suggest(json::object()), 200);
  EXPECT_EQ(left(), 0);
  EXPECT_EQ(translate({{"source", "auto"}, {"q", english}}), 429);
  EXPECT_EQ(translate({{"format", "html"}}), 429);
  EXPECT_EQ(explain(json::object()), 429);
  EXPECT_EQ(suggest(json::object()), 429);
  EXPECT_THROW(service_->detect(body(json::object()), {}), RequestError);
}

}  // namespace
}  // namespace nmt::request_limits_test
