#include <gmock/gmock.h>
#include <sys/stat.h>

#include <limits>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "support.h"

namespace nmt::json_file_test {
namespace {

using test::message_of;
using testing::HasSubstr;

std::string nested(size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(ParseJson, GivesTheTree) {
  const auto json = parse_json(R"({"b": [1, -2, 2.5, true, null, "x"], "a": {}})", "x.json");
  EXPECT_EQ(json.dump(), R"({"a":{},"b":[1,-2,2.5,true,null,"x"]})");
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(R"({"b": 1, "a": 2})", "x.json").dump(), R"({"b":1,"a":2})");
  EXPECT_EQ(parse_json_or_null(" 7 "), 7);
}

TEST(ParseJson, SaysWhatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1}x", "\"\xff\"", "{1:2}"}) {
    EXPECT_THAT(message_of<Error>([&] { parse_json(text, "x.json"); }),
                HasSubstr("x.json: damaged: not JSON (at byte "))
        << text;
    EXPECT_TRUE(parse_json_or_null(text).is_null()) << text;
  }
}

// Without a limit the first walk through the tree, or its copy, overflows the stack.
TEST(ParseJson, RefusesWhatIsNestedTooDeep) {
  const JsonLimits limits{.depth = 3};
  EXPECT_EQ(problem_of_json(nested(3), limits), std::nullopt);
  EXPECT_EQ(problem_of_json(nested(4), limits), "nested deeper than 3 levels");
  EXPECT_EQ(problem_of_json(R"({"a":[{"b":{}}]})", limits), "nested deeper than 3 levels");
  EXPECT_EQ(problem_of_json("[[],[[]],[[]]]", limits), std::nullopt) << "levels are left, too";
  EXPECT_EQ(message_of<Error>([] { parse_json(nested(300'000), "x.json"); }),
            "x.json: damaged: nested deeper than 32 levels");
}

TEST(ParseJson, RefusesWhatIsTooLarge) {
  EXPECT_EQ(problem_of_json("[1,2]", {.values = 3}), std::nullopt);
  EXPECT_EQ(problem_of_json("[1,2]", {.values = 2}), "of more than 2 values");
  EXPECT_EQ(problem_of_json(R"({"a":"b"})", {.values = 1}), "of more than 1 values");
  EXPECT_EQ(problem_of_json("[1,2]", {.bytes = 5}), std::nullopt);
  EXPECT_EQ(problem_of_json("[1,2] ", {.bytes = 5}), "of more than 5 bytes");
}

TEST(WholeNumber, IsOneThatFits) {
  const auto of = [](const char* text) { return whole_number(parse_json(text, "x.json")); };
  EXPECT_EQ(of("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(of("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* text : {"9223372036854775808", "18446744073709551615", "1e3", "1.0", "\"1\"", "true", "null", "[1]"})
    EXPECT_EQ(of(text), std::nullopt) << text;
}

TEST(ReadJsonFile, IsBoundedBeforeItReads) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "x.json", R"({"a": 1})");
  EXPECT_EQ(read_json_file(folder / "x.json").at("a"), 1);
  EXPECT_EQ(message_of<Error>([&] { read_json_file(folder / "x.json", {.bytes = 7}); }),
            (folder / "x.json").string() + ": holds more than 7 bytes");
  EXPECT_THAT(message_of<Error>([&] { read_json_file(folder / "none.json"); }), HasSubstr("cannot read"));
}

TEST(ReadJsonFile, WaitsForNoPipe) {
  const test::TemporaryDirectory folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe.string(), std::string("/dev/zero")})
    EXPECT_EQ(message_of<Error>([&] { read_json_file(path); }),
              path + ": is a pipe or device; put a regular file there");
}

}  // namespace
}  // namespace nmt::json_file_test
