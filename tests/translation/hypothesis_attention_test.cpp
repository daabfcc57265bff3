#include "models/search/hypothesis_attention.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <span>

#include "base/error.h"
#include "models/formula_weights.h"
#include "search/reference_search.h"
#include "support.h"
#include "translation/attention_grids.h"
#include "translation/word_tokenizer.h"

namespace nmt::hypothesis_attention_test {
namespace {

using test::Ids;

constexpr const char* kThreeBlocks = "d_model: 16, d_ff: 32, num_blocks: 3, num_heads: 2";
constexpr const char* kRecurrent =
    "architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, tie_embeddings: none";

std::shared_ptr<TranslationModel> model_of(const std::string& options) {
  return test::formula_model(test::model_config(options), 8, 8);
}

std::vector<std::vector<Hypothesis>> search_with_attention(TranslationModel& model, const std::vector<Ids>& sources,
                                                           SearchOptions options) {
  const c10::NoGradGuard no_gradients;
  options.attention = true;
  options.max_length_offset = 3;
  return search(model, sources, options);
}

/// The mean of the heads of one layer, pieces only, from the grids that teacher forcing gives for one sentence.
void expect_grid(TranslationModel& model, const Ids& source, const Hypothesis& found, const std::string& layer) {
  const auto codec = test::word_codec({"a", "b", "c", "d"});
  for (const auto& grid : attention_grids(model, codec, source, found.ids)) {
    if (grid.name != layer) continue;
    const int64_t tokens = std::ssize(found.token_log_probabilities), pieces = std::ssize(source);
    ASSERT_EQ(std::ssize(found.attention), tokens * pieces);
    for (int64_t token = 0; token < tokens; ++token)
      for (int64_t piece = 0; piece < pieces; ++piece) {
        double mean = 0;
        for (int64_t head = 0; head < grid.heads; ++head) mean += grid.weight(head, token, piece) / grid.heads;
        EXPECT_NEAR(found.attention[token * pieces + piece], mean, 1e-5) << layer << " " << token << " " << piece;
      }
    return;
  }
  FAIL() << "no layer " << layer;
}

TEST(HypothesisAttention, IsThatOfTheLayerWhileTheTokenWasWritten) {
  const auto model = model_of(kThreeBlocks);
  const std::vector<Ids> sources = {{4, 5, 6}, {7}, {4, 4, 5, 6, 7}, {}};
  for (const auto& [layer, name] :
       std::map<int64_t, std::string>{{0, "decoder.1.cross"}, {1, "decoder.0.cross"}, {3, "decoder.2.cross"}}) {
    const auto found = search_with_attention(*model, sources, {{.alignment_layer = layer}, 3});
    for (size_t i = 0; i < sources.size(); ++i)
      for (const auto& hypothesis : found[i]) expect_grid(*model, sources[i], hypothesis, name);
  }
}

TEST(HypothesisAttention, IsThatOfOneHeadWhereItIsNamed) {
  const auto model = model_of(kThreeBlocks);
  const std::vector<Ids> sources = {{4, 5, 6}};
  const auto first = search_with_attention(*model, sources, {{.alignment_head = 1}}),
             second = search_with_attention(*model, sources, {{.alignment_head = 2}}),
             mean = search_with_attention(*model, sources, {});
  const auto &one = first[0][0].attention, &two = second[0][0].attention, &all = mean[0][0].attention;
  ASSERT_EQ(one.size(), all.size());
  EXPECT_NE(one, two);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR((one[i] + two[i]) / 2, all[i], 1e-6) << i;
  EXPECT_EQ(test::message_of<Error>([&] { search_with_attention(*model, sources, {{.alignment_head = 3}}); }),
            "decoding.alignment_head 3: the decoder has 2; use 1 to 2, or 0 for their mean");
}

TEST(HypothesisAttention, OfTheStepThatReadsATokenIsThatOneLater) {
  const auto model = model_of(kThreeBlocks);
  const std::vector<Ids> sources = {{4, 5, 6}};
  const auto writing = search_with_attention(*model, sources, {{.min_length = 3}}),
             reading =
                 search_with_attention(*model, sources, {{.min_length = 3, .alignment_token = AlignmentToken::kInput}});
  const auto &before = writing[0][0].attention, &after = reading[0][0].attention;
  ASSERT_EQ(before.size(), after.size());
  ASSERT_GT(before.size(), 6U);
  EXPECT_TRUE(std::equal(before.begin() + 3, before.end(), after.begin()));
  EXPECT_TRUE(std::equal(before.end() - 3, before.end(), after.end() - 3)) << "the last token keeps its own";
}

TEST(HypothesisAttention, IsThatOfARecurrentModel) {
  const auto model = model_of(kRecurrent);
  const std::vector<Ids> sources = {{4, 5, 6}, {7}};
  const auto found = search_with_attention(*model, sources, {{}, 2});
  for (size_t i = 0; i < sources.size(); ++i)
    for (const auto& hypothesis : found[i]) expect_grid(*model, sources[i], hypothesis, "decoder.attention");
}

// Alignments and copied words need the places of the text.
TEST(HypothesisAttention, OfASourceThatIsReadBackwardsIsInTheOrderOfTheText) {
  const c10::NoGradGuard no_gradients;
  const auto model = model_of(kRecurrent);
  const SearchOptions options{{.max_length_offset = 3}, 2, {}, true};
  for (const auto markers : {SourceMarkers::kEnd, SourceMarkers::kBoth}) {
    const auto found_of = [&](const Ids& source, bool reversed) {
      const std::vector<SearchModel> models = {{.model = model.get(), .source_form = {markers, reversed}}};
      const std::vector<SearchInput> inputs = {{.sources = {source}}};
      return search(models, inputs, options).front();
    };
    const auto backwards = found_of({4, 5, 6, 7}, true), turned = found_of({7, 6, 5, 4}, false);
    ASSERT_EQ(backwards.size(), turned.size());
    for (size_t i = 0; i < turned.size(); ++i) {
      EXPECT_EQ(backwards[i].ids, turned[i].ids);
      ASSERT_FALSE(turned[i].attention.empty());
      for (size_t at = 0; at < turned[i].attention.size(); ++at)
        EXPECT_EQ(backwards[i].attention.at(at), turned[i].attention[at / 4 * 4 + 3 - at % 4]);
    }
  }
}

TEST(HypothesisAttention, OfACutHypothesisHasNoRowForTheEnd) {
  const auto model = model_of(kThreeBlocks);
  const c10::NoGradGuard no_gradients;
  // Two tokens are the limit and none may be the end.
  const auto cut = search(*model, {{4, 5}}, {{.max_length = 2, .ban_unknown = true}, 1, {{3}}, true});
  ASSERT_FALSE(cut.front().front().finished);
  EXPECT_EQ(cut.front().front().attention.size(), 2u * 2u);
}

TEST(HypothesisAttention, IsNotThereUnlessAskedFor) {
  const c10::NoGradGuard no_gradients;
  EXPECT_TRUE(search(*model_of(kThreeBlocks), {{4, 5}}, {}).front().front().attention.empty());
  EXPECT_TRUE(search(*model_of(kThreeBlocks), {{4, 5}}, {{.coverage_penalty = 1}}).front().front().attention.empty());
}

TEST(HypothesisAttention, NamesWhatTheModelHas) {
  EXPECT_EQ(
      test::message_of<Error>([] { search_with_attention(*model_of(kThreeBlocks), {{4}}, {{.alignment_layer = 4}}); }),
      "decoding.alignment_layer 4: the decoder has 3; use 1 to 3, or 0 for the last but one");
  const auto without =
      model_of("architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: none, tie_embeddings: none");
  EXPECT_EQ(test::message_of<Error>([&] { search_with_attention(*without, {{4}}, {}); }),
            "this model has no attention to the source: no alignments and no coverage penalty");
}

TEST(HypothesisAttention, IsKnownBeforeASearch) {
  const c10::NoGradGuard no_gradients;
  const auto model = model_of(kThreeBlocks);
  const auto without =
      model_of("architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: none, tie_embeddings: none");
  const auto known = [](TranslationModel& asked, SearchOptions options) {
    return has_alignment({.model = &asked}, options);
  };
  EXPECT_TRUE(known(*model, {}));
  EXPECT_TRUE(known(*model, {{.alignment_layer = 3, .alignment_head = 2}}));
  EXPECT_FALSE(known(*without, {}));
  EXPECT_FALSE(known(*without, {{.alignment_layer = 9}})) << "what is without attention needs no layer";
  EXPECT_EQ(test::message_of<Error>([&] { known(*model, {{.alignment_layer = 4}}); }),
            "decoding.alignment_layer 4: the decoder has 3; use 1 to 3, or 0 for the last but one");
  EXPECT_EQ(test::message_of<Error>([&] { known(*model, {{.alignment_head = 3}}); }),
            "decoding.alignment_head 3: the decoder has 2; use 1 to 2, or 0 for their mean");
}

TEST(Coverage, IsTheSumOfLogarithms) {
  // Two tokens, three pieces: 0.5 + 0.2, 0.3 + 0.9 (which counts as 1), nothing.
  const Hypothesis hypothesis{.attention = {0.5f, 0.3f, 0.0f, 0.2f, 0.9f, 0.0f}};
  EXPECT_NEAR(coverage(hypothesis, 3), std::log(0.7) + std::log(1e-9), 1e-5);
  EXPECT_EQ(coverage({.attention = {1.0f, 0.0f, 0.0f, 1.0f}}, 2), 0);
  EXPECT_EQ(coverage({}, 0), 0) << "an empty source is covered";
}

TEST(Coverage, RanksFinishedHypothesesAgain) {
  const auto model = model_of(kThreeBlocks);
  const std::vector<Ids> sources = test::some_sources(3, 20);
  const SearchOptions plain{{.beam_size = 6}, 6};
  auto covered = plain;
  covered.coverage_penalty = 0.7;
  covered.n_best = 2;
  int64_t changed = 0;
  const auto expected = search_with_attention(*model, sources, plain);
  const auto found = search_with_attention(*model, sources, covered);
  for (size_t i = 0; i < sources.size(); ++i) {
    auto ranked = expected[i];
    for (auto& hypothesis : ranked) hypothesis.score += 0.7 * coverage(hypothesis, std::ssize(sources[i]));
    std::ranges::stable_sort(ranked, std::ranges::greater(),
                             [](const Hypothesis& one) { return std::pair(one.finished, one.score); });
    ASSERT_LE(found[i].size(), 2u);
    for (size_t j = 0; j < found[i].size(); ++j) {
      EXPECT_EQ(found[i][j].ids, ranked[j].ids);
      EXPECT_NEAR(found[i][j].score, ranked[j].score, 1e-5);
    }
    changed += ranked.front().ids != expected[i].front().ids;
  }
  EXPECT_GT(changed, 0) << "the penalty has to matter somewhere";
}

// A service searches with n_best 1, and each of its sentences says how many it wants.
TEST(Coverage, LeavesEachSentenceAsManyAsItWants) {
  const c10::NoGradGuard no_gradients;
  const auto model = model_of(kThreeBlocks);
  const std::vector<SearchModel> models = {{.model = model.get()}};
  const SearchOptions options{{.beam_size = 4, .max_length_offset = 3, .coverage_penalty = 0.7}, 1};
  auto four = options;
  four.n_best = 4;
  const std::vector<SearchInput> inputs = {
      {.sources = {{4, 5, 6}}, .n_best = 3}, {.sources = {{4, 5, 6}}}, {.sources = {{4, 5, 6}}, .n_best = 9}};
  const auto all = search(models, std::span(inputs).subspan(1, 1), four).front();
  ASSERT_EQ(all.size(), 4u);
  const auto found = search(models, inputs, options);
  EXPECT_EQ(found[0].size(), 3u);
  EXPECT_EQ(found[1].size(), 1u) << "that of the options";
  EXPECT_EQ(found[2].size(), 4u) << "as many as the beam holds";
  for (const auto& hypotheses : found)
    for (size_t i = 0; i < hypotheses.size(); ++i) EXPECT_EQ(hypotheses[i].ids, all[i].ids) << i;
}

}  // namespace
}  // namespace nmt::hypothesis_attention_test
