#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "models/formula_weights.h"
#include "models/interface/model_initial_values.h"
#include "support.h"
#include "training/captured_log.h"
#include "translation/word_tokenizer.h"

namespace nmt::initial_embeddings_test {
namespace {

using testing::HasSubstr;

class InitialEmbeddingsTest : public testing::Test {
 protected:
  InitialEmbeddingsTest() : codec_(test::word_codec({"a", "b", "c"})) {
    write_file_atomically(folder_ / "de.vec", "b 1 2 3 4\nx 0 0 0 0\n");
    write_file_atomically(folder_ / "en.vec", "a 5 6 7 8\nc 9 10 11 12\n");
  }
  ModelConfig config(const std::string& options) const {
    auto config = test::model_config("d_model: 4, d_ff: 8, num_heads: 2, num_blocks: 1, " + options);
    config.word_vectors1 = folder_ / "de.vec";
    return config;
  }
  torch::Tensor table(const TranslationModel& model, const std::string& name) {
    return model.named_parameters()[name].detach();
  }
  test::TemporaryDirectory folder_;
  test::CapturedLog log_;
  TextCodec codec_;
};

TEST_F(InitialEmbeddingsTest, ReplaceTheRowsTheyHave) {
  auto options = config("tie_embeddings: none");
  options.word_vectors2 = folder_ / "en.vec";
  const auto embeddings = read_initial_embeddings(options, codec_, log_.log());
  EXPECT_THAT(log_.text(), HasSubstr("de.vec: vectors for 1 of 7 pieces"));
  EXPECT_THAT(log_.text(), HasSubstr("en.vec: vectors for 2 of 7 pieces"));
  const auto before = test::formula_model(options, 7, 7), after = test::formula_model(options, 7, 7);
  set_initial_embeddings(*after, embeddings);
  for (const char* name : {"source_embedding", "target_embedding"}) {
    auto expected = table(*before, name).clone();
    if (name == std::string("source_embedding")) {
      expected[5] = torch::tensor({1.0f, 2.0f, 3.0f, 4.0f});
    } else {
      expected[4] = torch::tensor({5.0f, 6.0f, 7.0f, 8.0f});
      expected[6] = torch::tensor({9.0f, 10.0f, 11.0f, 12.0f});
    }
    EXPECT_TRUE(table(*after, name).equal(expected)) << name;
  }
}

TEST_F(InitialEmbeddingsTest, AFileWithoutOnePieceIsWarnedOf) {
  write_file_atomically(folder_ / "de.vec", "x 0 0 0 0\n");
  const auto options = config("tie_embeddings: none");
  const auto embeddings = read_initial_embeddings(options, codec_, log_.log());
  EXPECT_THAT(log_.text(), HasSubstr("warning: " + (folder_ / "de.vec").string() + ": vectors for 0 of 7 pieces"));
  const auto before = test::formula_model(options, 7, 7), after = test::formula_model(options, 7, 7);
  set_initial_embeddings(*after, embeddings);
  EXPECT_TRUE(table(*after, "source_embedding").equal(table(*before, "source_embedding")));
}

TEST_F(InitialEmbeddingsTest, OfAJointTableComeFromOneFile) {
  auto options = config("tie_embeddings: all");
  const auto model = test::formula_model(options, 7, 7);
  set_initial_embeddings(*model, read_initial_embeddings(options, codec_, log_.log()));
  EXPECT_TRUE(table(*model, "embedding")[5].equal(torch::tensor({1.0f, 2.0f, 3.0f, 4.0f})));
  options.word_vectors2 = folder_ / "en.vec";
  EXPECT_THROW(read_initial_embeddings(options, codec_, log_.log()), Error);
}

TEST_F(InitialEmbeddingsTest, MustHaveTheSizeOfTheTable) {
  auto options = config("tie_embeddings: none");
  options.architecture = Architecture::kRecurrent;
  options.embedding_size = 3;
  EXPECT_THAT(test::message_of<Error>([&] { read_initial_embeddings(options, codec_, log_.log()); }),
              HasSubstr("de.vec:1: 4 numbers behind the word; the embeddings of this model have 3"));
}

TEST_F(InitialEmbeddingsTest, AreNoneByDefault) {
  auto options = config("tie_embeddings: none");
  options.word_vectors1.clear();
  EXPECT_TRUE(read_initial_embeddings(options, codec_, log_.log()).empty());
}

}  // namespace
}  // namespace nmt::initial_embeddings_test
