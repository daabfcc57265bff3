#include "server/models/model_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"
#include "translation/model_set.h"

namespace fs = std::filesystem;

namespace nmt::model_service_test {
namespace {

class ModelServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto config = parse_config(
                            "{model: {d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2}, "
                            "data: {maxlen1: 20, maxlen2: 20}, decoding: {beam_size: 3}}",
                            "test")
                            .config;
    const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = 60, .character_coverage = 1.0});
    const auto tokenizer = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
    fs::create_directory(folder_ / "model");
    save_model(folder_ / "model", *test::formula_model(config.model, 60, 60), config,
               TextCodec({}, tokenizer, tokenizer), nlohmann::json::object());
    models_ = std::make_unique<ModelSet>(ModelSetOptions{.directories = {folder_ / "model"}, .device = "cpu"});
  }

  test::TemporaryDirectory folder_;
  std::unique_ptr<ModelSet> models_;
};

TEST_F(ModelServiceTest, AnswersEachQuestionAsItAsks) {
  const ModelService service(models_->members(), models_->options());
  const std::string line = test::training_lines().front();
  const std::vector<ServiceRequest> questions{{.text = line},
                                              {.text = line, .n_best = 2},
                                              {.text = ""},
                                              {.text = line, .n_best = 9},
                                              {.text = line, .attention = true},
                                              {.text = line, .alignment = true}};
  const auto answers = service.answers_to(questions, {});
  ASSERT_EQ(answers.size(), questions.size());
  ASSERT_EQ(answers[0].n_best.size(), 1u);
  EXPECT_EQ(answers[1].n_best.size(), 2u);
  EXPECT_THAT(answers[2].n_best, testing::IsEmpty());
  EXPECT_EQ(answers[3].n_best.size(), 3u) << "as many as the beam holds";
  EXPECT_GE(answers[3].n_best[0].score, answers[3].n_best[1].score);
  for (const size_t i : {1, 3, 4, 5}) EXPECT_EQ(answers[i].n_best[0].text, answers[0].n_best[0].text) << i;
  EXPECT_GT(answers[0].source_tokens, 0);
  EXPECT_EQ(answers[0].attention_svg, "");
  EXPECT_THAT(answers[4].attention_svg, testing::HasSubstr("<svg"));
  EXPECT_TRUE(answers[0].alignment.empty());
  const std::string& translation = answers[5].n_best[0].text;
  ASSERT_FALSE(answers[5].alignment.empty());
  for (const auto& words : answers[5].alignment) {
    for (const auto& [text, begin, end] : {std::tuple(line, words.source_begin, words.source_end),
                                           std::tuple(translation, words.target_begin, words.target_end)}) {
      ASSERT_LT(begin, end);
      EXPECT_EQ(text.substr(begin, end - begin).find(' '), std::string::npos) << "one word";
      EXPECT_TRUE(begin == 0 || text[begin - 1] == ' ');
      EXPECT_TRUE(end == text.size() || text[end] == ' ');
    }
  }
  EXPECT_TRUE(service.answers_to(questions, [] { return true; }).empty()) << "nobody waits";
}

TEST_F(ModelServiceTest, GivesAsManyAsAreAskedForWithACoveragePenalty) {
  TranslatorOptions options = models_->options();
  options.search.coverage_penalty = 0.5;
  const ModelService service(models_->members(), options);
  const std::string line = test::training_lines().front();
  const std::vector<ServiceRequest> questions{{.text = line}, {.text = line, .n_best = 3}};
  const auto answers = service.answers_to(questions, {});
  EXPECT_EQ(answers[0].n_best.size(), 1u);
  ASSERT_EQ(answers[1].n_best.size(), 3u);
  EXPECT_EQ(answers[1].n_best[0].text, answers[0].n_best[0].text);
}

TEST_F(ModelServiceTest, RefusesAPrefixThatNoTranslationHas) {
  const ModelService service(models_->members(), models_->options());
  const std::string line = test::training_lines().front();
  std::string long_text = line;
  while (long_text.size() < 20'000) long_text += " " + line;
  const std::vector<ServiceRequest> questions{
      {.text = line, .prefix = line}, {.text = line, .prefix = long_text}, {.text = line}};
  const auto answers = service.answers_to(questions, {});
  EXPECT_EQ(answers[0].refused, "");
  EXPECT_THAT(answers[0].n_best.at(0).text, testing::StartsWith(line));
  EXPECT_THAT(answers[1].refused, testing::HasSubstr("prefix: is longer than any translation"));
  EXPECT_THAT(answers[1].n_best, testing::IsEmpty());
  EXPECT_EQ(answers[2].n_best.size(), 1u);
}

}  // namespace
}  // namespace nmt::model_service_test
