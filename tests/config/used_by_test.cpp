#include "config/used_by.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "support.h"

namespace nmt::used_by_test {
namespace {

using test::message_of;
using Names = std::vector<std::string>;

TEST(UsedBy, WhatHasAnEffectIsNoMatter) {
  EXPECT_EQ(check_used(Names{"n_best", "must", "beam_size", "stopping"}, kOfLines, Harmless::kRefuse), "");
  EXPECT_EQ(check_used(Names{"length_penalty", "token_scores", "batch_size"}, kOfScores, Harmless::kRefuse), "");
  EXPECT_EQ(check_used(Names{"glossary", "beam_size"}, kOfDocument | kOfOneModel, Harmless::kRefuse), "");
}

TEST(UsedBy, OneWarningNamesAllThatHasNone) {
  EXPECT_EQ(check_used(Names{"--n-best", "--beam-size", "--scores"}, kOfDocument, Harmless::kWarn),
            "a document: --n-best, --scores have no effect on it");
  EXPECT_EQ(check_used(Names{"--combination", "--stopping"}, kOfLines | kOfOneModel | kOfSamples, Harmless::kWarn),
            "the drawing of samples: --stopping has no effect on it; a model that translates alone: --combination has "
            "no effect on it");
}

TEST(UsedBy, WhatMisleadsIsRefused) {
  EXPECT_EQ(message_of<Error>([] {
              check_used(Names{"--n-best", "--must"}, kOfDocument, Harmless::kWarn);
            }),
            "a document: --n-best, --must have no effect on it; leave them out");
  EXPECT_EQ(message_of<Error>([] { check_used(Names{"beam_size"}, kOfScores, Harmless::kRefuse); }),
            "the score of a given translation: beam_size has no effect on it; leave it out");
}

/// A row that forgets its column would be taken as used by everything: every option of decoding says what a score
/// makes of it.
TEST(UsedBy, EveryWorkHasOptionsThatItDoesNotUse) {
  for (const unsigned work : {kOfScores, kOfSamples, kOfOneModel}) {
    int unused = 0;
    for (const auto& option : options())
      if (option.section == "decoding" && !(option.used_by & work)) ++unused;
    EXPECT_GT(unused, 0) << work;
    EXPECT_LT(unused, 25) << work;
  }
}

}  // namespace
}  // namespace nmt::used_by_test
