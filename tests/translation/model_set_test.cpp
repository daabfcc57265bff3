#include "translation/model_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace fs = std::filesystem;

namespace nmt::model_set_test {
namespace {

using test::message_of;

class ModelSetTest : public testing::Test {
 protected:
  /// A model of 20 learned positions and so many pieces.
  fs::path make(const std::string& name, int64_t pieces) {
    const auto config = parse_config(
                            "{model: {d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, positions: learned, "
                            "max_positions: 20}, data: {maxlen1: 20, maxlen2: 20}, decoding: {beam_size: 7}}",
                            "test")
                            .config;
    const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = pieces, .character_coverage = 1.0});
    const auto tokenizer = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
    const TextCodec codec({}, tokenizer, tokenizer);
    fs::create_directory(folder_ / name);
    save_model(folder_ / name, *test::formula_model(config.model, pieces, pieces), config, codec,
               nlohmann::json::object());
    return folder_ / name;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(ModelSetTest, AnAdapterIsOfOneModel) {
  const auto a = make("a", 60), b = make("b", 60);
  EXPECT_EQ(message_of<Error>([&] {
              ModelSet({.directories = {a, b}, .device = "cpu", .adapter = "adapter.safetensors"});
            }),
            "the adapter adapter.safetensors (--adapter): is of one model, not of an ensemble; leave it out");
}

TEST_F(ModelSetTest, TranslatesAsTheFirstModelSaysAndTheUserChanges) {
  const auto a = make("a", 60), b = make("b", 60);
  const ModelSet own({.directories = {a, b}, .weights = {1, 3}, .device = "cpu"});
  EXPECT_EQ(own.options().search.beam_size, 7);
  ASSERT_EQ(own.members().size(), 2u);
  EXPECT_EQ(own.members()[1].weight, 3);
  EXPECT_EQ(own.first().directory, a);
  const ModelSet changed({.directories = {a}, .device = "cpu", .changed = [](const Config& config) {
                            Config result = config;
                            result.decoding.beam_size += 1;
                            result.decoding.precision = DecodingPrecision::kInt8;
                            return result;
                          }});
  EXPECT_EQ(changed.options().search.beam_size, 8);
  EXPECT_EQ(changed.first().precision, "int8");
  const ModelSet of_a_run({.directories = {a}, .device = "cpu", .decoding = DecodingConfig{.beam_size = 3}});
  EXPECT_EQ(of_a_run.options().search.beam_size, 3);
}

TEST_F(ModelSetTest, RefusesModelsThatDoNotGoTogether) {
  const auto a = make("a", 60), b = make("b", 62);
  EXPECT_THAT(message_of<Error>([&] {
                ModelSet({.directories = {a, b}, .device = "cpu"});
              }),
              testing::HasSubstr("target"));
  EXPECT_THROW(ModelSet({.directories = {folder_ / "none"}, .device = "cpu"}), Error);
}

TEST_F(ModelSetTest, RefusesSourcesBeyondThePositions) {
  const auto a = make("a", 60);
  EXPECT_EQ(ModelSet({.directories = {a}, .device = "cpu", .max_source_length = 19}).options().max_source_length, 19);
  EXPECT_EQ(message_of<Error>([&] { ModelSet({.directories = {a}, .device = "cpu", .max_source_length = 20}); }),
            "--max-source-length 20: the positions of this model allow at most 19");
}

TEST_F(ModelSetTest, WantsTheLexiconOfAShortlist) {
  const auto a = make("a", 60);
  DecodingConfig decoding;
  decoding.shortlist = 5;
  EXPECT_THAT(message_of<Error>([&] { ModelSet({.directories = {a}, .device = "cpu", .decoding = decoding}); }),
              testing::HasSubstr("shortlist"));
}

}  // namespace
}  // namespace nmt::model_set_test
