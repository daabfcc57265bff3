#include "translation/attention_grids.h"

#include <gmock/gmock.h>

#include "models/formula_weights.h"
#include "translation/word_tokenizer.h"

namespace nmt::attention_grids_test {
namespace {

using testing::ElementsAre;

TEST(AttentionGrids, NameTheTokensOfEachLayer) {
  const auto config = test::model_config("d_model: 8, d_ff: 16, num_heads: 2, encoder_blocks: 2, decoder_blocks: 1");
  const auto model = test::formula_model(config, 7, 7);
  const auto codec = test::word_codec({"a", "b", "c"});
  const auto grids = attention_grids(*model, codec, codec.encode_source("a b"), codec.encode_target("c"));
  ASSERT_EQ(grids.size(), 4u);  // two of the encoder; of the decoder itself and at the source
  for (const auto& grid : grids) {
    EXPECT_EQ(grid.heads, 2);
    ASSERT_EQ(std::ssize(grid.weights), grid.heads * std::ssize(grid.queries) * std::ssize(grid.keys)) << grid.name;
    for (int64_t head = 0; head < grid.heads; ++head)
      for (int64_t query = 0; query < std::ssize(grid.queries); ++query) {
        double sum = 0;
        for (int64_t key = 0; key < std::ssize(grid.keys); ++key) sum += grid.weight(head, query, key);
        EXPECT_NEAR(sum, 1, 1e-5) << grid.name;
      }
  }
  EXPECT_THAT(grids[0].queries, ElementsAre("a", "b", "</s>"));
  EXPECT_EQ(grids[0].keys, grids[0].queries);
  EXPECT_THAT(grids[2].queries, ElementsAre("<s>", "c"));
  EXPECT_EQ(grids[2].keys, grids[2].queries);
  EXPECT_EQ(grids[2].weight(0, 0, 1), 0) << "the first position sees itself only";
  EXPECT_THAT(grids[3].queries, ElementsAre("c", "</s>"));
  EXPECT_THAT(grids[3].keys, ElementsAre("a", "b", "</s>"));
}

// The same model, told that it reads backwards, has the grids of the turned sentence, turned back.
TEST(AttentionGrids, OfASourceThatIsReadBackwardsAreInTheOrderOfTheText) {
  for (const char* options : {"d_model: 8, d_ff: 16, num_heads: 2, encoder_blocks: 1, decoder_blocks: 1",
                              "architecture: recurrent, d_model: 8, num_blocks: 1, attention_score: additive, "
                              "tie_embeddings: none"}) {
    const auto model = test::formula_model(test::model_config(options), 7, 7);
    const auto words = std::make_shared<test::WordTokenizer>(std::vector<std::string>{"a", "b", "c"});
    const TextCodec forwards({}, words, words), backwards({.reverse_source = true}, words, words);
    const auto target = forwards.encode_target("c");
    const auto expected = attention_grids(*model, forwards, forwards.encode_source("c b a"), target);
    const auto found = attention_grids(*model, backwards, backwards.encode_source("a b c"), target);
    ASSERT_EQ(found.size(), expected.size());
    const auto turned = [](int64_t place) { return place < 3 ? 2 - place : place; };  // </s> stays behind
    for (size_t i = 0; i < found.size(); ++i) {
      const bool encoder = found[i].name.starts_with("encoder"), self = found[i].name.ends_with("self");
      if (encoder || !self) {
        EXPECT_THAT(found[i].keys, ElementsAre("a", "b", "c", "</s>"));
      }
      if (encoder) {
        EXPECT_THAT(found[i].queries, ElementsAre("a", "b", "c", "</s>"));
      }
      for (int64_t head = 0; head < found[i].heads; ++head)
        for (int64_t query = 0; query < std::ssize(found[i].queries); ++query)
          for (int64_t key = 0; key < std::ssize(found[i].keys); ++key)
            EXPECT_EQ(found[i].weight(head, query, key),
                      expected[i].weight(head, encoder ? turned(query) : query, encoder || !self ? turned(key) : key))
                << found[i].name;
    }
  }
}

}  // namespace
}  // namespace nmt::attention_grids_test
