#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/strict_json.h"
#include "translation/line_formats.h"
#include "translation/word_tokenizer.h"

namespace nmt::output_format_test {
namespace {

using nlohmann::json;
using enum OutputColumn;

/// "b a" for "a b", of two alternatives.
Translation two_alternatives() {
  const std::vector<float> crossed = {0.1F, 0.9F, 0.8F, 0.2F, 0, 0};
  Translation translation{.text = "b a", .alternatives = {}};
  translation.alternatives = {
      {.text = "b a",
       .log_probability = -1.5,
       .score = -0.75,
       .tokens = 3,
       .token_log_probabilities = {-0.25F, -0.5F, -0.75F},
       .parts = {{.source = {4, 5}, .target = {5, 4}, .attention = crossed}}},
      {.text = "b\tb",
       .log_probability = -4,
       .score = -2,
       .tokens = 2,
       .finished = false,
       .token_log_probabilities = {-1, -3},
       .parts = {{.source = {4, 5}, .target = {5, 5}, .finished = false, .attention = {0, 1, 1, 0}}}}};
  return translation;
}

std::string format(const Translation& translation, const OutputOptions& options, std::string_view source = "a b") {
  return format_item({.number = 7, .source = source, .translation = translation}, test::word_codec({"a", "b"}),
                     options);
}

TEST(OutputFormat, HasTheColumnsAsked) {
  const auto translation = two_alternatives();
  EXPECT_EQ(format(translation, {}), "b a\n");
  EXPECT_EQ(format(translation, {.columns = {kTranslation, kScore}}), "b a\t-0.750000\n");
  EXPECT_EQ(format(translation, {.columns = {kLine, kRank, kTokens, kSource, kTokenScores, kAlignment}}, "a\tb"),
            "7\t1\t3\ta b\t-0.250000 -0.500000 -0.750000\t1-0 0-1\n");
}

TEST(OutputFormat, HasALineForEachAlternativeWhereAsked) {
  EXPECT_EQ(format(two_alternatives(), {.columns = {kLine, kRank, kTranslation, kAlignment}, .all_alternatives = true}),
            "7\t1\tb a\t1-0 0-1\n7\t2\tb b\t1-0 0-1\n")
      << "and no tab within a text";
}

// "{x} b a" for "a {x} b".
TEST(OutputFormat, AlignsWhatWasCutOut) {
  auto translation = two_alternatives();
  translation.alternatives.resize(1);
  auto& one = translation.alternatives.front();
  one.text = translation.text = "{x} b a";
  one.cut = {"a b", "b a"};
  one.aligned = {{2, 5, 0, 3}, {6, 7, 4, 5}, {0, 1, 6, 7}};
  EXPECT_EQ(format(translation, {.columns = {kAlignment}}, "a {x} b"), "1-0 2-1 0-2\n");
  const auto object =
      json::parse(format(translation, {.format = OutputFormat::kJsonLines, .columns = {kAlignment}}, "a {x} b"));
  EXPECT_EQ(object["alignment"], "1-0 2-1 0-2");
}

TEST(OutputFormat, AnEmptyLineIsEmpty) {
  EXPECT_EQ(format({},
                   {.columns = {kLine, kRank, kScore, kTokens, kSource, kTranslation, kTokenScores, kAlignment},
                    .all_alternatives = true},
                   " "),
            "7\t1\t0.000000\t0\t \t\t\t\n");
  const auto object = json::parse(format({}, {.format = OutputFormat::kJsonLines}, ""));
  EXPECT_EQ(object["translation_text"], "");
  EXPECT_EQ(object["score"], 0);
}

TEST(OutputFormat, JsonHasAFieldForEachThing) {
  const auto line = format(two_alternatives(), {.format = OutputFormat::kJsonLines});
  EXPECT_THAT(line, testing::EndsWith("}\n"));
  EXPECT_EQ(json::parse(line), json::parse(R"({"line": 7, "source": "a b", "translation_text": "b a", "score": -0.75,
                            "log_probability": -1.5, "tokens": 3, "finished": true})"));
}

TEST(OutputFormat, JsonHasTokensAlignmentsAndAlternativesWhereAsked) {
  const auto object = json::parse(
      format(two_alternatives(),
             {.format = OutputFormat::kJsonLines, .columns = {kTokenScores, kAlignment}, .all_alternatives = true}));
  EXPECT_EQ(object["token_scores"], (std::vector<double>{-0.25, -0.5, -0.75}));
  EXPECT_EQ(object["pieces"], (std::vector<std::string>{"b", "a", "</s>"}));
  EXPECT_EQ(object["alignment"], "1-0 0-1");
  ASSERT_EQ(object["alternatives"].size(), 2u);
  EXPECT_EQ(object["alternatives"][0]["score"], -0.75);
  const auto& second = object["alternatives"][1];
  EXPECT_EQ(second["translation_text"], "b\tb");
  EXPECT_EQ(second["finished"], false);
  EXPECT_EQ(second["pieces"], (std::vector<std::string>{"b", "b"})) << "cut before </s>";
}

TEST(OutputFormat, JsonSaysWhereAPhraseIsMissing) {
  auto translation = two_alternatives();
  EXPECT_FALSE(json::parse(format(translation, {.format = OutputFormat::kJsonLines})).contains("meets_constraints"));
  translation.alternatives[0].meets_constraints = false;
  EXPECT_EQ(json::parse(format(translation, {.format = OutputFormat::kJsonLines}))["meets_constraints"], false);
}

TEST(OutputFormat, JsonTakesAnyBytes) {
  Translation translation{.text = "", .alternatives = {{.text = std::string("\0\xff\"\n", 4)}}};
  const auto object = json::parse(format(translation, {.format = OutputFormat::kJsonLines}, "\xfe"));
  EXPECT_EQ(object["translation_text"], std::string("\0", 1) + "\uFFFD\"\n");
}

// The same as the pipeline of Hugging Face's transformers answers to one text and to several, without and with
// num_return_sequences=2.
TEST(JsonList, IsThatOfTheTranslationPipeline) {
  const std::vector<Translation> one = {two_alternatives()}, several = {two_alternatives(), {}};
  EXPECT_EQ(format_json_list(one, {}), "[{\"translation_text\":\"b a\"}]\n");
  EXPECT_EQ(format_json_list(several, {}), "[{\"translation_text\":\"b a\"},{\"translation_text\":\"\"}]\n");
  EXPECT_EQ(format_json_list(one, {.all_alternatives = true}),
            "[{\"translation_text\":\"b a\"},{\"translation_text\":\"b\\tb\"}]\n");
  EXPECT_EQ(format_json_list(several, {.all_alternatives = true}),
            "[[{\"translation_text\":\"b a\"},{\"translation_text\":\"b\\tb\"}],[{\"translation_text\":\"\"}]]\n");
}

}  // namespace
}  // namespace nmt::output_format_test
