#include "text/sentencepiece/word_encoder.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include "base/threads.h"
#include "base/unicode.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::word_encoder_test {
namespace {

using test::training_lines;

SentencePieceTokenizer trained(const SentencePieceOptions& options) {
  return {*train_sentencepiece(training_lines(), options), "test"};
}

/// Lines of words, odd spaces, combining marks, ligatures, emoji, symbols and bytes that are no UTF-8.
std::string odd_line(CounterRandom& random) {
  static const std::vector<std::string> kParts = {
      "der",    "haus",     "mü",     "ß",      " ",      "  ",     "\t",     "\u00A0", "\u3000", "\u200B",
      "\u0308", "\u00A8",   "\uFB01", "\uFDFA", "\u2581", "<2en>",  "<s>",    "Q",      "ZZ",     "\U0001F600",
      "\xFF",   "\xE2\x96", ".",      "ver",    "\u1161", "\uAC00", "\uFE0F", "\u0345", "ung",    "\r"};
  std::string line;
  for (uint64_t i = 0, parts = random.below(25); i < parts; ++i) {
    if (random.below(4) == 0) {
      line += to_utf8(std::u32string(1, static_cast<char32_t>(random.below(0x11000))));
    } else {
      line += kParts[random.below(kParts.size())];
    }
    if (random.below(3) == 0) line += ' ';
  }
  return line;
}

TEST(WordEncoder, EncodesAsSentencePieceDoes) {
  const SentencePieceOptions all[] = {{.vocab_size = 130, .character_coverage = 1},
                                      {.vocab_size = 400, .character_coverage = 1, .byte_fallback = true},
                                      {.vocab_size = 130, .user_symbols = {"<2en>", "erha"}},
                                      {.vocab_size = 130, .normalization = "identity"},
                                      {.vocab_size = 130, .normalization = "nmt_nfkc_cf"},
                                      {.type = "unigram", .vocab_size = 90},
                                      {.vocab_size = 130, .user_symbols = {"der haus"}}};
  for (const auto& options : all) {
    const auto tokenizer = trained(options);
    EXPECT_EQ(tokenizer.words_are_independent(), options.type == "bpe" && &options != &all[6]);
    sentencepiece::SentencePieceProcessor whole;
    ASSERT_TRUE(load_sentencepiece(whole, tokenizer.serialized()));
    for (const auto& line : training_lines(100, 8)) ASSERT_EQ(tokenizer.encode(line), whole.EncodeAsIds(line)) << line;
    CounterRandom random({11});
    for (int i = 0; i < 8000; ++i) {
      const std::string line = odd_line(random);
      ASSERT_EQ(tokenizer.encode(line), whole.EncodeAsIds(line)) << testing::PrintToString(line);
    }
    const std::string longest = std::string(200, 'e'), line = longest + " der " + longest;
    EXPECT_EQ(tokenizer.encode(line), whole.EncodeAsIds(line));
  }
}

TEST(WordEncoder, ServesSeveralThreads) {
  const auto tokenizer = trained({.vocab_size = 130, .character_coverage = 1});
  const auto lines = training_lines(200, 8);
  std::vector<std::vector<int32_t>> found(4 * lines.size()), expected;
  for (const auto& line : lines) expected.push_back(tokenizer.encode(line));
  parallel_for(std::ssize(found), 1, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) found[i] = tokenizer.encode(lines[i % lines.size()]);
  });
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i % lines.size()]);
}

TEST(SentencePieceSettings, AreReadFromTheModel) {
  const auto bpe = read_sentencepiece_settings(*train_sentencepiece(training_lines(), {.vocab_size = 100}));
  EXPECT_TRUE(bpe.is_bpe && bpe.add_dummy_prefix && bpe.remove_extra_whitespaces && bpe.escape_whitespaces);
  EXPECT_FALSE(bpe.treat_whitespace_as_suffix);
  EXPECT_FALSE(
      read_sentencepiece_settings(*train_sentencepiece(training_lines(), {.type = "unigram", .vocab_size = 90}))
          .is_bpe);
  // Written by hand: trainer_spec (2) of 5 bytes {model_type (3): 2, treat_whitespace_as_suffix (24): 1},
  // normalizer_spec (3) of 6 bytes {add_dummy_prefix (3): 0, remove_extra_whitespaces (4): 0, escape_whitespaces (5):
  // 0}.
  using namespace std::string_view_literals;
  const std::string_view bytes = "\x12\x05\x18\x02\xC0\x01\x01\x1A\x06\x18\x00\x20\x00\x28\x00"sv;
  const auto hand = read_sentencepiece_settings(bytes);
  EXPECT_TRUE(hand.is_bpe && hand.treat_whitespace_as_suffix);
  EXPECT_FALSE(hand.add_dummy_prefix || hand.remove_extra_whitespaces || hand.escape_whitespaces);
  for (size_t size = 0; size < bytes.size(); ++size) read_sentencepiece_settings(bytes.substr(0, size));  // no crash
  read_sentencepiece_settings(std::string(100, '\xFF'));
}

}  // namespace
}  // namespace nmt::word_encoder_test
