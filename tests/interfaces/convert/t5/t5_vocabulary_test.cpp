#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "base/files/protocol_buffer.h"
#include "convert/t5/t5_parts.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert::t5_vocabulary_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// A unigram model of these pieces, in T5's order: <pad> </s> <unk> and the rest.
class T5Pieces : public testing::Test {
 protected:
  std::filesystem::path file(const std::vector<Piece>& pieces) {
    ProtocolMessage model;
    for (const auto& piece : pieces) {
      ProtocolMessage part;
      part.bytes(1, piece.text).real32(2, piece.score).number(3, static_cast<uint64_t>(piece.type));
      model.message(1, part);
    }
    std::ofstream(folder_ / "spiece.model", std::ios::binary) << model.encoded();
    return folder_ / "spiece.model";
  }
  std::filesystem::path usual() {
    return file({{"<pad>", 0, PieceType::kControl},
                 {"</s>", 0, PieceType::kControl},
                 {"<unk>", 0, PieceType::kUnknown},
                 {"\xE2\x96\x81", -1},
                 {"a", -2},
                 {"<s>", -3},
                 {"b", -4}});
  }

  test::TemporaryDirectory folder_;
};

TEST_F(T5Pieces, GetOurIds) {
  const auto vocabulary = read_t5_vocabulary(usual(), 109, {});
  EXPECT_EQ(vocabulary.order.size(), 110u);  // and our <pad>
  EXPECT_THAT(std::vector(vocabulary.order.begin(), vocabulary.order.begin() + 8),
              ElementsAre(-1, 2, 0, 1, 3, 4, 5, 6));
  const SentencePieceTokenizer tokenizer(vocabulary.model, "m");
  EXPECT_EQ(tokenizer.size(), 110);
  EXPECT_EQ(tokenizer.piece(5), "a");
  EXPECT_EQ(tokenizer.piece(6), "<row5>");  // its <s> is a piece like others, ours is the start
  EXPECT_EQ(tokenizer.piece(8), "<extra_id_99>");
  EXPECT_EQ(tokenizer.piece(107), "<extra_id_0>");
  EXPECT_EQ(tokenizer.piece(108), "<row107>");
  EXPECT_THAT(tokenizer.encode("a b"), ElementsAre(4, 5, 4, 7));
}

TEST_F(T5Pieces, OfSentinelsAreNeitherReadNorWritten) {
  const SentencePieceTokenizer tokenizer(read_t5_vocabulary(usual(), 109, {}).model, "m");
  for (const int32_t id : tokenizer.encode("a<extra_id_0>b")) EXPECT_LT(id, 8);
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{4, 5, 107, 2, 109, 7}), "ab");
}

TEST_F(T5Pieces, KeepTheRowOfAPadThatIsNotTheStart) {
  const auto vocabulary = read_t5_vocabulary(usual(), 7, {.pad = 0, .start = 5, .end = 1});
  EXPECT_THAT(vocabulary.order, ElementsAre(0, 2, 5, 1, 3, 4, 6));
}

TEST_F(T5Pieces, ThatDoNotFitAreRefused) {
  EXPECT_THAT(message_of<Error>([&] { read_t5_vocabulary(usual(), 6, {}); }),
              HasSubstr("spiece.model: has 7 pieces, and the model's table 6 rows"));
  EXPECT_THAT(message_of<Error>([&] { read_t5_vocabulary(usual(), 7, {.end = 7}); }), HasSubstr("is beyond"));
  EXPECT_THAT(message_of<Error>([&] { read_t5_vocabulary(usual(), 7, {.end = 2}); }), HasSubstr("not three"));
  EXPECT_THAT(message_of<Error>([&] { read_t5_vocabulary(file({{"a", 0}}), 7, {}); }), HasSubstr("has no piece"));
}

}  // namespace
}  // namespace nmt::convert::t5_vocabulary_test
