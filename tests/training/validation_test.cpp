#include "training/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "config/loading/schema.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "models/formula_weights.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::validation_test {
namespace {

constexpr int64_t kVocabulary = 8;  // four special ones, a, b, c, d

class ValidationTest : public testing::Test {
 protected:
  /// Pairs of these words; the target has them in the other order.
  std::shared_ptr<const PreparedCorpus> corpus(const std::string& name, const std::vector<std::string>& sources) {
    const auto path = folder_ / (name + ".bin");
    PreparedCorpusWriter writer(path);
    for (const auto& text : sources) {
      const auto ids = codec_.encode_source(text);
      const std::vector<int32_t> back(ids.rbegin(), ids.rend());
      const auto target_text = codec_.decode_target(back);
      writer.add({.source = ids, .target = back, .source_text = text, .target_text = target_text, .corpus = 0});
    }
    writer.finish();
    return std::make_shared<const PreparedCorpus>(path);
  }

  static Config config_of(const std::string& model, const std::string& validation = "") {
    return parse_config(
               "{data: {maxlen1: 8, maxlen2: 8, eval: [{name: one, source: s, target: t}, {name: two, source: "
               "u, target: v}]}, validation: {metrics: [loss, bleu, chrf]" +
                   validation + "}, model: {d_model: 16, dropout_rate: 0, " + model + "}}",
               "test")
        .config;
  }

  test::TemporaryDirectory folder_;
  TextCodec codec_ = test::word_codec({"a", "b", "c", "d"});
  std::shared_ptr<const PreparedCorpus> one_ = corpus("one", {"a b c", "d d", "c a b d a"});
  std::shared_ptr<const PreparedCorpus> two_ = corpus("two", {"b", "d c b a"});
};

const std::string kTransformer = "d_ff: 32, num_blocks: 1, num_heads: 2";
const std::string kRecurrent =
    "architecture: recurrent, num_blocks: 1, encoder_size: 8, attention_score: additive, "
    "tie_embeddings: none";

TEST_F(ValidationTest, HasTheFiguresOfEachSet) {
  const auto config = config_of(kTransformer);
  const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
  const auto both = Validator(one_, codec_, config, torch::kCPU, {{"two", two_}}).validate(*model);
  const auto first = Validator(one_, codec_, config, torch::kCPU).validate(*model);
  const auto second = Validator(two_, codec_, config, torch::kCPU).validate(*model);
  EXPECT_EQ(both.set, "one");
  EXPECT_EQ(both.loss, first.loss);
  EXPECT_EQ(both.bleu, first.bleu);
  EXPECT_EQ(both.hypotheses, first.hypotheses);
  EXPECT_EQ(both.attention.size(), first.attention.size());
  ASSERT_EQ(both.others.size(), 1u);
  const auto& other = both.others[0];
  EXPECT_EQ(other.set, "two");
  EXPECT_EQ(other.loss, second.loss);
  EXPECT_EQ(other.perplexity, second.perplexity);
  EXPECT_EQ(other.accuracy, second.accuracy);
  EXPECT_EQ(other.chrf_line, second.chrf_line);
  EXPECT_NE(other.perplexity, both.perplexity);
  EXPECT_TRUE(other.hypotheses.empty() && other.samples.empty() && other.attention.empty());
}

TEST_F(ValidationTest, TranslatesEachSetIntoItsLanguage) {
  codec_ = test::word_codec({"a", "b", "c", "d", ">>x<<", ">>y<<"});
  auto config = config_of(kTransformer);
  config.data.tags = LanguageTags::kTarget;
  config.data.eval = {{"one", "s", "t", "q-x"}, {"two", "u", "v", "q-y"}};
  const auto model = test::formula_model(config.model, kVocabulary + 2, kVocabulary + 2);
  const auto report = Validator(one_, codec_, config, torch::kCPU, {{"two", two_}}).validate(*model);
  TranslatorOptions options = translator_options(config);
  options.search.beam_size = 1;
  const auto translated =
      Translator(*model, codec_, options).translate(std::vector<std::string>{">>x<< a b c", "a b c"});
  EXPECT_EQ(report.hypotheses.at(0), translated[0].text);
  EXPECT_NE(report.hypotheses.at(0), translated[1].text);
  std::swap(config.data.eval[0].languages, config.data.eval[1].languages);
  const auto other = Validator(one_, codec_, config, torch::kCPU, {{"two", two_}}).validate(*model);
  EXPECT_NE(other.others.at(0).chrf_line, report.others.at(0).chrf_line);
}

// The search, which knows of no training, would say that the weights are damaged.
TEST_F(ValidationTest, SaysThatTheModelHasDiverged) {
  auto config = config_of(kTransformer);
  const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) parameter.fill_(NAN);
  }
  EXPECT_EQ(
      test::message_of<Error>([&] { Validator(one_, codec_, config, torch::kCPU).validate(*model); }),
      "validation: the loss is not finite: the model has diverged; begin another run (--run-dir) with a lower "
      "training.lr, more training.warmup_steps, training.clip_norm, or --precision fp32; training.init_from takes "
      "the weights of an earlier checkpoint");
  config.validation.metrics =
      parse_config("validation: {metrics: [loss], best_metric: loss}", "test").config.validation.metrics;
  config.validation.attention_samples = 0;
  EXPECT_TRUE(std::isnan(Validator(one_, codec_, config, torch::kCPU).validate(*model).loss));
}

