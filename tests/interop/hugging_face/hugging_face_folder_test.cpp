#include "interop/hugging_face/hugging_face_folder.h"

#include <gtest/gtest.h>

namespace nmt::interop {
namespace {

TEST(HuggingFaceDecoding, WhatTransformersDoesWhereNothingIsSaid) {
  const auto decoding = hugging_face_decoding(nlohmann::json::object());
  EXPECT_EQ(decoding.beam_size, 4);
  EXPECT_EQ(decoding.length_penalty, 1);
  EXPECT_EQ(decoding.length_penalty_form, LengthPenalty::kSimple);
  EXPECT_EQ(decoding.no_repeat_ngram_size, 0);
  EXPECT_EQ(decoding.repetition_penalty, 1);
  EXPECT_EQ(decoding.stopping, Stopping::kHeuristic);
}

TEST(HuggingFaceDecoding, TakesTheSearchWithinOurLimits) {
  const auto decoding = hugging_face_decoding({{"num_beams", 6},
                                               {"length_penalty", -2.0},
                                               {"no_repeat_ngram_size", 3},
                                               {"repetition_penalty", 1.3},
                                               {"early_stopping", true}});
  EXPECT_EQ(decoding.beam_size, 6);
  EXPECT_EQ(decoding.length_penalty, 0);
  EXPECT_EQ(decoding.no_repeat_ngram_size, 3);
  EXPECT_EQ(decoding.repetition_penalty, 1.3);
  EXPECT_EQ(decoding.stopping, Stopping::kFirst);
}

TEST(HuggingFaceDecoding, OddValuesAreNotTaken) {
  const auto decoding = hugging_face_decoding({{"num_beams", "6"},
                                               {"no_repeat_ngram_size", nullptr},
                                               {"repetition_penalty", true},
                                               {"early_stopping", "never"}});
  EXPECT_EQ(decoding.beam_size, 4);
  EXPECT_EQ(decoding.no_repeat_ngram_size, 0);
  EXPECT_EQ(decoding.repetition_penalty, 1);
  EXPECT_EQ(decoding.stopping, Stopping::kHeuristic);
}

TEST(HuggingFaceBans, AWordOfThisTokenAlone) {
  const nlohmann::json settings = {{"bad_words_ids", {{7}, {1, 2}, {0}}}};
  EXPECT_TRUE(hugging_face_bans(settings, 7));
  EXPECT_FALSE(hugging_face_bans(settings, 1)) << "only before 2";
  EXPECT_FALSE(hugging_face_bans(nlohmann::json::object(), 7));
  EXPECT_FALSE(hugging_face_bans({{"bad_words_ids", nullptr}}, 7));
}

}  // namespace
}  // namespace nmt::interop
