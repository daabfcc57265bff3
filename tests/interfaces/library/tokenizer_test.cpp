#include "nmt/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/tiny_model.h"
#include "support.h"
#include "text/training_lines.h"

namespace nmt::api_tokenizer_test {
namespace {

using api::Side;
using api::Tokenizer;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

class ApiTokenizer : public testing::Test {
 protected:
  ApiTokenizer() : tokenizer_(test::save_tiny_model(folder_ / "model", test::kTinyTransformer).string()) {}
  test::TemporaryDirectory folder_;
  const Tokenizer tokenizer_;
};

TEST_F(ApiTokenizer, GoesToIdsAndBack) {
  EXPECT_THAT(tokenizer_.encode("a b x"), ElementsAre(4, 5, Tokenizer::kUnknown));
  EXPECT_THAT(tokenizer_.encode_pieces("a b"), ElementsAre("a", "b"));
  EXPECT_EQ(tokenizer_.decode({4, 5, Tokenizer::kEnd}), "a b");
  EXPECT_EQ(tokenizer_.decode_pieces({"a", "b"}), "a b");
  EXPECT_EQ(tokenizer_.piece(11, Side::kTarget), "h");
  EXPECT_EQ(tokenizer_.id("h", Side::kSource), 11);
  EXPECT_FALSE(tokenizer_.id("z", Side::kSource).has_value());
  EXPECT_EQ(tokenizer_.size(Side::kSource), 12);
  EXPECT_TRUE(tokenizer_.is_joint());
  EXPECT_EQ(tokenizer_.language(Side::kTarget), "en");
  EXPECT_EQ(tokenizer_.encode(std::string("a\0\xFF", 3)).size(), 1u);
}

TEST_F(ApiTokenizer, StaysWhereItIsMovedFrom) {
  auto one = tokenizer_;
  const auto other = std::move(one);
  EXPECT_EQ(one.encode("a b"), other.encode("a b"));  // NOLINT(bugprone-use-after-move)
}

TEST_F(ApiTokenizer, SaysWhatIsWrong) {
  EXPECT_THAT(message_of<api::UserError>([&] { tokenizer_.decode({12}); }), HasSubstr("ids 0 to 11"));
  EXPECT_THAT(message_of<api::UserError>([&] { tokenizer_.decode({-1}); }), HasSubstr("id -1"));
  EXPECT_THAT(message_of<api::UserError>([&] { tokenizer_.decode_pieces({"z"}); }), HasSubstr("'z' is no piece"));
  message_of<api::UserError>([&] { tokenizer_.piece(12, Side::kSource); });
  message_of<api::UserError>([&] { Tokenizer((folder_ / "none").string()); });
  EXPECT_THAT(message_of<api::UserError>([] { Tokenizer(std::string("a\0b", 3)); }),
              HasSubstr("directory: a zero byte"));
}

TEST(ApiSentencePiece, IsLearned) {
  const auto lines = test::training_lines();
  api::SentencePieceOptions options;
  options.vocab_size = 60;
  options.character_coverage = 1;
  const auto model = api::train_sentencepiece(lines, options);
  EXPECT_GT(model.size(), 500u);
  EXPECT_EQ(model, api::train_sentencepiece(lines, options));
  options.vocab_size = 100000;
  EXPECT_THAT(message_of<api::UserError>([&] { api::train_sentencepiece(lines, options); }),
              HasSubstr("vocab_size: 100000 is too large"));
  options.type = "char";
  EXPECT_THAT(message_of<api::UserError>([&] { api::train_sentencepiece(lines, options); }), HasSubstr("bpe, unigram"));
  options = {};
  options.stop.request_stop();
  EXPECT_THROW(api::train_sentencepiece(lines, options), api::Stopped);
}

TEST(ApiSentencePiece, SaysWhatIsWrong) {
  const auto lines = test::training_lines();
  const auto message = [&](const api::SentencePieceOptions& options) {
    return message_of<api::UserError>([&] { api::train_sentencepiece(lines, options); });
  };
  EXPECT_EQ(message({.type = "bpe\nx"}), "type 'bpe?x': one of bpe, unigram");
  EXPECT_EQ(message({.normalization = "nfd"}),
            "normalization 'nfd': one of nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, identity");
  EXPECT_THAT(message({.vocab_size = -3}), HasSubstr("vocab_size -3: use 5 to 1000000; 4 pieces are fixed"));
  EXPECT_THAT(message({.vocab_size = 261, .byte_fallback = true, .user_symbols = {"<a>"}}),
              HasSubstr("vocab_size 261: use 262 to 1000000"));
  EXPECT_THAT(message({.vocab_size = int64_t{1} << 40}), HasSubstr("use 5 to 1000000"));
  for (const double coverage : {std::nan(""), 0.5, 1.5, HUGE_VAL})
    EXPECT_THAT(message({.character_coverage = coverage}), HasSubstr(": use 0.98 to 1"));
  EXPECT_EQ(message({.user_symbols = {"a", ""}}), "user_symbols: '' is empty; leave it out");
  EXPECT_EQ(message({.user_symbols = {"a\nb"}}), "user_symbols: 'a?b' holds a control character; leave it out");
  EXPECT_EQ(message({.user_symbols = {"\xFF"}}), "user_symbols: '?' is not UTF-8");
  for (const auto& twice : std::vector<std::vector<std::string>>{{"<s>"}, {"a", "a"}})
    EXPECT_THAT(message({.user_symbols = twice}), HasSubstr("is in the vocabulary already"));
}

TEST(ApiMetricTokenizer, CutsAsTheMetricsDo) {
  EXPECT_EQ(api::MetricTokenizer("13a").tokenize("Hello, world."), "Hello , world .");
  EXPECT_THAT(api::metric_tokenizers(), testing::Contains("flores200"));
  message_of<api::UserError>([] { api::MetricTokenizer("14a"); });
  EXPECT_EQ(api::moses_tokenize("Hello, \"world\".", "en"), "Hello , &quot; world &quot; .");
  EXPECT_EQ(api::moses_tokenize("Hello, \"world\".", "en", false), "Hello , \" world \" .");
  EXPECT_EQ(api::moses_detokenize("Hello , world .", "en"), "Hello, world.");
  message_of<api::UserError>([] { api::moses_tokenize("a", "xx"); });
  EXPECT_THAT(api::split_sentences("One. Two.", "en"), ElementsAre("One.", "Two."));
}

}  // namespace
}  // namespace nmt::api_tokenizer_test
