#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "data/lexicon.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_corpus.h"
#include "data/prepared_data.h"

namespace nmt::preprocess_prefix_test {
namespace {

using test::message_of;

/// data.source_prefix; its words are none of the training text's.
class PreparePrefix : public test::PrepareFixture {
 protected:
  PreparePrefix() { config_.data.source_prefix = "to English, and in so many words: "; }
};

TEST_F(PreparePrefix, DoesNotCountForTheLengthRatio) {
  config_.data.max_length_ratio = 1.5;
  prepare();
  const auto prefixed = open_prepared_data(config_);
  EXPECT_GT(prefixed.codec.prefix_length(), 8);
  config_.data.source_prefix.clear();
  overwrite();
  const auto plain = open_prepared_data(config_);
  EXPECT_GT(plain.train->size(), 100);
  EXPECT_EQ(prefixed.train->size(), plain.train->size());
}

TEST_F(PreparePrefix, MustLeaveRoomForASentence) {
  prepare();
  const int64_t prefix = open_prepared_data(config_).codec.prefix_length();
  for (const auto too_long : {TooLong::kCut, TooLong::kDrop}) {
    config_.data.too_long = too_long;
    config_.data.maxlen1 = prefix + 1;
    EXPECT_EQ(message_of<Error>([&] { overwrite(); }),
              "data.maxlen1: " + std::to_string(prefix + 1) +
                  " leaves no room for a sentence: the pieces of data.source_prefix (" + std::to_string(prefix) +
                  ") and the tokens of data.source_markers (1) count, too; raise it");
  }
  config_.data.too_long = TooLong::kCut;
  config_.data.maxlen1 = prefix + 2;
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  const auto data = open_prepared_data(config_);
  EXPECT_EQ(std::ssize(data.train->source(0)), prefix + 1);
}

// Links name the places of the whole source, which is what training reads; but those of the prefix have none.
TEST_F(PreparePrefix, HasNoLinksAndNoTranslations) {
  config_.data.alignment = true;
  config_.data.shortlist = 5;
  prepare();
  const auto prefixed = open_prepared_data(config_);
  const auto of_prefix = prefixed.codec.source().encode(config_.data.source_prefix);
  const int64_t prefix = prefixed.codec.prefix_length();
  ASSERT_GT(prefix, 8);
  config_.data.source_prefix.clear();
  overwrite();
  const auto plain = open_prepared_data(config_);
  int64_t count = 0;
  for (int64_t pair = 0; pair < 300; ++pair) {
    std::vector<PieceLink> expected;
    for (const auto& [source, target] : plain.alignment->of(pair))
      expected.push_back({.source = static_cast<uint16_t>(source + prefix), .target = target});
    EXPECT_TRUE(std::ranges::equal(prefixed.alignment->of(pair), expected)) << "pair " << pair;
    count += std::ssize(expected);
  }
  EXPECT_GT(count, 1000);
  for (int32_t piece = 4; piece < plain.codec.source().size(); ++piece)
    EXPECT_TRUE(std::ranges::equal(prefixed.lexicon->best(piece), plain.lexicon->best(piece))) << "piece " << piece;
  const auto has_none = [&](int32_t piece) { return prefixed.lexicon->best(piece).empty(); };
  EXPECT_TRUE(std::ranges::any_of(of_prefix, has_none));
}

}  // namespace
}  // namespace nmt::preprocess_prefix_test
