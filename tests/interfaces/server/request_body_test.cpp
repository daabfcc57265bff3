#include "server/request_body.h"

#include <gmock/gmock.h>

#include "server/http/http_message.h"

namespace nmt::request_body_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

/// What a 400 says; "" where nothing was thrown.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
    return "";
  } catch (const RequestError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.what();
  }
}

TEST(RequestBody, ReadsJson) {
  const auto body = RequestBody::from_json(R"({"q": ["a", "b"], "source": "de", "alternatives": 3, "attention": true,
                                               "target": null})");
  EXPECT_TRUE(body.is_list("q"));
  EXPECT_THAT(body.texts("q"), ElementsAre("a", "b"));
  EXPECT_FALSE(body.is_list("source"));
  EXPECT_THAT(body.texts("source"), ElementsAre("de"));
  EXPECT_EQ(body.text("source"), "de");
  EXPECT_EQ(body.text("target"), "");
  EXPECT_EQ(body.text("format"), "");
  EXPECT_EQ(body.whole_number("alternatives", 0), 3);
  EXPECT_EQ(body.whole_number("n_best", 1), 1);
  EXPECT_TRUE(body.yes_or_no("attention"));
  EXPECT_FALSE(body.yes_or_no("other"));
}

TEST(RequestBody, ReadsForms) {
  const auto body = RequestBody::from_form({{"q", "a"}, {"alternatives", "12"}, {"attention", "true"}});
  EXPECT_THAT(body.texts("q"), ElementsAre("a"));
  EXPECT_EQ(body.whole_number("alternatives", 0), 12);
  EXPECT_TRUE(body.yes_or_no("attention"));
  EXPECT_THAT(RequestBody::from_form({{"q", "a\r\n\r\nb\rc\r"}}).texts("q"), ElementsAre("a\n\nb\rc\r"));
}

TEST(RequestBody, CountsAllContent) {
  const auto body = RequestBody::from_json(
      R"({"q": ["\u00e4b", "c"], "s": "de", "prefix": "f", "glossary": "g\th", "source": "de", "other": "text"})");
  EXPECT_EQ(body.characters(), 9);
  EXPECT_FALSE(body.is_blank());
  EXPECT_TRUE(RequestBody::from_json(R"({"q": [" ", "\n"], "source": "de"})").is_blank());
  EXPECT_FALSE(RequestBody::from_json(R"({"q": "", "prefix": "a"})").is_blank());
  EXPECT_EQ(RequestBody::from_form({{"q", "ab"}, {"alternatives", "12"}}).characters(), 2);
}

TEST(RequestBody, WhatIsNoContentIsShort) {
  for (const char* name : {"source", "target", "format", "api_key", "anything"}) {
    EXPECT_EQ(RequestBody::from_form({{name, std::string(1000, 'a')}}).text(name).size(), 1000u);
    EXPECT_THAT(refusal([&] {
                  RequestBody::from_form({{name, std::string(1001, 'a')}}).text(name);
                }),
                HasSubstr(std::string(name) + ": 1000 bytes at most"));
  }
}

TEST(RequestBody, RefusesWhatIsNoObject) {
  for (const char* text : {"", "{", "nonsense", "{\"q\": }", "{\"q\": \"\\ud800\"}", "{\"q\": \"a\nb\"}"})
    EXPECT_THAT(refusal([&] { RequestBody::from_json(text); }), HasSubstr("not valid JSON")) << text;
  for (const char* text : {"[]", "\"text\"", "3", "null"})
    EXPECT_THAT(refusal([&] { RequestBody::from_json(text); }), HasSubstr("no JSON object")) << text;
  EXPECT_THAT(refusal([] { RequestBody::from_json("{\"q\": \"M\xfcnchen\"}"); }), HasSubstr("not UTF-8 at byte 9"));
  for (const char* deep : {"{\"q\": [[\"a\"]]}", "{\"a\": {\"b\": {}}}", "{\"a\": [1, {\"b\": 1}]}"})
    EXPECT_THAT(refusal([&] { RequestBody::from_json(deep); }), HasSubstr("nested too deeply")) << deep;
}

/// 80,000 levels ended the program once: they were written out again, by recursion, for a message.
TEST(RequestBody, DepthIsNoTrouble) {
  const std::string levels = std::string(500'000, '['), ends = std::string(500'000, ']');
  EXPECT_THAT(refusal([&] { RequestBody::from_json(levels); }), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal([&] { RequestBody::from_json("{\"q\":\"a\",\"alternatives\":" + levels + ends + "}"); }),
              HasSubstr("nested too deeply"));
}

TEST(RequestBody, RefusesBytesThatAreNoText) {
  const auto json = RequestBody::from_json(R"({"q": "a\u0000b", "l": ["a", "\u0000"]})");
  EXPECT_THAT(refusal([&] { json.texts("q"); }), HasSubstr("q: holds a NUL"));
  EXPECT_THAT(refusal([&] { json.text("q"); }), HasSubstr("q: holds a NUL"));
  EXPECT_THAT(refusal([&] { json.texts("l"); }), HasSubstr("l: holds a NUL"));
  const auto form = RequestBody::from_form({{"q", "a\0b"s}, {"r", "M\xfcnchen"}});
  EXPECT_THAT(refusal([&] { form.texts("q"); }), HasSubstr("q: holds a NUL"));
  EXPECT_THAT(refusal([&] { form.texts("r"); }), HasSubstr("r: byte 2 is not UTF-8"));
}

TEST(RequestBody, RefusesOtherTypes) {
  const auto body = RequestBody::from_json(R"({"number": 3, "real": 1.5, "negative": -1, "list": ["a", 2], "text": "3x",
                                               "object": {}, "huge": 99999999999999999999})");
  EXPECT_THAT(refusal([&] { body.texts("missing"); }), "Invalid request: missing missing parameter");
  EXPECT_THAT(refusal([&] { body.texts("number"); }), HasSubstr("number: a text"));
  EXPECT_THAT(refusal([&] { body.texts("list"); }), HasSubstr("list: a list of texts"));
  EXPECT_THAT(refusal([&] { body.text("list"); }), HasSubstr("list: a text"));
  for (const char* name : {"real", "negative", "list", "text", "object", "huge"})
    EXPECT_THAT(refusal([&] { body.whole_number(name, 0); }), HasSubstr("whole number")) << name;
  EXPECT_THAT(refusal([&] { body.yes_or_no("text"); }), HasSubstr("true or false"));
}

}  // namespace
}  // namespace nmt::request_body_test