TEST_F(ValidationTest, MayBeFreeRunning) {
  const auto forced = config_of(kRecurrent), free = config_of(kRecurrent, ", teacher_forcing: 0");
  const auto model = test::formula_model(forced.model, kVocabulary, kVocabulary);
  const auto report = Validator(one_, codec_, forced, torch::kCPU).validate(*model);
  const auto other = Validator(one_, codec_, free, torch::kCPU).validate(*model);
  EXPECT_NE(other.perplexity, report.perplexity);
  EXPECT_EQ(other.hypotheses, report.hypotheses) << "translations are not forced";
}

TEST_F(ValidationTest, CountsPairsThatAreTooLong) {
  const auto config = config_of(kTransformer + ", positions: learned, max_positions: 8");
  const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
  EXPECT_EQ(Validator(one_, codec_, config, torch::kCPU).validate(*model).too_long, 0);
  const auto longer = corpus("longer", {"a b c", "d d", "c a b d a", "a a a a b b b b"});
  const auto report = Validator(longer, codec_, config, torch::kCPU).validate(*model);
  EXPECT_EQ(report.too_long, 1);
  EXPECT_EQ(report.perplexity, Validator(one_, codec_, config, torch::kCPU).validate(*model).perplexity);
}

// Its loss of nothing was 0, the best of all for ever.
TEST_F(ValidationTest, RefusesASetOfWhichNoPairFits) {
  const auto config = config_of(kTransformer + ", positions: learned, max_positions: 8");
  const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
  const auto long_one = corpus("long", {"a b c d a b c d", "a a b b c c d d a"});
  Validator(one_, codec_, config, torch::kCPU, {{"two", two_}}).require_places(*model);
  EXPECT_EQ(test::message_of<Error>([&] { Validator(long_one, codec_, config, torch::kCPU).require_places(*model); }),
            "data.eval (one): none of its 2 pairs has places in the model (8 tokens of the source, 8 of the target): "
            "give another "
            "set, or more model.max_positions");
  EXPECT_THAT(test::message_of<Error>([&] {
                Validator(one_, codec_, config, torch::kCPU, {{"two", long_one}}).require_places(*model);
              }),
              testing::StartsWith("data.eval (two): none"));
}

