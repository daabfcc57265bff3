#include "serving/request_body.h"

#include <gmock/gmock.h>

#include "serving/request_error.h"

namespace nmt::request_body_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
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

TEST(ParseForm, NamesAndValues) {
  EXPECT_THAT(parse_form("q=Guten+Morgen%21&source=de"), ElementsAre(Pair("q", "Guten Morgen!"), Pair("source", "de")));
  EXPECT_THAT(parse_form("q=a=b&r"), ElementsAre(Pair("q", "a=b"), Pair("r", ""))) << "only the first = divides";
  EXPECT_THAT(parse_form("q=1&q=2"), ElementsAre(Pair("q", "1")));
  EXPECT_THAT(parse_form("q=%c3%BC%2B%26"), ElementsAre(Pair("q", "ü+&")));
  EXPECT_THAT(parse_form(""), ElementsAre());
}

TEST(ParseForm, DamagedEscapesStandForThemselves) {
  EXPECT_THAT(parse_form("q=100%"), ElementsAre(Pair("q", "100%")));
  EXPECT_THAT(parse_form("q=%4"), ElementsAre(Pair("q", "%4")));
  EXPECT_THAT(parse_form("q=%zz%4x"), ElementsAre(Pair("q", "%zz%4x")));
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
}

TEST(RequestBody, RefusesWhatIsNoObject) {
  for (const char* text : {"", "{", "nonsense", "{\"q\": }", "{\"q\": \"\\ud800\"}", "{\"q\": \"a\nb\"}"})
    EXPECT_THAT(refusal([&] { RequestBody::from_json(text); }), HasSubstr("not valid JSON")) << text;
  for (const char* text : {"[]", "\"text\"", "3", "null"})
    EXPECT_THAT(refusal([&] { RequestBody::from_json(text); }), HasSubstr("no JSON object")) << text;
  EXPECT_THAT(refusal([] { RequestBody::from_json("{\"q\": \"M\xfcnchen\"}"); }), HasSubstr("not UTF-8 at byte 9"));
  EXPECT_THAT(refusal([] { RequestBody::from_json(std::string(500'000, '[')); }), HasSubstr("not valid JSON"));
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
  EXPECT_THAT(refusal([&] { body.texts("missing"); }), HasSubstr("missing is missing"));
  EXPECT_THAT(refusal([&] { body.texts("number"); }), HasSubstr("number: a text"));
  EXPECT_THAT(refusal([&] { body.texts("list"); }), HasSubstr("list: a list of texts"));
  EXPECT_THAT(refusal([&] { body.text("list"); }), HasSubstr("list: a text"));
  for (const char* name : {"real", "negative", "list", "text", "object", "huge"})
    EXPECT_THAT(refusal([&] { body.whole_number(name, 0); }), HasSubstr("whole number")) << name;
  EXPECT_THAT(refusal([&] { body.yes_or_no("text"); }), HasSubstr("true or false"));
}

}  // namespace
}  // namespace nmt::request_body_test
