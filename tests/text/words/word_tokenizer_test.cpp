#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"
#include "text/words.h"

namespace nmt::word_tokenizer_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kSpecial = "<PAD>\t1000000000\n<UNK>\t1000000000\n<S>\t1000000000\n</S>\t1000000000\n";

WordTokenizer tokenizer(const std::string& lines, WordLimits limits = {}) { return {kSpecial + lines, "v", limits}; }

std::string error_of(const std::string& tsv, WordLimits limits = {}) {
  return message_of<Error>([&] { WordTokenizer(tsv, "v.tsv", limits); });
}

TEST(WordCounts, OrdersByCountThenByFirstOccurrence) {
  WordCounts counts;
  counts.add("der Hund und der Hase");
  counts.add("");
  counts.add("\tund die\u3000Katze");  // any white space parts words
  EXPECT_EQ(counts.size(), 6);
  EXPECT_EQ(counts.to_tsv(), kSpecial + "der\t2\nund\t2\nHund\t1\nHase\t1\ndie\t1\nKatze\t1\n");
  EXPECT_EQ(counts.to_tsv(WordTies::kAlphabetical), kSpecial + "der\t2\nund\t2\nHase\t1\nHund\t1\nKatze\t1\ndie\t1\n")
      << "by code points, as torchtext sorts";
}

TEST(WordCounts, ATextCannotNameSpecialWords) {
  WordCounts counts;
  counts.add("<S> a </S> <UNK> <PAD> <s>");
  EXPECT_EQ(counts.to_tsv(), kSpecial + "a\t1\n<s>\t1\n");
}

TEST(WordTokenizer, IdsArePlacesInTheFile) {
  const auto words = tokenizer("die\t9\nUhr\t5\nklein\t5\n");
  EXPECT_EQ(words.size(), 7);
  EXPECT_THAT(words.encode(" klein\u00A0die  Uhr\n"), ElementsAre(6, 4, 5));
  EXPECT_THAT(words.encode("Die Uhr."), ElementsAre(1, 1));
  EXPECT_THAT(words.encode(""), IsEmpty());
  EXPECT_THAT(words.encode("\xFF"), ElementsAre(1));
  EXPECT_EQ(words.piece(0), "<PAD>");
  EXPECT_EQ(words.piece(5), "Uhr");
  EXPECT_EQ(message_of<Error>([&] { words.piece(7); }), "word 7 of a vocabulary of 7");
}

TEST(WordTokenizer, DecodesToWordsBetweenSpaces) {
  const auto words = tokenizer("die\t9\nUhr\t5\n");
  EXPECT_EQ(words.decode(std::vector<int32_t>{2, 4, 5, 3, 0, 0}), "die Uhr");
  EXPECT_EQ(words.decode(std::vector<int32_t>{4, 1, 5}), "die <UNK> Uhr");
  EXPECT_EQ(words.decode({}), "");
}

TEST(WordTokenizer, SpecialWordsInATextAreUnknown) {
  EXPECT_THAT(tokenizer("a\t1\n").encode("</S> a <PAD> <S> <UNK>"), ElementsAre(1, 4, 1, 1, 1));
}

TEST(WordTokenizer, RareWordsAndThoseBeyondTheSizeAreUnknown) {
  const std::string lines = "a\t9\nb\t5\nc\t5\nd\t4\n";
  EXPECT_THAT(tokenizer(lines, {.min_count = 5}).encode("a b c d"), ElementsAre(4, 5, 6, 1));
  EXPECT_THAT(tokenizer(lines, {.max_size = 6}).encode("a b c d"), ElementsAre(4, 5, 1, 1));
  // Ids are counted after the rare words are gone, wherever they stand.
  EXPECT_THAT(tokenizer("b\t5\nd\t4\nc\t6\n", {.min_count = 5}).encode("b c d"), ElementsAre(4, 5, 1));
  EXPECT_EQ(tokenizer(lines, {.min_count = 5}).serialized(), kSpecial + lines) << "the file keeps all words";
}

TEST(WordTokenizer, ReadsWhatWordCountsWrite) {
  WordCounts counts;
  counts.add("x y y");
  const WordTokenizer words(counts.to_tsv(), "v", {});
  EXPECT_THAT(words.encode("x y z"), ElementsAre(5, 4, 1));
}

TEST(WordTokenizer, AByteOrderMarkIsNoneOfTheFirstWord) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "v.tsv", "\xEF\xBB\xBF" + kSpecial + "x\t1\n");
  EXPECT_EQ(WordTokenizer::load(folder / "v.tsv", {})->serialized(), kSpecial + "x\t1\n");
}

TEST(WordTokenizer, TakesLineEndsOfWindows) {
  const WordTokenizer words("<PAD>\t9\r\n<UNK>\t9\r\n<S>\t9\r\n</S>\t9\r\ndie\t9\r\nUhr\t5\r\n", "v", {});
  EXPECT_THAT(words.encode("die Uhr"), ElementsAre(4, 5));
}

TEST(WordTokenizer, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error_of(kSpecial + "a\t1\nb 2\n"), "v.tsv:6: no tab; a line is a word, a tab and its count");
  EXPECT_EQ(error_of(kSpecial + "a\tmany\n"), "v.tsv:5: 'many' is no count; a line is a word, a tab and its count");
  EXPECT_EQ(error_of(kSpecial + "a\t-1\n"), "v.tsv:5: '-1' is no count; a line is a word, a tab and its count");
  EXPECT_EQ(error_of(kSpecial + "a\t1\t2\n"), "v.tsv:5: '1\t2' is no count; a line is a word, a tab and its count");
  EXPECT_EQ(error_of(kSpecial + "\t1\n"), "v.tsv:5: the word is empty; a line is a word, a tab and its count");
  EXPECT_EQ(error_of(kSpecial + "a\t1\n\n"), "v.tsv:6: no tab; a line is a word, a tab and its count");
  EXPECT_EQ(error_of(kSpecial + "a\t2\nb\t1\na\t1\n"), "v.tsv:7: 'a' stands in line 5 too; remove one");
  EXPECT_EQ(error_of(kSpecial + "<S>\t1\n"), "v.tsv:5: '<S>' stands in line 3 too; remove one");
  EXPECT_EQ(error_of(kSpecial + "\xFF\t1\n"), "v.tsv:5: the word is not UTF-8; convert the file (iconv)");
  EXPECT_EQ(error_of("<PAD>\t1000000000\na\t1\n"),
            "v.tsv:2: 'a' where <UNK> must stand; the first four words are <PAD>, <UNK>, <S> and </S>");
  EXPECT_EQ(error_of(""), "v.tsv: 0 lines; a word vocabulary begins with <PAD>, <UNK>, <S> and </S>");
  EXPECT_EQ(error_of(kSpecial + "a\t4\n", {.min_count = 5}),
            "v.tsv: no word has a count of 5 (data.min_cnt) or more; lower it");
}

}  // namespace
}  // namespace nmt::word_tokenizer_test
