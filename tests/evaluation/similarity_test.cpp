#include "evaluation/similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "models/formula_weights.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::similarity_test {
namespace {

using test::message_of;

const char* const kModels[] = {"d_model: 8, d_ff: 16, num_heads: 2, num_blocks: 1, tie_embeddings: none",
                               "architecture: recurrent, d_model: 8, num_blocks: 1, attention_score: additive, "
                               "tie_embeddings: none"};

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double product = 0, first = 0, second = 0;
  for (size_t i = 0; i < a.size(); ++i) product += a[i] * b[i], first += a[i] * a[i], second += b[i] * b[i];
  return product / std::sqrt(first * second);
}

/// The mean of some rows of a matrix.
std::vector<double> mean_of(const torch::Tensor& rows, const std::vector<int64_t>& numbers) {
  std::vector<double> sum(rows.size(1));
  for (const int64_t row : numbers)
    for (int64_t i = 0; i < rows.size(1); ++i)
      sum[i] += rows[row][i].item<double>() / static_cast<double>(numbers.size());
  return sum;
}

TEST(Similarity, OfWordsIsThatOfTheirEmbeddings) {
  for (const char* options : kModels) {
    const auto model = test::formula_model(test::model_config(options), 9, 9);
    const auto codec = test::word_codec({"a", "b", "c", "d", "e"});
    const auto table = model->named_parameters()["source_embedding"];
    const auto found = similarity(*model, codec, "a", " c ");
    EXPECT_EQ(found.vectors, ComparedVectors::kEmbeddings);
    EXPECT_NEAR(found.cosine, cosine(mean_of(table, {4}), mean_of(table, {6})), 1e-12);
    EXPECT_LT(std::abs(found.cosine), 0.999);
    EXPECT_NEAR(similarity(*model, codec, "b", "b").cosine, 1, 1e-12);
  }
}

TEST(Similarity, OfSentencesIsThatOfTheEncodersMeans) {
  for (const char* options : kModels)
    for (const bool reversed : {false, true}) {
      const auto model = test::formula_model(test::model_config(options), 9, 9);
      const auto words = std::make_shared<test::WordTokenizer>(std::vector<std::string>{"a", "b", "c", "d", "e"});
      const TextCodec codec({.reverse_source = reversed}, words, words);
      const auto read = [&](std::vector<int64_t> ids) {
        if (reversed) std::reverse(ids.begin(), ids.end() - 1);  // </s> stays behind
        const auto states = model->encoder_output(torch::tensor(ids).unsqueeze(0), torch::tensor({std::ssize(ids)}))[0];
        std::vector<int64_t> all(ids.size());
        for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
        return mean_of(states, all);
      };
      const auto found = similarity(*model, codec, "a b c", "d");
      EXPECT_EQ(found.vectors, ComparedVectors::kEncoderOutputs);
      EXPECT_NEAR(found.cosine, cosine(read({4, 5, 6, 3}), read({7, 3})), 1e-6) << options << reversed;
      EXPECT_NEAR(similarity(*model, codec, "a b", "a b").cosine, 1, 1e-12);
    }
}

TEST(Similarity, RefusesWhatHasNoVector) {
  const auto config = test::model_config("d_model: 8, d_ff: 16, num_heads: 2, positions: learned, max_positions: 8");
  const auto model = test::formula_model(config, 9, 9);
  const auto codec = test::word_codec({"a", "b", "c", "d", "e"});
  EXPECT_EQ(message_of<Error>([&] { similarity(*model, codec, "a", " "); }),
            "similarity: ' ' holds no text; give two words or sentences");
  EXPECT_EQ(message_of<Error>([&] { similarity(*model, codec, "a", "x"); }),
            "similarity: the vocabulary does not have 'x'; give another text");
  EXPECT_EQ(message_of<Error>([&] { similarity(*model, codec, "a b c", "a b c d e d c b"); }),
            "similarity: a text has 9 tokens, the model takes 8; give a shorter one");
}

TEST(Similarity, IsPrintedWithWhatWasCompared) {
  EXPECT_EQ(similarity_text({.cosine = 0.5}), "cosine of embeddings = 0.500000\n");
  EXPECT_EQ(similarity_text({.cosine = -1, .vectors = ComparedVectors::kEncoderOutputs}),
            "cosine of encoder outputs = -1.000000\n");
}

}  // namespace
}  // namespace nmt::similarity_test
