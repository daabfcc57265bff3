#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"
#include "text/words.h"
#include "translation/word_tokenizer.h"

namespace nmt::word_vectors_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WordVectorsTest : public testing::Test {
 protected:
  WordVectors read(const std::string& text, int64_t size = 2) {
    write_file_atomically(folder_ / "vectors.txt", text);
    return read_word_vectors(folder_ / "vectors.txt", vocabulary_, size);
  }
  std::string refusal(const std::string& text) {
    return test::message_of<Error>([&] { read(text); });
  }
  test::TemporaryDirectory folder_;
  test::WordTokenizer vocabulary_{{"▁Haus", "haus", "rot", "▁", "▁rot"}};  // ids from 4
};

TEST_F(WordVectorsTest, FindsPiecesWithAndWithoutTheMarkOfAWord) {
  const auto vectors = read("Haus 1 2\nhaus 3 4\nBaum 5 6\nrot 7 -8e-1\n");
  EXPECT_THAT(vectors.ids, ElementsAre(4, 5, 6, 8));
  EXPECT_THAT(vectors.values, ElementsAre(1, 2, 3, 4, 7, -0.8f, 7, -0.8f));
}

TEST_F(WordVectorsTest, PrefersTheWordWithItsMark) {
  for (const char* text : {"rot 1 2\n▁rot 3 4\n", "▁rot 3 4\nrot 1 2\n"}) {
    const auto vectors = read(text);
    EXPECT_THAT(vectors.ids, ElementsAre(6, 8)) << text;
    EXPECT_THAT(vectors.values, ElementsAre(1, 2, 3, 4)) << text;
  }
}

TEST_F(WordVectorsTest, TakesTheFirstOfEqualWords) {
  EXPECT_THAT(read("haus 1 2\nhaus 3 4\n").values, ElementsAre(1, 2));
}

TEST_F(WordVectorsTest, ReadsAHeaderAndSpacesAtTheEndsOfLines) {
  const auto vectors = read("2 2\nhaus 1 2 \nrot 3 4 \r\n");
  EXPECT_THAT(vectors.ids, ElementsAre(5, 6, 8));
}

TEST_F(WordVectorsTest, AByteOrderMarkIsNoneOfTheText) {
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "2 2\nhaus 1 2\nrot 3 4\n")
                  .ids,
              ElementsAre(5, 6, 8));
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "haus 1 2\nrot 3 4\n")
                  .ids,
              ElementsAre(5, 6, 8));
}

TEST_F(WordVectorsTest, LeavesSpecialPiecesAlone) { EXPECT_TRUE(read("<s> 1 2\n<unk> 3 4\n").ids.empty()); }

TEST_F(WordVectorsTest, RefusesWhatIsNoFileOfVectors) {
  EXPECT_THAT(refusal("haus 1 2\nrot 1 2 3\n"), HasSubstr("vectors.txt:2: 3 numbers behind the word; the embeddings of "
                                                          "this model have 2"));
  EXPECT_THAT(refusal("2 3\nhaus 1 2 3\n"), HasSubstr("vectors.txt:2: 3 numbers"));
  EXPECT_THAT(refusal("haus 1 zwei\n"), HasSubstr("vectors.txt:1: not a number"));
  EXPECT_THAT(refusal("haus 1 nan\n"), HasSubstr("not a number"));
  EXPECT_THAT(refusal("haus 1  \n"), HasSubstr("vectors.txt:1: 1 numbers"));
  EXPECT_THAT(refusal(""), HasSubstr("no word vectors"));
  EXPECT_THAT(refusal("12 2\n"), HasSubstr("no word vectors"));
  EXPECT_THAT(refusal("3 2\nhaus 1 2\nrot 3 4\n"),
              HasSubstr("vectors.txt: cut short: its first line promises 3 vectors, 2 are there; get the file anew"));
  EXPECT_THAT(test::message_of<Error>([&] { read_word_vectors(folder_ / "none", vocabulary_, 2); }), HasSubstr("none"));
}

}  // namespace
}  // namespace nmt::word_vectors_test
