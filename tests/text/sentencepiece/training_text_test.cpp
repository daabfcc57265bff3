#include <gmock/gmock.h>

#include "base/random.h"
#include "base/unicode.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::training_text_test {
namespace {

using test::training_lines;
using testing::ElementsAre;

TrainingText counted(std::vector<std::string> lines, const SentencePieceOptions& options = {}, int threads = 1) {
  TrainingText text(std::move(lines));
  text.count_words(options, threads);
  return text;
}

TEST(TrainingText, CountsWordsBetweenSpaces) {
  const auto text = counted({"ab  c ab", " c", "", "  ", "c\u00A0d"});
  EXPECT_THAT(text.lines, ElementsAre("ab\t2", "c\t2", "c\u00A0d\t1"));
  EXPECT_EQ(text.counted_bytes, 8u + 2 + 0 + 2 + 4);
}

TEST(TrainingText, LeavesWholeWhatCannotBeSplit) {
  EXPECT_THAT(counted({"a b", "a \u2581 b", "a \u2581 b"}).lines, ElementsAre("a\t1", "a \u2581 b\t2", "b\t1"));
  EXPECT_THAT(counted({"a\tb"}).lines, ElementsAre("a\t1", "b\t1"));
  const std::vector<std::string> tab = {"a a", "a\tb"}, plain = {"a a", "a"}, blank = {"  ", ""};
  EXPECT_EQ(counted(tab, {.normalization = "nfkc"}).lines, tab);
  EXPECT_EQ(counted(tab, {.normalization = "nfkc"}).counted_bytes, 0u);
  EXPECT_EQ(counted(plain, {.type = "unigram"}).lines, plain);
  for (const char* symbol : {"x y", "\u2581x", "x\ty"})
    EXPECT_EQ(counted(plain, {.user_symbols = {symbol}}).lines, plain);
  EXPECT_THAT(counted(plain, {.user_symbols = {"<2en>"}}).lines, ElementsAre("a\t3"));
  EXPECT_EQ(counted(blank).lines, blank) << "the trainer says what it lacks";
}

TEST(TrainingText, LeavesOutWhatSentencePieceSkips) {
  EXPECT_THAT(counted({"a", std::string(10001, 'b'), "c \u2585"}).lines, ElementsAre("a\t1"));
  EXPECT_TRUE(sentencepiece_skips(std::string(10001, 'z')));
  EXPECT_FALSE(sentencepiece_skips(std::string(10000, 'z')));
}

TEST(TrainingText, IsTheSameForAnyNumberOfThreads) {
  const auto lines = training_lines(45000);
  const auto one = counted(lines);
  for (const int threads : {2, 3}) EXPECT_EQ(counted(lines, {}, threads).lines, one.lines);
  EXPECT_EQ(counted(lines, {}, 3).counted_bytes, one.counted_bytes);
}

/// Words, odd spaces, marks of spaces, combining marks, ligatures and bytes that are no UTF-8.
std::vector<std::string> odd_lines(int count) {
  static const std::vector<std::string> kParts = {
      "der",    "haus",   "mü",       "ß",          " ",      "  ",           "\u00A0",
      "\u3000", "\u200B", "\u0308",   "\u00A8",     "\uFB01", "\uFDFA",       "<2en>",
      "<s>",    "Q",      "ZZ",       "\U0001F600", ".",      "ver",          "\u1161",
      "\uAC00", "\uFE0F", "ung",      "\u2581",     "\r",     "\xFF",         "\u1100",
      "e",      "12",     "\xE2\x96", "\u2581der ", "</s>",   "\u0345 \u0345"};
  std::vector<std::string> lines;
  CounterRandom random({17});
  for (int i = 0; i < count; ++i) {
    std::string line;
    for (uint64_t part = 0, parts = random.below(20); part < parts; ++part) {
      line += random.below(6) == 0 ? to_utf8(std::u32string(1, static_cast<char32_t>(32 + random.below(0x3000))))
                                   : kParts[random.below(kParts.size())];
      if (random.below(2) == 0) line += ' ';
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(TrainingText, TheModelOfCountsIsThatOfLines) {
  auto lines = training_lines(3000, 4);
  for (auto& line : odd_lines(3000)) lines.push_back(std::move(line));
  lines.push_back("tab\tund\ttab");
  lines.emplace_back(10000, 'w');
  lines.emplace_back(10001, 'w');
  const SentencePieceOptions all[] = {
      {.vocab_size = 3500, .character_coverage = 0.98},
      {.vocab_size = 3500, .character_coverage = 0.99, .byte_fallback = true},
      {.vocab_size = 3500, .character_coverage = 0.98, .user_symbols = {"<2en>", "erha"}},
      {.vocab_size = 3500, .character_coverage = 0.98, .normalization = "nmt_nfkc_cf"},
      {.vocab_size = 3500, .character_coverage = 0.98, .normalization = "identity"}};
  for (const auto& options : all) {
    if (options.normalization == "identity") std::erase_if(lines, [](const auto& l) { return l.find('\t') != l.npos; });
    const auto text = counted(lines, options, 2);
    ASSERT_GT(text.counted_bytes, 0u);
    const auto expected = train_sentencepiece(lines, options);
    EXPECT_TRUE(train_sentencepiece(text, options) == expected) << options.normalization;
  }
}

}  // namespace
}  // namespace nmt::training_text_test
