#include <gtest/gtest.h>

#include <cmath>

#include "report/records/run_records.h"

namespace nmt::run_lines_test {
namespace {

TEST(IntervalLine, IsReadAsItWasWritten) {
  const LoggedInterval written{.interval = {.epoch = 2,
                                            .update = 100,
                                            .loss = 2.5,
                                            .perplexity = NAN,
                                            .accuracy = 0.25,
                                            .learning_rate = 3e-4,
                                            .gradient_norm = 1.5,
                                            .source_tokens_per_second = 4200.5,
                                            .target_tokens_per_second = 4100,
                                            .real_token_share = 0.97,
                                            .target_tokens = 123456,
                                            .skipped_updates = 3},
                               .time = 1.75e9};
  const auto read = parse_interval_line(format_interval_line(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->interval.epoch, 2);
  EXPECT_EQ(read->interval.update, 100);
  EXPECT_EQ(read->interval.loss, 2.5);
  EXPECT_TRUE(std::isnan(read->interval.perplexity));
  EXPECT_EQ(read->interval.accuracy, 0.25);
  EXPECT_EQ(read->interval.learning_rate, 3e-4);
  EXPECT_EQ(read->interval.gradient_norm, 1.5);
  EXPECT_EQ(read->interval.source_tokens_per_second, 4200.5);
  EXPECT_EQ(read->interval.target_tokens_per_second, 4100);
  EXPECT_EQ(read->interval.real_token_share, 0.97);
  EXPECT_EQ(read->interval.target_tokens, 123456);
  EXPECT_EQ(read->interval.skipped_updates, 3);
  EXPECT_LT(read->interval.seconds_left, 0);
  EXPECT_EQ(read->time, 1.75e9);
}

TEST(IntervalLine, HalfWrittenIsNone) {
  const auto line = format_interval_line({.interval = {.update = 7}});
  EXPECT_FALSE(parse_interval_line(line.substr(0, line.size() - 1)));
  EXPECT_FALSE(parse_interval_line("{\"loss\": 1}"));
  EXPECT_FALSE(parse_interval_line("[]"));
}

TEST(ValidationLine, IsReadAsItWasWritten) {
  const ValidationReport written{.epoch = 2,
                                 .update = 200,
                                 .loss = 2.5,
                                 .perplexity = 9.25,
                                 .accuracy = 0.5,
                                 .has_chrf = true,
                                 .chrf = 52.13,
                                 .chrf_line = "chrF2|nrefs:1 = 52.13",
                                 .is_best = true,
                                 .seconds = 3.1,
                                 .weights = "average of updates\t100, 200"};
  const auto read = parse_validation_line(format_validation_line(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->epoch, 2);
  EXPECT_EQ(read->update, 200);
  EXPECT_EQ(read->loss, 2.5);
  EXPECT_EQ(read->perplexity, 9.25);
  EXPECT_EQ(read->accuracy, 0.5);
  EXPECT_FALSE(read->has_bleu);
  EXPECT_TRUE(read->has_chrf);
  EXPECT_EQ(read->chrf, 52.13);
  EXPECT_EQ(read->bleu_line, "");
  EXPECT_EQ(read->chrf_line, "chrF2|nrefs:1 = 52.13");
  EXPECT_TRUE(read->is_best);
  EXPECT_EQ(read->seconds, 3.1);
  EXPECT_EQ(read->weights, "average of updates 100, 200");
}

TEST(ValidationLine, ThatIsNoneIsNone) {
  EXPECT_FALSE(parse_validation_line(kValidationHeader));
  const auto line = format_validation_line({.update = 5});
  EXPECT_TRUE(parse_validation_line(line));
  EXPECT_FALSE(parse_validation_line(line.substr(0, line.rfind('\t'))));
  EXPECT_FALSE(parse_validation_line("*\tone" + line.substr(line.find('\t', 1))));
}

TEST(SessionLine, IsReadAsItWasWritten) {
  const Session written{.update = 300,
                        .time = 1.5e9,
                        .end_time = 1.6e9,
                        .end = "300 updates done",
                        .environment = {{"processor", "A \"fast\" one"}, {"device", "cpu"}}};
  const auto read = parse_session_line(format_session_line(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->update, 300);
  EXPECT_EQ(read->time, 1.5e9);
  EXPECT_EQ(read->end_time, 1.6e9);
  EXPECT_EQ(read->end, "300 updates done");
  EXPECT_EQ(read->environment, written.environment);
  EXPECT_EQ(parse_session_line(format_session_line({.update = 1, .time = 2}))->end_time, 0);
  EXPECT_FALSE(parse_session_line("{\"time\": 2}"));
}

TEST(TranslationLine, IsReadAsItWasWritten) {
  const auto read = parse_translation_line(format_translation_line({"Ein\tHund", "A dog", ""}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->source, "Ein Hund");
  EXPECT_EQ(read->reference, "A dog");
  EXPECT_EQ(read->hypothesis, "");
  EXPECT_FALSE(parse_translation_line("one\ttwo"));
}

}  // namespace
}  // namespace nmt::run_lines_test
