#include "convert/formats/sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "convert/marian/marian_vocabulary.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::convert::sentencepiece_model_test {
namespace {

using test::message_of;
using test::training_lines;
using testing::HasSubstr;

std::string model(uint64_t seed = 1, const std::string& type = "unigram") {
  return *train_sentencepiece(training_lines(300, seed), {.type = type, .vocab_size = 80});
}

TEST(SentencePieceModel, OtherPiecesLeaveTheRestAsItIs) {
  const auto bytes = model();
  const auto pieces = read_pieces(bytes, "m");
  ASSERT_EQ(pieces.size(), 80);
  EXPECT_EQ(pieces[1].type, PieceType::kUnknown);
  auto changed = pieces;
  changed.push_back({.text = "never", .score = -100, .type = PieceType::kUnused});
  std::swap(changed[10], changed[80]);
  const SentencePieceTokenizer before(bytes, "m"), after(with_pieces(bytes, changed), "m");
  EXPECT_EQ(after.size(), 81);
  EXPECT_EQ(after.piece(10), "never");
  for (const auto& line : training_lines(50, 5)) {
    auto expected = before.encode(line);
    for (auto& id : expected) id = id == 10 ? 80 : id;
    EXPECT_EQ(after.encode(line), expected);
  }
}

TEST(SentencePieceModel, ForeignFilesAreRefused) {
  const auto bytes = model();
  EXPECT_THAT(message_of<Error>([&] { read_pieces("no model", "m.spm"); }), HasSubstr("m.spm: not a SentencePiece"));
  EXPECT_THROW(read_pieces("", "m.spm"), Error);
  EXPECT_THROW(read_pieces(bytes.substr(0, bytes.size() / 2 + 1), "m.spm"), Error);
}

class MarianVocabularyTest : public testing::Test {
 protected:
  /// Ids as OPUS-MT has them: </s> <unk> pieces... <pad>.
  std::map<std::string, int64_t> ids_of(const std::vector<std::string>& models) {
    std::map<std::string, int64_t> ids{{"</s>", 0}, {"<unk>", 1}};
    for (const auto& bytes : models)
      for (const auto& piece : read_pieces(bytes, "m"))
        if (piece.type == PieceType::kNormal && piece.text != missing_) ids.emplace(piece.text, ids.size());
    ids.emplace("<pad>", ids.size());
    return ids;
  }
  MarianSide side(const std::string& bytes, const std::string& name, const std::map<std::string, int64_t>& ids) {
    write_file_atomically(folder_ / name, bytes);
    return {folder_ / name, &ids};
  }

