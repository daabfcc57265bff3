#include "text/sentencepiece/sentencepiece_tokenizer.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::sentencepiece_tokenizer_test {
namespace {

using test::message_of;
using test::training_lines;
using testing::HasSubstr;

SentencePieceTokenizer trained(SentencePieceOptions options) {
  return {*train_sentencepiece(training_lines(), options), "test"};
}

const SentencePieceTokenizer& small() {
  static const SentencePieceTokenizer tokenizer = trained({.vocab_size = 120, .character_coverage = 1});
  return tokenizer;
}

const SentencePieceTokenizer& with_bytes() {
  static const SentencePieceTokenizer tokenizer =
      trained({.vocab_size = 400, .character_coverage = 1, .byte_fallback = true});
  return tokenizer;
}

TEST(SentencePieceTokenizer, HasTheSpecialIds) {
  EXPECT_EQ(small().size(), 120);
  EXPECT_EQ(small().piece(SpecialIds::kPad), "<pad>");
  EXPECT_EQ(small().piece(SpecialIds::kUnknown), "<unk>");
  EXPECT_EQ(small().piece(SpecialIds::kBegin), "<s>");
  EXPECT_EQ(small().piece(SpecialIds::kEnd), "</s>");
}

TEST(SentencePieceTokenizer, DecodesWhatItEncoded) {
  for (const auto& line : training_lines(50, 2)) EXPECT_EQ(small().decode(small().encode(line)), line);
}

TEST(SentencePieceTokenizer, GivesPiecesWithTheTextOfWhatIsUnknown) {
  for (const auto& line : training_lines(20, 2)) {
    std::vector<std::string> expected;
    for (const int32_t id : small().encode(line)) expected.push_back(small().piece(id));
    EXPECT_EQ(small().encode_as_pieces(line), expected);
  }
  EXPECT_EQ(small().encode_as_pieces("\u4E2D\u56FD").back(), "\u4E2D\u56FD");
}

TEST(SentencePieceTokenizer, NoTextGivesSpecialIds) {
  for (const auto* text : {"<s>", "</s> <pad>", "<unk>", "der <s> ein"}) {
    for (const int32_t id : with_bytes().encode(text)) EXPECT_GT(id, SpecialIds::kEnd) << text;
  }
  EXPECT_TRUE(small().encode("").empty());
  EXPECT_TRUE(small().encode("  \t ").empty());
}

TEST(SentencePieceTokenizer, RoundTripsOddUnicodeWithByteFallback) {
  const std::string texts[] = {
      "\u4F60\u597D\uFF0C der",                                   // Chinese, but NFKC makes the comma narrow
      "\U0001F600 \U0001F468\u200D\U0001F469",                    // emoji joined by a zero-width joiner
      "\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627",  // right to left
      "\u1E9E \u0130 \u0149",
      "\U0010FFFF \uFDD0",  // noncharacters
      "a\u2581b",           // SentencePiece's own mark of a space
  };
  const SentencePieceTokenizer identity =
      trained({.vocab_size = 400, .character_coverage = 1, .byte_fallback = true, .normalization = "identity"});
  for (const auto& text : texts) {
    const auto ids = identity.encode(text);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), SpecialIds::kUnknown), 0) << text;
    const std::string expected = text == "a\u2581b" ? "a b" : text;
    EXPECT_EQ(identity.decode(ids), expected);
  }
}

TEST(SentencePieceTokenizer, TakesAnyBytes) {
  const std::string texts[] = {"\xFF\xFE", "der \xC3", "\xE2\x82", std::string("a\0b", 3), std::string(5000, '\x80')};
  for (const auto* tokenizer : {&small(), &with_bytes()}) {
    for (const auto& text : texts) {
      const auto ids = tokenizer->encode(text);
      for (const int32_t id : ids) {
        EXPECT_GE(id, 0);
        EXPECT_LT(id, tokenizer->size());
      }
      EXPECT_FALSE(ids.empty());
      tokenizer->decode(ids);
    }
  }
  const auto ids = small().encode("der \xC3.");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), SpecialIds::kUnknown), 1);
}

TEST(SentencePieceTokenizer, SkipsSpecialsAndWritesUnknownAsItStands) {
  auto ids = small().encode("ein der");
  ids.insert(ids.begin(), SpecialIds::kBegin);
  ids.push_back(SpecialIds::kEnd);
  ids.push_back(SpecialIds::kPad);
  EXPECT_EQ(small().decode(ids), "ein der");
  EXPECT_EQ(small().decode(small().encode("ein Q der QQ.")), "ein <unk> der <unk>.");
  EXPECT_EQ(small().decode(std::vector<int32_t>{SpecialIds::kUnknown}), "<unk>");
  EXPECT_EQ(small().decode(std::vector<int32_t>{}), "");
}

TEST(SentencePieceTokenizer, RefusesIdsOutOfRange) {
  EXPECT_EQ(message_of<Error>([] { small().piece(120); }), "piece 120 of a vocabulary of 120");
  EXPECT_EQ(message_of<Error>([] { small().piece(-1); }), "piece -1 of a vocabulary of 120");
  EXPECT_EQ(message_of<Error>([] { small().decode(std::vector<int32_t>{500}); }), "piece 500 of a vocabulary of 120");
}

TEST(SentencePieceTokenizer, MayBeUsedByManyThreads) {
  const auto lines = training_lines(200, 3);
  std::vector<std::vector<int32_t>> expected;
  for (const auto& line : lines) expected.push_back(small().encode(line));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (size_t i = 0; i < lines.size(); ++i) wrong += small().encode(lines[i]) != expected[i];
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(SentencePieceTokenizer, RefusesWhatIsNoModel) {
  const auto message = [](const std::string& bytes) {
    return message_of<Error>([&] { SentencePieceTokenizer(bytes, "x.model"); });
  };
  const std::string& good = small().serialized();
  for (const auto& bad : {std::string(), std::string("no model at all"), good.substr(0, 3), std::string(2000, '\xFF'),
                          std::string(1000, '\0')}) {
    EXPECT_EQ(message(bad), "x.model: not a SentencePiece model, or damaged; make it again");
  }
}

TEST(SentencePieceTokenizer, LoadsWhatWasWritten) {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "m", std::ios::binary) << small().serialized();
  const auto loaded = SentencePieceTokenizer::load(folder / "m");
  EXPECT_EQ(loaded->serialized(), small().serialized());
  EXPECT_EQ(loaded->encode("der ein"), small().encode("der ein"));
  EXPECT_THAT(message_of<Error>([&] { SentencePieceTokenizer::load(folder / "none"); }), HasSubstr("none"));
}

}  // namespace
}  // namespace nmt::sentencepiece_tokenizer_test
