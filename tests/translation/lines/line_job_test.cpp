#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "translation/lines/line_jobs.h"
#include "translation/lines/word_alignment.h"
#include "translation/word_tokenizer.h"

namespace nmt::line_job_test {
namespace {

using testing::ElementsAre;

/// "a {x} Anna b" is read as "a Anna b", and written as "b <unk> a": each word looks at its own.
LineJob job_with_unknown(const TextCodec& codec) {
  LineJob job{
      .request = {
          .source = "a {x} Anna b", .attention = true, .copy_unknown = true, .terms = {.keep_placeholders = true}}};
  job.plan = TermPlan(
      job.request, [](const std::string&) { return false; }, false);
  auto& part = job.parts.emplace_back();
  part.input.sources = {codec.encode_source(job.plan.text())};
  part.hypotheses = {{.ids = {5, SpecialIds::kUnknown, 4},
                      .finished = true,
                      .attention = {0, 0.1F, 0.9F, 0.1F, 0.9F, 0, 0.9F, 0.1F, 0, 0, 0, 0}}};
  return job;
}

TEST(Compose, CopiesWordsThatTheModelHasRead) {
  const auto codec = test::word_codec({"a", "b"});
  auto job = job_with_unknown(codec);
  compose(job, codec, {}, true);
  ASSERT_EQ(job.result.alternatives.size(), 1u);
  EXPECT_EQ(job.result.text, "b Anna a {x}");
  const auto& best = job.result.alternatives.front();
  ASSERT_TRUE(best.cut);
  EXPECT_EQ(best.cut->source, "a Anna b");
  EXPECT_EQ(best.cut->translation, "b Anna a");
}

TEST(Compose, AlignsWordsOfTheLineAndThoseThatTheModelHasRead) {
  const auto codec = test::word_codec({"a", "b"});
  auto job = job_with_unknown(codec);
  compose(job, codec, {}, true);
  const auto& best = job.result.alternatives.at(0);
  EXPECT_EQ(pharaoh_alignment(codec, job.request.source, best), "3-0 2-1 0-2 1-3") << best.text;
  const auto words = word_attention(codec, job.request.source, best);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_THAT(words[0].grid.keys, ElementsAre("a", "Anna", "b"));
  EXPECT_THAT(words[0].grid.queries, ElementsAre("b", "Anna", "a"));
}

TEST(Compose, SortsTheSumsOfPartsByTheirScore) {
  const auto codec = test::word_codec({"a", "b"});
  LineJob job{.request = {.source = "a b"}};
  job.plan = TermPlan(
      job.request, [](const std::string&) { return false; }, false);
  const auto hypothesis = [](int32_t id, float log_probability, size_t tokens) {
    return Hypothesis{.ids = {id},
                      .log_probability = log_probability,
                      .finished = true,
                      .token_log_probabilities = std::vector<float>(tokens, log_probability / tokens)};
  };
  for (const auto& [first, second] : {std::pair(hypothesis(4, -1, 2), hypothesis(5, -3, 5)),
                                      std::pair(hypothesis(4, -9, 1), hypothesis(5, -9.5, 1))}) {
    auto& part = job.parts.emplace_back();
    part.input.sources = {{4}};
    part.hypotheses = {first, second};
  }
  auto again = job;
  const SearchOptions by_mean{{.length_penalty = 1, .length_penalty_form = LengthPenalty::kSimple}};
  compose(job, codec, by_mean, false);
  ASSERT_EQ(job.result.alternatives.size(), 2u);
  EXPECT_NEAR(job.result.alternatives[0].score, -12.5 / 6, 1e-5);
  EXPECT_NEAR(job.result.alternatives[1].score, -10.0 / 3, 1e-5);
  EXPECT_EQ(job.result.text, "b b");
  again.parts[1].hypotheses[1].finished = false;
  compose(again, codec, by_mean, false);
  EXPECT_EQ(again.result.text, "a a") << "what is finished comes first";
}

// The search judges what it writes; whether a phrase with a placeholder stands in the line shows when that is back.
TEST(Compose, PutsThoseFirstThatMeetTheirConstraintsInTheEnd) {
  const auto codec = test::word_codec({"a", "b"});
  LineJob job{.request = {.source = "a {x} b", .must = {"a {x}"}, .terms = {.keep_placeholders = true}}};
  job.plan = TermPlan(
      job.request, [](const std::string&) { return false; }, false);
  auto& part = job.parts.emplace_back();
  part.input.sources = {codec.encode_source(job.plan.text())};
  for (const auto& [ids, score] :
       {std::pair(std::vector<int32_t>{5, 4}, -1.0F), std::pair(std::vector<int32_t>{4, 5}, -2.0F)})
    part.hypotheses.push_back({.ids = ids, .log_probability = score, .score = score, .finished = true});
  compose(job, codec, {}, false);
  ASSERT_EQ(job.result.alternatives.size(), 2u);
  EXPECT_EQ(job.result.text, "a {x} b");
  EXPECT_TRUE(job.result.alternatives[0].meets_constraints);
  EXPECT_FALSE(job.result.alternatives[1].meets_constraints) << job.result.alternatives[1].text;
}

}  // namespace
}  // namespace nmt::line_job_test
