#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/marian/marian_vocabulary.h"
#include "support.h"

namespace nmt::convert::marian_vocabulary_file_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(MarianVocabularyFile, TokensInYamlAreTextWhateverTheyLookLike) {
  const std::string text =
      "</s>: 0\n<unk>: 1\n\"\\\"\": 2\n'it''s': 3\n~: 4\nnull: 5\nno: 6\n12: 7\n\"\\x85\": 8\n? very long\n: 9\n\":\": "
      "10\n"
      "\xE2\x96\x81the: 11\n";
  EXPECT_THAT(parse_yaml_vocabulary(text, "v.yml"),
              ElementsAre(Pair("</s>", 0), Pair("<unk>", 1), Pair("\"", 2), Pair("it's", 3), Pair("~", 4),
                          Pair("null", 5), Pair("no", 6), Pair("12", 7), Pair("\xC2\x85", 8), Pair("very long", 9),
                          Pair(":", 10), Pair("\xE2\x96\x81the", 11)));
}

TEST(MarianVocabularyFile, RefusesYamlThatIsNone) {
  const auto message = [](const std::string& text) {
    return message_of<Error>([&] { parse_yaml_vocabulary(text, "v.yml"); });
  };
  EXPECT_THAT(message("a: 0\nb: c\n"), HasSubstr("v.yml:2: damaged"));
  EXPECT_THAT(message("a: 0\nb: {c: 1}\n"), HasSubstr("v.yml:2: damaged"));
  EXPECT_THAT(message("- a\n"), HasSubstr("v.yml:1: damaged"));
  EXPECT_THAT(message("a: 1\nb: *x\n"), HasSubstr("v.yml:2: damaged"));
  EXPECT_THAT(message(""), HasSubstr("not a map"));
  for (const char* text : {"\"a: 0\n", "? a\n", "? a\nb: 1\n", ": 1\n", "a:\n", "a: 1 2\n", "\"\\q\": 1\n"})
    EXPECT_THAT(message(text), HasSubstr("damaged")) << text;
  EXPECT_THAT(message(std::string(100'000, '[')), HasSubstr("v.yml:"));
}

TEST(MarianVocabularyFile, ReadsJson) {
  EXPECT_THAT(parse_json_vocabulary(R"({"</s>": 0, "\u2581the": 7, "\"": 65000})", "v.json"),
              ElementsAre(Pair("</s>", 0), Pair("\xE2\x96\x81the", 7), Pair("\"", 65000)));
  for (const char* text :
       {"", "{", "[1]", "7", R"({"a": 1.5})", R"({"a": "1"})", R"({"a": {"b": 1}})", R"({"a": [1]})", R"({"a": null})",
        R"({"a": true})", R"({"a": 18446744073709551615})", R"({"a": 9223372036854775808})", R"({"a": 1} x)"})
    EXPECT_THAT(message_of<Error>([&] { parse_json_vocabulary(text, "v.json"); }), HasSubstr("v.json: damaged"))
        << text;
}

TEST(MarianVocabularyFile, MustBeARegularFile) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_symlink("/dev/null", folder / "v.json");
  EXPECT_THAT(message_of<Error>([&] { read_vocabulary(folder / "v.json", 3); }), HasSubstr("is a pipe or device"));
}

TEST(MarianVocabularyFile, ChecksIdsAgainstTheTable) {
  test::TemporaryDirectory folder;
  const auto message = [&](const char* name, const std::string& text) {
    write_file_atomically(folder / name, text);
    return message_of<Error>([&] { read_vocabulary(folder / name, 3); });
  };
  write_file_atomically(folder / "good.yml", "a: 0\nb: 2\n");
  EXPECT_THAT(read_vocabulary(folder / "good.yml", 3), ElementsAre(Pair("a", 0), Pair("b", 2)));
  EXPECT_THAT(message("v.json", R"({"a": 3})"), HasSubstr("id 3 of 'a' is beyond the 3 rows"));
  EXPECT_THAT(message("v.yml", "a: -1\n"), HasSubstr("id -1 of 'a' is beyond the 3 rows"));
  EXPECT_THAT(message("v.yml", "a: 1\nb: 1\n"), HasSubstr("id 1 stands twice"));
  EXPECT_THAT(message("v.yml", "a: 1\na: 2\n"), HasSubstr("'a' stands twice"));
  EXPECT_THAT(message("v.spm", "a: 1\n"), HasSubstr("only vocabularies in .json, .yml and .yaml"));
}

}  // namespace
}  // namespace nmt::convert::marian_vocabulary_file_test
