#include "convert/marian/marian_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nmt::convert::marian_export_test {
namespace {

using testing::HasSubstr;

TEST(MarianGeneration, HasTheModelsOwnSearch) {
  const auto settings = marian_generation({.beam_size = 6,
                                           .length_penalty = 0.8,
                                           .max_length = 40,
                                           .no_repeat_ngram_size = 3,
                                           .repetition_penalty = 1.2,
                                           .ban_unknown = true});
  EXPECT_EQ(settings.at("num_beams"), 6);
  EXPECT_EQ(settings.at("length_penalty"), 0.8);
  EXPECT_EQ(settings.at("bad_words_ids").dump(), "[[0],[2],[1]]");
  EXPECT_EQ(settings.at("max_length"), 41) << "with the start token";
  EXPECT_EQ(settings.at("no_repeat_ngram_size"), 3);
  EXPECT_EQ(settings.at("repetition_penalty"), 1.2);
}

TEST(MarianGeneration, SaysNothingOfWhatIsOff) {
  const auto settings = marian_generation({});
  EXPECT_EQ(settings.at("bad_words_ids").dump(), "[[0],[2]]");
  EXPECT_EQ(settings.at("max_length"), 512);
  EXPECT_FALSE(settings.contains("no_repeat_ngram_size"));
  EXPECT_FALSE(settings.contains("repetition_penalty"));
  EXPECT_EQ(marian_generation({.max_length = 100000}).at("max_length"), 1024) << "there are no more positions";
}

TEST(MarianGeneration, WarnsOfAnotherLengthPenalty) {
  EXPECT_THAT(marian_warning({.length_penalty = 0.6}),
              HasSubstr("decoding.length_penalty: 0.6 is written as it stands, but transformers divides by n^0.6"));
  EXPECT_EQ(marian_warning({.length_penalty = 0}), "");
  EXPECT_EQ(marian_warning({.length_penalty_form = LengthPenalty::kSimple}), "");
}

}  // namespace
}  // namespace nmt::convert::marian_export_test
