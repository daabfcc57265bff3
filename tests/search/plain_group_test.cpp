// A Transformer without LibTorch, with a whole model behind it for what it cannot do.
#include "search/plain_group.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "models/formula_weights.h"
#include "search/reference_search.h"
#include "search/search.h"
#include "support.h"

namespace nmt::plain_group_test {
namespace {

constexpr int64_t kVocabulary = 60;

class PlainGroupTest : public testing::Test {
 protected:
  std::unique_ptr<PlainTransformer> plain(int threads) {
    const c10::NoGradGuard no_gradients;
    return std::make_unique<PlainTransformer>(whole_->inference_weights(), config_, threads, [this] {
      ++loaded_;
      return whole_;
    });
  }

  std::vector<std::vector<Hypothesis>> found_by(SearchableModel& model, int64_t workers, const SearchOptions& options) {
    std::vector<SearchInput> inputs;
    for (const auto& source : test::some_sources(kVocabulary, 12)) inputs.push_back({.sources = {source}});
    const SearchMember only{.model = &model};
    const auto group = model.group({&only, 1});
    ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
    group->search(workers, [&](DecodingModel& own) { search(own, queue, 3, options); });
    std::vector<std::vector<Hypothesis>> results;
    for (auto& found : queue.results()) results.push_back(std::move(found.value()));
    return results;
  }

  const ModelConfig config_ =
      test::model_config("d_model: 16, d_ff: 32, num_blocks: 3, num_heads: 2, positions: learned, max_positions: 40");
  const std::shared_ptr<TranslationModel> whole_ = test::formula_model(config_, kVocabulary, kVocabulary);
  int loaded_ = 0;
};

TEST(SearchThreads, AreAsManyAsEachWants) {
  EXPECT_EQ(search_threads(2).helpers(), 1);
  EXPECT_EQ(search_threads(4).helpers(), 3);
  EXPECT_EQ(&search_threads(2), &search_threads(2));
}

TEST_F(PlainGroupTest, FindsWhatTheWholeModelFindsAndAsksItForAttentionAlone) {
  const SearchOptions beam{{.beam_size = 3, .max_length = 14}, 3};
  SearchOptions attentive = beam;
  attentive.attention = true;
  attentive.coverage_penalty = 0.2;
  for (const int64_t workers : {1, 3}) {
    const auto model = plain(3);
    loaded_ = 0;
    for (const auto& options : {beam, attentive}) {
      const auto expected = found_by(*whole_, 1, options), found = found_by(*model, workers, options);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        test::expect_equal(found[i], expected[i]);
        for (size_t k = 0; k < found[i].size(); ++k) EXPECT_EQ(found[i][k].attention, expected[i][k].attention);
      }
      EXPECT_EQ(loaded_, options.attention ? 1 : 0) << workers << " workers";
    }
  }
}

TEST_F(PlainGroupTest, IsLikeTheWholeModelToThoseWhoAsk) {
  const auto model = plain(2);
  EXPECT_EQ(model->limits().source, whole_->limits().source);
  EXPECT_EQ(model->limits().target, whole_->limits().target);
  const std::vector<int64_t> source = {5, 6, 3}, target = {2, 7};
  const SearchMember own{.model = model.get()}, its{.model = whole_.get()};
  const auto group = model->group({&own, 1}), whole = whole_->group({&its, 1});
  EXPECT_EQ(group->worker_limit(), 2);
  for (const auto& options : {SearchOptions{}, SearchOptions{{.alignment_layer = 3, .alignment_head = 2}}})
    EXPECT_TRUE(group->has_alignment(options) && whole->has_alignment(options));
  for (const auto& options : {SearchOptions{{.alignment_layer = 4}}, SearchOptions{{.alignment_head = 3}}}) {
    const auto message = test::message_of<Error>([&] { whole->has_alignment(options); });
    EXPECT_EQ(test::message_of<Error>([&] { group->has_alignment(options); }), message);
    EXPECT_NE(message, "");
  }
  EXPECT_EQ(loaded_, 0);
  EXPECT_EQ(model->attention_layers(source, target).size(), whole_->attention_layers(source, target).size());
  EXPECT_EQ(loaded_, 1);
}

TEST_F(PlainGroupTest, PassesOnWhatASearchThrows) {
  const auto model = plain(3);
  const SearchMember only{.model = model.get()};
  for (const int64_t workers : {1, 3})
    EXPECT_THROW(model->group({&only, 1})->search(workers, [](DecodingModel&) { throw Error("no"); }), Error);
}

}  // namespace
}  // namespace nmt::plain_group_test