TEST_F(ValidationTest, ShowsTheFirstSentencesAndOneThatIsDrawn) {
  const auto many = corpus("many", {"a b c", "d d", "a", "b", "c", "d", "a a", "b b", "c c"});
  const auto config = config_of(kTransformer, ", samples: 2");
  const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
  const Validator validator(many, codec_, config, torch::kCPU);
  std::set<int64_t> drawn;
  for (int64_t update = 100; update <= 2000; update += 100) {
    const auto report = validator.validate(*model, {}, update);
    ASSERT_EQ(report.samples.size(), 3u);
    EXPECT_EQ(report.samples[1].source, "d d");
    ASSERT_GE(report.drawn, 2);
    ASSERT_LT(report.drawn, 9);
    EXPECT_EQ(report.samples[2].source, report.sources[report.drawn]);
    EXPECT_EQ(report.samples[2].reference, report.references[report.drawn]);
    EXPECT_EQ(report.samples[2].hypothesis, report.hypotheses[report.drawn]);
    EXPECT_EQ(report.source_pieces, report.sources[report.drawn]) << "words are its pieces";
    EXPECT_EQ(validator.validate(*model, {}, update).drawn, report.drawn) << "a resumed run draws the same one";
    drawn.insert(report.drawn);
  }
  EXPECT_GE(drawn.size(), 5u) << "of 7 that may be drawn in 20 validations";
  const auto another = config_of(kTransformer, ", samples: 2}, run: {seed: 2");
  std::vector<int64_t> first, second;
  for (int64_t update = 1; update <= 8; ++update) {
    first.push_back(validator.validate(*model, {}, update).drawn);
    second.push_back(Validator(many, codec_, another, torch::kCPU).validate(*model, {}, update).drawn);
  }
  EXPECT_NE(first, second) << "another seed, other sentences";
}

TEST_F(ValidationTest, DrawsNoSentenceWhereNoneIsWantedOrLeft) {
  for (const char* options : {", samples: 1, random_sample: false", ", samples: 3"}) {
    const auto config = config_of(kTransformer, options);
    const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
    const auto report = Validator(one_, codec_, config, torch::kCPU).validate(*model, {}, 100);
    EXPECT_EQ(std::ssize(report.samples), config.validation.samples);
    EXPECT_EQ(report.drawn, 0);
    EXPECT_EQ(report.source_pieces, "a b c");
  }
}

TEST_F(ValidationTest, DrawsTheAttentionOfChosenSentences) {
  const auto config = config_of(kTransformer, ", attention_samples: 1, attention_lines: [3, 1, 3]");
  const auto model = test::formula_model(config.model, kVocabulary, kVocabulary);
  const auto report = Validator(one_, codec_, config, torch::kCPU).validate(*model);
  EXPECT_THAT(report.attention_lines, testing::ElementsAre(1, 3));
  ASSERT_EQ(report.attention.size(), 2u);
  EXPECT_THAT(report.attention[1].back().keys, testing::ElementsAre("c", "a", "b", "d", "a", "</s>"));
  EXPECT_EQ(attention_line(report, 1), 3);
  const auto beyond = config_of(kTransformer, ", attention_lines: 4");
  EXPECT_EQ(test::message_of<Error>([&] { Validator(one_, codec_, beyond, torch::kCPU); }),
            "validation.attention_lines: 4: the validation set has 3 sentences; give numbers up to that");
}

TEST(SentencesPerValidationSearch, GoByTheBatchSizeOnADeviceOnly) {
  const auto config = [](const std::string& size) {
    return parse_config("{decoding: {batch_size: " + size + "}}", "test").config;
  };
  const torch::Device card(torch::kCUDA, 0);
  EXPECT_EQ(sentences_per_validation_search(config("256"), card), 256);
  EXPECT_EQ(sentences_per_validation_search(config("32"), card), 64);
  EXPECT_EQ(sentences_per_validation_search(config("256"), torch::kCPU), 64);
}

}  // namespace
}  // namespace nmt::validation_test
