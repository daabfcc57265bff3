// A decoding rule in real searches, and a corpus format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "extending/bar_pairs_reader.h"
#include "extending/frequency_penalty.h"
#include "models/formula_weights.h"
#include "search/list_search.h"
#include "search/scripted_model.h"
#include "support.h"
#include "text/files.h"

namespace nmt::extending_translating_test {
namespace {

using test::Ids;
using test::kA;
using test::kB;
using testing::ElementsAre;

/// At every place a 0.5, b 0.3, </s> 0.2.
test::Script likes_a() {
  return [](const Ids&, const Ids&) { return std::vector<double>{0, 0, 0, 0.2, 0.5, 0.3}; };
}

SearchOptions four_tokens(double alpha) {
  SearchOptions options{{.beam_size = 1, .length_penalty = 0, .max_length_ratio = 0, .max_length_offset = 4}};
  if (alpha > 0) options.rules = {std::make_shared<FrequencyPenalty>(alpha)};
  return options;
}

TEST(Extending, ADecodingRuleInGreedySearch) {
  test::ScriptedModel model(6, likes_a());
  EXPECT_THAT(search(model, {{9}}, four_tokens(0)).front().front().ids, ElementsAre(kA, kA, kA, kA));
  // After "a" its 0.5 is divided by 2, below b's 0.3; after "a b" both are halved; after "a b a" a is quartered.
  const auto found = search(model, {{9}}, four_tokens(std::log(2))).front().front();
  EXPECT_THAT(found.ids, ElementsAre(kA, kB, kA)) << "</s> has 0.2 against 0.125 and 0.15";
  EXPECT_TRUE(found.finished);
}

TEST(Extending, ADecodingRuleChangesTheDistribution) {
  test::ScriptedModel model(6, likes_a());
  auto options = four_tokens(std::log(2));
  const auto found = search(model, {{9}}, options).front().front();
  EXPECT_NEAR(found.token_log_probabilities[1], std::log(0.3 / (0.25 + 0.3 + 0.2)), 1e-5);
}

/// The same in every mode: beam, groups, samples, with candidates, beside the toolkit's own rules.
TEST(Extending, ADecodingRuleInOtherSearches) {
  const c10::NoGradGuard no_gradients;
  const auto model = test::formula_model(
      test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, output_bias: true"), 20, 20);
  const SearchModel only{.model = model.get()};
  const auto repeats = [&](const SearchOptions& options, bool shortlist) {
    SearchInput input{.sources = {{5, 6, 7}}};
    if (shortlist) input.candidates = {4, 6, 8, 9, 10, 12, 13, 15, 17, 18};
    bool found = false;  // a token twice
    const auto results = search(std::span(&only, 1), std::span(&input, 1), options);
    for (const auto& hypothesis : results.front()) {
      EXPECT_GT(hypothesis.ids.size(), 3u);
      for (const int32_t id : hypothesis.ids) found = found || std::ranges::count(hypothesis.ids, id) > 1;
    }
    return found;
  };
  for (SearchOptions options :
       {SearchOptions{{.beam_size = 1}}, SearchOptions{{.beam_size = 4, .diversity_groups = 2}, 4},
        SearchOptions{{.beam_size = 1, .sampling = true}, 5},
        SearchOptions{{.beam_size = 3, .repetition_penalty = 0.5, .ban_unknown = true}, 2}}) {
    options.min_length = 4;
    options.max_length_ratio = 0;
    options.max_length_offset = 8;
    for (const bool shortlist : {false, true}) {
      options.rules = {};
      EXPECT_TRUE(repeats(options, shortlist)) << "there is something to penalise";
      options.rules = {std::make_shared<FrequencyPenalty>(100)};  // a token comes once
      EXPECT_FALSE(repeats(options, shortlist));
    }
  }
}

class ExtendingByACorpusFormat : public testing::Test {
 protected:
  BarPairsReader reader(std::string_view content) {
    const auto path = test::write_text(folder_ / "train.bars", content);
    return BarPairsReader({.path = path, .option = "data.train1"}, TextReader(LineReader(path), TextFormat::kPlain));
  }
  test::TemporaryDirectory folder_;
};

TEST_F(ExtendingByACorpusFormat, ReadsPairs) {
  auto pairs = reader("ein Haus ||| a house\n||| nothing\n");
  PairReader& any = pairs;
  TextPair pair;
  ASSERT_TRUE(any.next(pair));
  EXPECT_EQ(pair.source, "ein Haus");
  EXPECT_EQ(pair.target, "a house");
  ASSERT_TRUE(any.next(pair));
  EXPECT_EQ(pair.source, "");
  EXPECT_EQ(pair.target, "nothing");
  EXPECT_FALSE(any.next(pair));
  EXPECT_THAT(any.description(), testing::HasSubstr("train.bars (source ||| target)"));
}

TEST_F(ExtendingByACorpusFormat, NamesTheLineThatIsWrong) {
  auto pairs = reader("a ||| b\nc | d\n");
  TextPair pair;
  ASSERT_TRUE(pairs.next(pair));
  EXPECT_EQ(
      test::message_of<Error>([&] { pairs.next(pair); }),
      "data.train1 " + (folder_ / "train.bars").string() + ":2: no bars; a line is the source, ||| and the target");
  auto latin = reader("\xe9 ||| e\n");
  EXPECT_THROW(latin.next(pair), Error) << "not UTF-8";
}

}  // namespace
}  // namespace nmt::extending_translating_test
