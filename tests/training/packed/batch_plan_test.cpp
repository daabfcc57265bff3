#include "training/packed/batch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/loop/objectives.h"
#include "training/packed/packed_support.h"

namespace nmt::batch_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<int32_t> numbers(const torch::Tensor& x) {
  const auto flat = x.contiguous();
  return {flat.const_data_ptr<int32_t>(), flat.const_data_ptr<int32_t>() + flat.numel()};
}

PackedBatch plan(const std::vector<std::pair<int64_t, int64_t>>& lengths, const BatchPlanOptions& options = {}) {
  return plan_batch(to_tensors(test::packed_batch(lengths), torch::kCPU), options, torch::kCPU);
}

TEST(BatchPlan, RealTokensLieEndToEnd) {
  const auto batch = test::batch_of({{{5, 6}, {7}}, {{8}, {9, 10, 11}}});
  const auto made = plan_batch(to_tensors(batch, torch::kCPU), {.key = 0xFEDCBA9876543210, .scale = 0.25}, torch::kCPU);
  EXPECT_THAT(numbers(made.source.words), ElementsAre(5, 6, 3, 8, 3));
  EXPECT_THAT(numbers(made.source.positions), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(numbers(made.source.segments), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(numbers(made.target.words), ElementsAre(2, 7, 2, 9, 10, 11));
  EXPECT_THAT(numbers(made.labels), ElementsAre(7, 3, 9, 10, 11, 3));
  EXPECT_FALSE(made.paired.defined());
  EXPECT_EQ(static_cast<uint64_t>(made.key.item<int64_t>()), 0xFEDCBA9876543210);
  EXPECT_EQ(made.scale.item<float>(), 0.25F);
}

// Lengths with end symbols: source 41, 11, 13, 71, 2; target 21, 41, 3, 9, 61.
TEST(BatchPlan, WholeSentencesShareATileWhileBothSidesFit) {
  const auto made = plan({{40, 20}, {10, 40}, {12, 2}, {70, 8}, {1, 60}});
  ASSERT_EQ(made.source_tiles.size(), 2);
  EXPECT_EQ(made.source_tiles[0].size, 64);
  EXPECT_THAT(numbers(made.source_tiles[0].tiles), ElementsAre(0, 52, 0, 52, 52, 13, 52, 13, 136, 2, 136, 2));
  EXPECT_EQ(made.source_tiles[1].size, 128);
  EXPECT_THAT(numbers(made.source_tiles[1].tiles), ElementsAre(65, 71, 65, 71));
  ASSERT_EQ(made.target_tiles.size(), 1);
  EXPECT_THAT(numbers(made.target_tiles[0].tiles), ElementsAre(0, 62, 0, 62, 62, 12, 62, 12, 74, 61, 74, 61));
  ASSERT_EQ(made.cross_tiles.size(), 2);
  EXPECT_THAT(numbers(made.cross_tiles[0].tiles), ElementsAre(0, 62, 0, 52, 62, 3, 52, 13, 74, 61, 136, 2));
  EXPECT_THAT(numbers(made.cross_tiles[1].tiles), ElementsAre(65, 9, 65, 71));
}

// Lengths with end symbols: source 41, 41; target 6, 6.
TEST(BatchPlan, ATileHoldsTheKeysToo) {
  const auto made = plan({{40, 5}, {40, 5}});
  ASSERT_EQ(made.cross_tiles.size(), 1);
  EXPECT_THAT(numbers(made.cross_tiles[0].tiles), ElementsAre(0, 6, 0, 41, 6, 6, 41, 41));
}

TEST(BatchPlan, RowsOfAWordAreInPiecesOfSixteen) {
  std::vector<int64_t> words(18, 5);
  words.insert(words.begin() + 3, 4);
  const auto made = plan_batch(to_tensors(test::batch_of({{words, {4}}}), torch::kCPU), {}, torch::kCPU);
  const auto& groups = made.source.by_word;
  EXPECT_THAT(numbers(groups.order),
              ElementsAreArray({19, 3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_THAT(numbers(groups.pieces), ElementsAre(0, 1, 3, 1, 1, 4, 2, 16, -1, 18, 2, -2));
  EXPECT_THAT(numbers(groups.entries), ElementsAre(5, 0, 2));
  EXPECT_EQ(groups.parts, 2);
  EXPECT_FALSE(made.source.by_position.order.defined());
  const auto learned = plan({{1, 0}, {2, 0}}, {.learned_positions = true});
  EXPECT_THAT(numbers(learned.source.by_position.order), ElementsAre(0, 2, 1, 3, 4));
}

TEST(BatchPlan, BothPredictionsOfATokenStandSideBySide) {
  const auto batch = to_tensors(test::batch_of({{{5}, {6, 7}}}), torch::kCPU);
  const auto made = plan_batch(doubled(batch), {.pairs = true}, torch::kCPU);
  EXPECT_THAT(numbers(made.labels), ElementsAre(6, 7, 3));
  EXPECT_THAT(numbers(made.paired), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(numbers(made.places), ElementsAre(0, 2, 4, 1, 3, 5));
}

// Lengths with end symbols: source 4, 7; target 31, 3.
TEST(BatchPlan, FilledUpItsSizesFollowFromItsRows) {
  const BatchPlanOptions options{.learned_positions = true, .rows = {{.source = 160, .target = 96}}};
  const auto filled = plan({{3, 30}, {6, 2}}, options), other = plan({{1, 1}, {9, 9}, {12, 40}}, options);
  EXPECT_EQ(filled.block.sizes(), other.block.sizes());
  const auto alone = plan({{3, 30}, {6, 2}}, {.learned_positions = true});
  EXPECT_EQ(filled.source.tokens(), 160);
  EXPECT_TRUE(filled.source.words.narrow(0, 0, 11).equal(alone.source.words));
  EXPECT_EQ(filled.source.words.narrow(0, 11, 149).count_nonzero().item<int64_t>(), 0);
  EXPECT_TRUE(filled.labels.narrow(0, 0, 34).equal(alone.labels));
  EXPECT_TRUE(filled.labels.narrow(0, 34, 62).eq(-1).all().item<bool>());
  // Three sentences on each side, of 50, 50 and 49 words and of 21, 21 and 20, each a tile of its own but in the
  // target.
  EXPECT_THAT(numbers(filled.source_tiles.at(0).tiles),
              ElementsAre(0, 61, 0, 61, 61, 50, 61, 50, 111, 49, 111, 49, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(numbers(filled.target_tiles.at(0).tiles.narrow(0, 0, 3)),
              ElementsAre(0, 55, 0, 55, 55, 41, 55, 41, 0, 0, 0, 0));
  EXPECT_THAT(numbers(filled.cross_tiles.at(0).tiles.narrow(0, 0, 4)),
              ElementsAre(0, 55, 0, 61, 55, 21, 61, 50, 76, 20, 111, 49, 0, 0, 0, 0));
}

TEST(BatchPlan, PairsOfPaddingHaveNoLabels) {
  const auto batch = to_tensors(test::batch_of({{{5}, {6, 7}}}), torch::kCPU);
  const auto made = plan_batch(doubled(batch), {.pairs = true, .rows = {{.source = 20, .target = 22}}}, torch::kCPU);
  EXPECT_THAT(numbers(made.labels), ElementsAre(6, 7, 3, -1, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(numbers(made.paired.narrow(0, 0, 10)), ElementsAre(0, 3, 1, 4, 2, 5, 6, 7, 8, 9));
  EXPECT_THAT(numbers(made.places.narrow(0, 0, 8)), ElementsAre(0, 2, 4, 1, 3, 5, 6, 7));
}

TEST(BatchPlan, ASentenceIsNoLongerThanATile) {
  EXPECT_TRUE(fits_into_tiles({64, 1}, {3, 64}, 64));
  EXPECT_FALSE(fits_into_tiles({65, 1}, {3, 4}, 64));
  EXPECT_FALSE(fits_into_tiles({2, 1}, {3, 129}, 128));
  EXPECT_FALSE(fits_into_tiles({2, 0}, {3, 1}, 128));
}

}  // namespace
}  // namespace nmt::batch_plan_test