  test::TemporaryDirectory folder_;
  std::string missing_;
};

TEST_F(MarianVocabularyTest, BothSidesCutAsBeforeAndMeanTheSameRows) {
  const auto source = model(1), target = model(2);
  const auto ids = ids_of({source, target});
  const auto rows = static_cast<int64_t>(ids.size());
  const auto result = renumber({side(source, "source.spm", ids), side(target, "target.spm", ids)}, rows,
                               {.pad = rows - 1, .unknown = 1, .start = rows - 1, .end = 0});
  const auto& vocabulary = result.vocabulary.rows;
  ASSERT_EQ(std::ssize(vocabulary), rows + 1) << "a padding of our own";
  EXPECT_EQ(vocabulary[0].theirs, -1);
  EXPECT_FALSE(vocabulary[0].possible);
  EXPECT_EQ(vocabulary[2].theirs, rows - 1) << "<s> is what Marian starts from";
  for (const auto& [bytes, changed] : {std::pair(source, result.models[0]), std::pair(target, result.models[1])}) {
    const SentencePieceTokenizer before(bytes, "before"), after(changed, "after");
    for (const auto& line : training_lines(50, 9)) {
      std::vector<int64_t> expected, found;
      for (const auto id : before.encode(line)) expected.push_back(id == 1 ? 1 : ids.at(before.piece(id)));
      for (const auto id : after.encode(line)) found.push_back(vocabulary[id].theirs);
      EXPECT_EQ(found, expected);
    }
  }
}

TEST_F(MarianVocabularyTest, PiecesThatMarianLacksAreItsUnknown) {
  const auto source = model(1);
  missing_ = SentencePieceTokenizer(source, "m").piece(20);
  const auto ids = ids_of({source});
  const auto rows = static_cast<int64_t>(ids.size());
  const auto result =
      renumber({side(source, "source.spm", ids)}, rows, {.pad = rows - 1, .unknown = 1, .start = rows - 1, .end = 0});
  EXPECT_EQ(result.vocabulary.rows.back().theirs, 1);
  EXPECT_FALSE(result.vocabulary.rows.back().possible);
  const SentencePieceTokenizer after(result.models[0], "after");
  EXPECT_EQ(after.piece(static_cast<int32_t>(after.size()) - 1), missing_);
}

TEST_F(MarianVocabularyTest, OurOwnOrderStays) {
  const auto source = model(1);
  std::map<std::string, int64_t> ids;
  const SentencePieceTokenizer before(source, "m");
  for (int32_t id = 0; id < before.size(); ++id) ids[before.piece(id)] = id;
  const auto result = renumber({side(source, "source.spm", ids), side(source, "target.spm", ids)}, 80,
                               {.pad = 0, .unknown = 1, .start = 2, .end = 3});
  EXPECT_EQ(result.models[0], result.models[1]);
  for (int64_t id = 0; id < 80; ++id) EXPECT_EQ(result.vocabulary.rows[id].theirs, id);
}

TEST_F(MarianVocabularyTest, BpeModelsMayLackNoPieces) {
  const auto source = model(1, "bpe"), target = model(2, "bpe");
  const auto ids = ids_of({source, target});
  const auto rows = static_cast<int64_t>(ids.size());
  EXPECT_THAT(message_of<Error>([&] {
                renumber({side(source, "source.spm", ids), side(target, "target.spm", ids)}, rows,
                         {.pad = rows - 1, .unknown = 1, .start = rows - 1, .end = 0});
              }),
              HasSubstr("BPE"));
}

// Marian itself starts from a vector of zeros: no row of its table, and nothing that could be put out.
TEST_F(MarianVocabularyTest, AStartWithoutARowIsZerosAndImpossible) {
  const auto source = model(1);
  const auto ids = ids_of({source});
  const auto result = renumber({side(source, "source.spm", ids)}, static_cast<int64_t>(ids.size()),
                               {.pad = -1, .unknown = 1, .start = -1, .end = 0});
  const auto& rows = result.vocabulary.rows;
  ASSERT_GE(rows.size(), ids.size() + 2);
  for (const int64_t id : {SpecialIds::kPad, SpecialIds::kBegin}) {
    EXPECT_EQ(rows[id].theirs, -1);
    EXPECT_FALSE(rows[id].possible);
  }
  EXPECT_EQ(rows[SpecialIds::kUnknown].theirs, 1);
  EXPECT_EQ(rows[SpecialIds::kEnd].theirs, 0);
  EXPECT_EQ(rows[4].theirs, 2);
}

TEST_F(MarianVocabularyTest, CodesOfLanguagesAreOnePiece) {
  for (const char* kind : {"unigram", "bpe"}) {
    const auto source = model(1, kind);
    auto ids = ids_of({source});
    const auto code = static_cast<int64_t>(ids.size());
    ids[">>fra<<"] = code;
    const auto result =
        renumber({side(source, "source.spm", ids)}, code + 1, {.pad = -1, .unknown = 1, .start = -1, .end = 0});
    const SentencePieceTokenizer after(result.models[0], "after");
    const auto plain = after.encode("some text"), coded = after.encode(">>fra<< some text");
    ASSERT_EQ(coded.size(), plain.size() + 1) << kind;
    EXPECT_EQ(result.vocabulary.rows[coded[0]].theirs, code);
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), coded.begin() + 1));
  }
}

TEST_F(MarianVocabularyTest, CodesThatAreToldStandInNoText) {
  for (const char* kind : {"unigram", "bpe"}) {
    const auto source = model(1, kind);
    auto ids = ids_of({source});
    const auto code = static_cast<int64_t>(ids.size());
    ids[">>fra<<"] = code, ids["unheard-of"] = code + 1;
    auto told = side(source, "source.spm", ids);
    told.has_typed_codes = false;
    const auto result = renumber({told}, code + 2, {.pad = -1, .unknown = 1, .start = -1, .end = 0});
    const SentencePieceTokenizer after(result.models[0], "after");
    const auto plain = after.encode("some text"), coded = after.encode(">>fra<< some text");
    EXPECT_GT(coded.size(), plain.size() + 3) << kind;
    auto output = plain;
    for (int32_t id = 0; id < after.size(); ++id)
      if (after.piece(id) == ">>fra<<") output.insert(output.begin(), id);
    ASSERT_EQ(output.size(), plain.size() + 1);
    EXPECT_EQ(result.vocabulary.rows[output[0]].theirs, code);
    EXPECT_EQ(after.decode(output), after.decode(plain)) << "nor in an output";
  }
}

}  // namespace
}  // namespace nmt::convert::sentencepiece_model_test
