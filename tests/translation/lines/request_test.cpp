#include "translation/lines/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/error.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"
#include "translation/model_set.h"
#include "translation/translator.h"

namespace fs = std::filesystem;

namespace nmt::request_test {
namespace {

class RequestTest : public testing::Test {
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

TEST_F(RequestTest, EachIsTranslatedAsItAsks) {
  const Translator translator(models_->members(), models_->options());
  const std::string line = test::training_lines().front();
  const std::vector<Request> requests{{.source = line, .n_best = 1},
                                      {.source = line, .n_best = 2},
                                      {.source = ""},
                                      {.source = line, .n_best = 9},
                                      {.source = line, .word_attention = true},
                                      {.source = line, .alignment = true}};
  const auto found = translator.translate(requests);
  ASSERT_EQ(found.size(), requests.size());
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[1].alternatives.size(), 2u);
  EXPECT_THAT(found[2].alternatives, testing::IsEmpty());
  EXPECT_EQ(found[3].alternatives.size(), 3u) << "as many as the beam holds";
  EXPECT_GE(found[3].alternatives[0].score, found[3].alternatives[1].score);
  for (const size_t i : {1, 3, 4, 5}) EXPECT_EQ(found[i].text, found[0].text) << i;
  EXPECT_GT(found[0].source_tokens, 0);
  EXPECT_FALSE(found[0].word_attention);
  ASSERT_TRUE(found[4].word_attention);
  EXPECT_EQ(found[4].word_attention->keys.front(), line.substr(0, line.find(' ')));
  EXPECT_FALSE(found[0].alternatives[0].aligned);
  EXPECT_TRUE(found[5].alternatives[0].parts[0].attention.empty()) << "nobody has asked for it";
  const auto& aligned = found[5].alternatives[0].aligned;
  ASSERT_TRUE(aligned && !aligned->empty());
  for (const auto& words : *aligned) {
    for (const auto& [text, begin, end] : {std::tuple(line, words.source_begin, words.source_end),
                                           std::tuple(found[5].text, words.target_begin, words.target_end)}) {
      ASSERT_LT(begin, end);
      EXPECT_EQ(text.substr(begin, end - begin).find(' '), std::string::npos) << "one word";
      EXPECT_TRUE(begin == 0 || text[begin - 1] == ' ');
      EXPECT_TRUE(end == text.size() || text[end] == ' ');
    }
  }
}

TEST_F(RequestTest, HasAsManyAsItAsksForWithACoveragePenalty) {
  TranslatorOptions options = models_->options();
  options.search.coverage_penalty = 0.5;
  const Translator translator(models_->members(), options);
  const std::string line = test::training_lines().front();
  const auto found =
      translator.translate(std::vector<Request>{{.source = line, .n_best = 1}, {.source = line, .n_best = 3}});
  EXPECT_EQ(found[0].alternatives.size(), 1u);
  ASSERT_EQ(found[1].alternatives.size(), 3u);
  EXPECT_EQ(found[1].text, found[0].text);
}

TEST_F(RequestTest, APrefixThatNoTranslationHasIsNotTranslated) {
  const Translator translator(models_->members(), models_->options());
  const std::string line = test::training_lines().front();
  std::string long_text = line;
  while (long_text.size() < 20'000) long_text += " " + line;
  const auto found =
      translator.translate(std::vector<Request>{{.source = line, .prefix = line, .whole_prefix = true},
                                                {.source = line, .prefix = long_text, .whole_prefix = true},
                                                {.source = line}});
  EXPECT_FALSE(found[0].prefix_is_cut);
  EXPECT_THAT(found[0].text, testing::StartsWith(line));
  EXPECT_TRUE(found[1].prefix_is_cut);
  EXPECT_THAT(found[1].alternatives, testing::IsEmpty());
  EXPECT_FALSE(found[2].alternatives.empty());
}

TEST_F(RequestTest, TermsOfTheTranslatorAreThoseOfRequestsWithoutAny) {
  TranslatorOptions options = models_->options();
  options.terms.keep_placeholders = true;
  const Translator translator(models_->members(), options);
  EXPECT_EQ(translator.translate(std::vector<Request>{{.source = "{x}"}}).front().text, "{x}");
}

TEST(WithCommon, ALineHasItsOwnFirst) {
  const Request common{.prefix = "p", .must = {"a"}, .must_not = {"b"}, .copy_unknown = true};
  const auto plain = with_common({.source = "s"}, common);
  EXPECT_EQ(plain.source, "s");
  EXPECT_EQ(plain.prefix, "p");
  EXPECT_TRUE(plain.copy_unknown);
  const auto own = with_common({.source = "s", .prefix = "q", .must = {"c"}}, common);
  EXPECT_EQ(own.prefix, "q");
  EXPECT_THAT(own.must, testing::ElementsAre("c", "a"));
  EXPECT_THROW(with_common({.source = "s", .must = {"b"}}, common), Error);
}

}  // namespace
}  // namespace nmt::request_test
