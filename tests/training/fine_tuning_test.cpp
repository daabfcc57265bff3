#include "training/fine_tuning.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "support.h"
#include "tensor_support.h"
#include "text/longest_pieces.h"
#include "text/words.h"
#include "training/optimizers/optimizer.h"
#include "training/trained_update.h"

namespace nmt::fine_tuning_test {
namespace {

using test::message_of;
using testing::HasSubstr;

ModelConfig small_model(const std::string& more = "") {
  return test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2" + more);
}

TextCodec codec_of(const std::vector<std::string>& words, TextCodec::Options options = {}) {
  std::string vocabulary = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\n";
  for (const auto& word : words) vocabulary += word + "\t1\n";
  const auto tokenizer = std::make_shared<WordTokenizer>(vocabulary, "vocabulary", WordLimits());
  return {options, tokenizer, tokenizer};
}

/// A model directory of a small model with formula weights and the words a to e.
class InitFrom : public testing::Test {
 protected:
  InitFrom() {
    Config config;
    config.model = small_model();
    model_ = test::formula_model(config.model, 9, 9);
    std::filesystem::create_directory(directory_);
    save_model(directory_, *model_, config, codec_of({"a", "b", "c", "d", "e"}), nlohmann::json::object());
  }

  void load(const ModelConfig& config, const TextCodec& codec) {
    const auto model = make_model(config, codec.source().size(), codec.target().size());
    initialise(*model, config, 1);
    load_initial_weights(*model, config, codec, directory_);
    const auto expected = named_parameters(*model_), found = named_parameters(*model);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(found[i].second.equal(expected[i].second));
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path directory_ = folder_ / "model";
  std::shared_ptr<TranslationModel> model_;
};

TEST_F(InitFrom, TakesTheWeights) {
  load(small_model(), codec_of({"a", "b", "c", "d", "e"}));
  load(small_model(", dropout_rate: 0.1, embedding_init: normal"), codec_of({"a", "b", "c", "d", "e"}));
}

TEST_F(InitFrom, NamesAllThatDoesNotFit) {
  const auto words = codec_of({"a", "b", "c", "d", "e"});
  const auto from = "training.init_from " + directory_.string() + ": ";
  const auto advice =
      "; leave these out and prepare the data again, with nmt-prepro --from-model " + directory_.string();
  EXPECT_EQ(message_of<Error>([&] { load(small_model(", norm: pre"), words); }),
            from + "model.norm is post there and pre here" + advice);
  EXPECT_EQ(message_of<Error>([&] {
              load(small_model(", norm: pre, activation: gelu"),
                   codec_of({"a", "b", "c", "d", "f"}, {.lowercase = true, .reverse_source = true}));
            }),
            from +
                "data.lowercase is false there and true here, data.reverse_source is false there and true here, "
                "source: entry 8 of the vocabulary is 'e' there and 'f' here, target: entry 8 of the vocabulary is "
                "'e' there and 'f' here, model.norm is post there and pre here, model.activation is relu there and "
                "gelu here" +
                advice);
  EXPECT_THAT(message_of<Error>([&] {
                load(small_model(), codec_of({"a", "b", "c", "d"}));
              }),
              HasSubstr("source: the vocabulary has 9 entries there and 8 here"));
}

/// The rows of the words a to e, ids 4 to 8, as the pieces e, a c and x begin with them: the row of one, the mean of
/// two, and of all.
void expect_mapped(const torch::Tensor& found, const torch::Tensor& from, const std::string& name) {
  for (int64_t special = 0; special < 4; ++special) EXPECT_TRUE(found[special].equal(from[special])) << name << special;
  EXPECT_TRUE(found[4].equal(from[8])) << name;
  test::expect_close(found[5], (from[4] + from[6]) / 2, 1e-7, name);
  test::expect_close(found[6], (from[4] + from[5] + from[6] + from[7] + from[8]) / 5, 1e-7, name);
}

// Tables that are tied and tables that are not, and the bias of the output layer.
TEST_F(InitFrom, MapsTheRowsToAnotherVocabulary) {
  const auto words = codec_of({"a", "b", "c", "d", "e"});
  const auto pieces = std::make_shared<test::LongestPieces>(std::vector<std::string>{"\u2581e", "\u2581a\u2581c", "x"});
  const auto other = std::make_shared<test::LongestPieces>(std::vector<std::string>{"\u2581b"});
  for (const std::string tied : {"all", "target", "none"}) {
    Config config;
    config.model = small_model(", output_bias: true, tie_embeddings: " + tied);
    const auto theirs = test::formula_model(config.model, 9, 9);
    save_model(directory_, *theirs, config, words, nlohmann::json::object());
    const TextCodec codec({}, tied == "all" ? pieces : other, pieces);
    const auto model = make_model(config.model, codec.source().size(), codec.target().size());
    const auto said = load_initial_weights(*model, config.model, codec, directory_, InitVocabulary::kMap);
    EXPECT_THAT(
        said, HasSubstr("the weights start from " + directory_.string() + ", mapped to another vocabulary (source: "));
    EXPECT_THAT(said,
                HasSubstr("target: 7 pieces, 5 with the row of an old one, 1 with the mean of several, 1 with that "
                          "of all)"));
    const auto from = named_parameters(*theirs), to = named_parameters(*model);
    int mapped = 0;
    for (size_t i = 0; i < to.size(); ++i) {
      const auto& [name, found] = to[i];
      if (name == "source_embedding") {
        EXPECT_EQ(found.size(0), 5);
        EXPECT_TRUE(found[4].equal(from[i].second[5]));
      } else if (name.ends_with("embedding") || name.starts_with("output_")) {
        expect_mapped(found, from[i].second, name);
        ++mapped;
      } else {
        EXPECT_TRUE(found.equal(from[i].second)) << name;
      }
    }
    EXPECT_EQ(mapped, tied == "none" ? 3 : 2);
  }
  EXPECT_THAT(message_of<Error>([&] {
                const TextCodec reversed({.reverse_source = true}, pieces, pieces);
                load_initial_weights(*make_model(small_model(), 7, 7), small_model(), reversed, directory_,
                                     InitVocabulary::kMap);
              }),
              HasSubstr("data.reverse_source is false there and true here"));
}

// What an import makes impossible would outweigh all else in a label-smoothed loss.
TEST_F(InitFrom, AnImpossibleTokenStaysSoAndCostsNothing) {
  Config config;
  config.model = small_model(", output_bias: true");
  const auto words = codec_of({"a", "b", "c", "d", "e"});
  const auto theirs = test::formula_model(config.model, 9, 9);
  {
    const torch::NoGradGuard no_grad;
    theirs->output_bias()[0] = -1e9;
  }
  save_model(directory_, *theirs, config, words, nlohmann::json::object());
  const auto model = make_model(config.model, 9, 9);
  load_initial_weights(*model, config.model, words, directory_);
  const std::vector<Batch> batches{test::batch_of({{{4, 5}, {6, 7}}})};
  const auto found = evaluate(*model, batches, {0.1}, torch::kCPU),
             before = evaluate(*theirs, batches, {}, torch::kCPU);
  EXPECT_EQ(found.mean_label_loss(), before.mean_label_loss());
  EXPECT_LT(found.mean_loss(), 20);
}

TEST_F(InitFrom, TakesAnotherPrefixOrNone) {
  const auto words = std::vector<std::string>{"a", "b", "c", "d", "e"};
  Config config;
  config.model = small_model();
  save_model(directory_, *model_, config, codec_of(words, {.source_prefix = "a b "}), nlohmann::json::object());
  load(small_model(), codec_of(words, {.source_prefix = "c "}));
  load(small_model(), codec_of(words));
}

TEST(Freeze, LeavesOutWhatFitsAPattern) {
  const auto model = test::formula_model(small_model(), 9, 9);
  const auto trained = freeze(*model, {.freeze = {"encoder_*", "*.bias"}});
  size_t expected = 0;
  for (const auto& [name, parameter] : named_parameters(*model)) {
    const bool frozen = name.starts_with("encoder_") || name.ends_with(".bias");
    EXPECT_EQ(parameter.requires_grad(), !frozen) << name;
    expected += !frozen;
  }
  EXPECT_EQ(trained.size(), expected);

  const auto before = model->named_parameters()["encoder_0.feed_forward.inner.weight"].clone();
  const auto embedding = model->named_parameters()["embedding"].clone();
  Sgd sgd(trained, {});
  test::update({*model, sgd}, {test::batch_of({{{4, 5}, {6, 7}}})}, {}, 0.1);
  EXPECT_TRUE(model->named_parameters()["encoder_0.feed_forward.inner.weight"].equal(before));
  EXPECT_FALSE(model->named_parameters()["embedding"].equal(embedding));
}

TEST(Freeze, RefusesWhatFitsNothing) {
  const auto model = test::formula_model(small_model(), 9, 9);
  EXPECT_THAT(message_of<Error>([&] { freeze(*model, {.freeze = {"encoder.*"}}); }),
              HasSubstr("training.freeze: no weight is called 'encoder.*'; there are embedding, ..., "));
  EXPECT_EQ(message_of<Error>([&] { freeze(*model, {.freeze = {"*"}}); }), "training.freeze: nothing is left to train");
}

}  // namespace
}  // namespace nmt::fine_tuning_test
