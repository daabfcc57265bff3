#include "evaluation/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "evaluation/small_set.h"
#include "search/scripted_model.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::evaluation_test {
namespace {

using test::Ids;
using test::kEnd;
using test::message_of;
using test::small_output;
using test::small_set;
using testing::ElementsAre;

TEST(Evaluation, TranslatesInOrderAndCounts) {
  test::ScriptedModel model(8, [](const Ids& source, const Ids& prefix) {
    std::vector<double> p(8, 0.01);
    p[prefix.size() < source.size() ? source[prefix.size()] : kEnd] = 0.9;
    return p;
  });
  const auto codec = test::word_codec({"a", "b", "c", "d"});
  const Translator translator(model, codec, {.max_source_length = 3});
  int64_t reported = 0;
  const auto output = translate_test_set(small_set(), translator, "name",
                                         {.progress = [&](int64_t done) { reported = done; }, .stopped = {}});
  EXPECT_EQ(output.name, "name");
  EXPECT_EQ(output.hypotheses, small_set().sources);
  EXPECT_EQ(output.source_tokens, 10);
  EXPECT_EQ(output.target_tokens, 10 + 5) << "two lines in two parts, one in one, each part with </s>";
  EXPECT_EQ(output.split, 2);
  EXPECT_EQ(output.cut, 0);
  EXPECT_EQ(reported, 3);
}

TEST(Evaluation, ScoresAsSacrebleuDoes) {
  // 1-grams 9/10, 2-grams 6/7, 3-grams 3/4, 4-grams 1/2: exp of the mean of their logarithms is 0.7338...
  const auto scores = score(small_output("x", {"a b c a", "b b c d", "a a"}), small_set());
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores[0].score, 100 * std::pow(9.0 / 10 * 6 / 7 * 3 / 4 * 1 / 2, 0.25), 1e-9);
  EXPECT_THAT(scores[0].format(),
              testing::StartsWith("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 73.3"));
  EXPECT_EQ(scores[1].name, "chrF2");
  EXPECT_THAT(scores[1].signature->text(), testing::HasSubstr("nc:6|nw:0|space:no"));
}

TEST(Evaluation, GivesConfidenceIntervalsOnRequest) {
  const auto output = small_output("x", {"a b c a", "b b c d", "a a"});
  EXPECT_FALSE(score(output, small_set())[0].confidence.has_value());
  EXPECT_TRUE(score(output, small_set(), 100)[0].confidence.has_value());
}

TEST(Evaluation, ReadsTheSeedForResamplesOnly) {
  ::setenv("SACREBLEU_SEED", "many", 1);
  EXPECT_NO_THROW(score(small_output("a", {"a b c d", "b b c d", "a a"}), small_set()));
  EXPECT_THROW(score(small_output("a", {"a b c d", "b b c d", "a a"}), small_set(), 10), Error);
  ::unsetenv("SACREBLEU_SEED");
}

TEST(Evaluation, WritesTheResultsFile) {
  auto set = small_set();
  set.references.push_back({"other", "other", "other"});
  EXPECT_EQ(
      format_results_file(translated_text(set, small_output("x", {"a b c a", "b b c d", ""})), "17.146408907717394"),
      "- source: a b c d\n- expected: a b c d\n- got: a b c a\n\n"
      "- source: b b c d\n- expected: b b c d\n- got: b b c d\n\n"
      "- source: a a\n- expected: a a\n- got: \n\n"
      "Bleu Score = 17.146408907717394");
}

TEST(Evaluation, ComparesWithTheFirstSystem) {
  const std::vector<SystemOutput> systems = {small_output("one", {"a b c a", "b b c d", "a a"}),
                                             small_output("two", {"a b c d", "b b c d", "a a"})};
  const auto table = compare(systems, small_set());
  EXPECT_THAT(table.systems, ElementsAre("Baseline: one", "two"));
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_FALSE(table.columns[0].results[0].p_value.has_value());
  EXPECT_TRUE(table.columns[0].results[1].p_value.has_value());
  EXPECT_NEAR(table.columns[0].results[1].score, 100, 1e-9);
  const auto report = report_of(table);
  EXPECT_EQ(report["columns"][0]["results"][1]["system"], "two");
  EXPECT_EQ(report["columns"][1]["metric"], "chrF2");
}

TEST(Evaluation, ReportsScoresAndSpeed) {
  const auto output = small_output("runs/x/best", {"a b c a", "b b c d", "a a"});
  const auto scores = score(output, small_set());
  const auto report = report_of(output, scores);
  EXPECT_EQ(report["model"], "runs/x/best");
  EXPECT_EQ(report["scores"][0]["name"], "BLEU");
  EXPECT_EQ(report["scores"][0]["score"].get<double>(), scores[0].score) << "unrounded";
  EXPECT_EQ(report["scores"][0]["text"], scores[0].format());
  EXPECT_EQ(report["sentences_per_second"], 1.5);
  EXPECT_EQ(report["target_tokens_per_second"], 6.5);
  EXPECT_EQ(report_of(small_set())["sentences"], 3);
  EXPECT_EQ(report_of(SearchOptions{})["length_penalty_form"], "paper");
}

TEST(Evaluation, TokenisedBleuStandsBehindThatOfPlainText) {
  const auto metrics = evaluation_metrics({"cased", "lowercase"}, "en");
  const auto scores = score(small_output("m", {"A b c d", "b b c d", "a a"}), small_set(), 1, metrics);
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_EQ(scores[0].format().substr(0, 53), "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|ver");
  EXPECT_EQ(scores[1].name, "chrF2");
  EXPECT_EQ(scores[2].format().substr(0, 62), "tokenised BLEU|nrefs:1|case:mixed|eff:no|tok:moses-en|smooth:e");
  EXPECT_LT(scores[2].score, 100);
  EXPECT_EQ(scores[3].name, "lower-case tokenised BLEU");
  EXPECT_NEAR(scores[3].score, 100, 1e-9);
  EXPECT_EQ(evaluation_metrics().size(), 2u);
  EXPECT_EQ(evaluation_metrics({"compound_split"}, "de")[2]->name(), "compound-split tokenised BLEU");
}

TEST(Evaluation, ScoresLowerCasedTextOnRequest) {
  const auto scores =
      score(small_output("m", {"A B c d", "b b C d", "A a"}), small_set(), 1, evaluation_metrics({}, "", true));
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores[0].score, 100, 1e-9);
  EXPECT_NEAR(scores[1].score, 100, 1e-9);
  EXPECT_THAT(scores[0].signature->text(), testing::HasSubstr("case:lc"));
}

TEST(Evaluation, TokenisedBleuIsOfGermanEnglishAndFrench) {
  EXPECT_EQ(evaluation_metrics({}, "it").size(), 2u);
  EXPECT_EQ(evaluation_metrics({"cased"}, "fr").size(), 3u);
  EXPECT_EQ(message_of<Error>([] { evaluation_metrics({"cased"}, "it"); }),
            "tokenised BLEU: the target language is it, Moses tokens are made of de, en and fr; leave it out");
  EXPECT_EQ(message_of<Error>([] { evaluation_metrics({"cased"}, ""); }),
            "tokenised BLEU: the target language is not known, Moses tokens are made of de, en and fr; leave it out");
}

}  // namespace
}  // namespace nmt::evaluation_test
