#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "translation/line_formats.h"

namespace nmt::input_format_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(InputFormat, TextIsTheSource) {
  const auto request = parse_request("a\tb {\"c\"}", InputFormat::kText);
  EXPECT_EQ(request.source, "a\tb {\"c\"}");
  EXPECT_EQ(request.prefix, "");
  EXPECT_THAT(request.must, IsEmpty());
}

TEST(InputFormat, TsvHasPrefixAndPhrases) {
  const auto request = parse_request("Guten Tag.\t Good \tto you | day|\tnight | ", InputFormat::kTsv);
  EXPECT_EQ(request.source, "Guten Tag.");
  EXPECT_EQ(request.prefix, "Good");
  EXPECT_THAT(request.must, ElementsAre("to you", "day"));
  EXPECT_THAT(request.must_not, ElementsAre("night"));
}

TEST(InputFormat, TsvColumnsMayBeMissingOrEmpty) {
  EXPECT_EQ(parse_request("", InputFormat::kTsv).source, "");
  EXPECT_EQ(parse_request("a", InputFormat::kTsv).source, "a");
  const auto request = parse_request("a\t\t\tb", InputFormat::kTsv);
  EXPECT_EQ(request.prefix, "");
  EXPECT_THAT(request.must, IsEmpty());
  EXPECT_THAT(request.must_not, ElementsAre("b"));
}

TEST(InputFormat, JsonHasTheSameByName) {
  const auto request =
      parse_request(R"({"source": "Guten\tTag.", "prefix": "Good", "must": ["to you", "a|b"], "must_not": "night"})",
                    InputFormat::kJson);
  EXPECT_EQ(request.source, "Guten\tTag.");
  EXPECT_EQ(request.prefix, "Good");
  EXPECT_THAT(request.must, ElementsAre("to you", "a|b"));
  EXPECT_THAT(request.must_not, ElementsAre("night"));
  EXPECT_EQ(parse_request(" ", InputFormat::kJson).source, "");
}

TEST(InputFormat, SaysWhatIsWrong) {
  const auto message = [](const std::string& line, InputFormat format) {
    return message_of<Error>([&] { parse_request(line, format); });
  };
  EXPECT_THAT(message("a\tb\tc\td\te", InputFormat::kTsv), HasSubstr("5 columns"));
  for (const std::string line : {"a", "[]", "{\"source\": ", "\"a\"", "{} {}"})
    EXPECT_THAT(message(line, InputFormat::kJson), HasSubstr("not a JSON object")) << line;
  EXPECT_THAT(message(R"({"source": "\ud83d"})", InputFormat::kJson), HasSubstr("half of a pair"));
  EXPECT_THAT(message("{}", InputFormat::kJson), HasSubstr("\"source\" is missing"));
  EXPECT_THAT(message(R"({"source": 1})", InputFormat::kJson), HasSubstr("\"source\" is no text"));
  EXPECT_THAT(message(R"({"source": "a", "must": null})", InputFormat::kJson),
              HasSubstr("\"must\" is neither a text nor a list of texts"));
  EXPECT_THAT(message(R"({"source": "a", "must": [1]})", InputFormat::kJson), HasSubstr("\"must\" is no text"));
  for (const char* empty : {R"("")", R"(["b", " "])"})
    EXPECT_THAT(message(std::string(R"({"source": "a", "must": )") + empty + "}", InputFormat::kJson),
                HasSubstr("\"must\": a phrase is empty; leave it out"));
  EXPECT_THAT(message(R"({"source": "a", "Must": "b"})", InputFormat::kJson), HasSubstr("unknown key \"Must\""));
  EXPECT_THAT(message(R"({"source": "a", "must": "b", "must": ["{\"must\": 1}", "c"]})", InputFormat::kJson),
              HasSubstr("\"must\" stands twice"));
}

}  // namespace
}  // namespace nmt::input_format_test
