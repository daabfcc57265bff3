#include "scoring/command/scored_corpus_reader.h"

#include <zlib.h>

#include <fstream>

#include "support.h"

namespace nmt::scoring::scored_corpus_reader_test {
namespace {

using Lines = std::vector<std::string>;

class CorpusReaderTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  /// references[set][line] and hypotheses[system][line].
  struct Corpus {
    std::vector<Lines> references, hypotheses;
  };
  static Corpus read(const CorpusSource& source) {
    CorpusReader reader(source);
    Corpus corpus;
    SegmentBlock block;
    while (reader.next(block)) {
      append(block.references, corpus.references);
      append(block.hypotheses, corpus.hypotheses);
    }
    return corpus;
  }
  static void append(const std::vector<std::vector<std::string_view>>& from, std::vector<Lines>& to) {
    to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) to[i].insert(to[i].end(), from[i].begin(), from[i].end());
  }

  static std::string error_of(const CorpusSource& source) {
    return nmt::test::message_of<Error>([&] { read(source); });
  }

  nmt::test::TemporaryDirectory folder_;
};

TEST_F(CorpusReaderTest, SplitsFilesAtNewlinesOnlyAndStripsLineEnds) {
  const auto file = write("a", "one \u3000\r\ntwo\rstill two\t\n\n four");
  const Corpus corpus = read({.references = {file}, .systems = {file}});
  EXPECT_EQ(corpus.references[0], (Lines{"one", "two\rstill two", "", " four"}));
  EXPECT_EQ(corpus.hypotheses[0], corpus.references[0]);
}

TEST_F(CorpusReaderTest, KeepsLineEndsIfAsked) {
  const auto file = write("a", "one \u3000\r\ntwo\t\n\n four");
  CorpusReader reader({.references = {file}, .systems = Lines{file}, .keep_line_ends = true});
  SegmentBlock block;
  ASSERT_TRUE(reader.next(block));
  EXPECT_TRUE(block.has_line_ends);
  EXPECT_EQ(Lines(block.references[0].begin(), block.references[0].end()),
            (Lines{"one \u3000\r", "two\t", "", " four"}));
  EXPECT_EQ(block.hypotheses[0], block.references[0]);
}

TEST_F(CorpusReaderTest, ReadsSeveralBlocksInStep) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + "\n";
  const auto file = write("a", text), other = write("b", text);
  const Corpus corpus = read({.references = {file, other}, .systems = Lines{other}});
  ASSERT_EQ(corpus.references.size(), 2u);
  ASSERT_EQ(corpus.references[1].size(), 20000u);
  EXPECT_EQ(corpus.references[1][12345], "12345");
  EXPECT_EQ(corpus.hypotheses[0], corpus.references[0]);
}

TEST_F(CorpusReaderTest, SplitsReferencesAtTabs) {
  const auto file = write("a", "x \ty\tz\tw \n1\t2\t3\n"), system = write("s", "x\n1\n");
  const Corpus corpus = read({.references = {file}, .fields = 3, .systems = Lines{system}});
  EXPECT_EQ(corpus.references, (std::vector<Lines>{{"x ", "1"}, {"y", "2"}, {"z\tw", "3"}}));
  EXPECT_THROW(read({.references = {file}, .fields = 0, .systems = {system}}), FieldCountError);
  EXPECT_EQ(error_of({.references = {file}, .fields = 4, .systems = Lines{system}}),
            file + ":2: expected 4 tab-separated fields, but found 3");
}

TEST_F(CorpusReaderTest, ReadsGzip) {
  const std::string path = (folder_ / "a.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "one\ntwo\n");
  gzclose(file);
  EXPECT_EQ(read({.references = {path}, .systems = Lines{path}}).references[0], (Lines{"one", "two"}));
}

TEST_F(CorpusReaderTest, DecodesOtherEncodings) {
  const auto latin = write("latin", "caf\xE9\n\nb\n"),
             utf16 = write("utf16", std::string("\xFF\xFE\xE9\0\n\0\n\0b\0", 10));
  EXPECT_EQ(read({.references = {latin}, .systems = Lines{latin}, .encoding = "latin-1"}).references[0],
            (Lines{"café", "", "b"}));
  EXPECT_EQ(read({.references = {utf16}, .systems = Lines{utf16}, .encoding = "utf-16"}).references[0],
            (Lines{"é", "", "b"}));
  EXPECT_EQ(error_of({.references = {latin}, .systems = Lines{latin}, .encoding = "klingon"}),
            "-e klingon: unknown encoding");
  EXPECT_EQ(error_of({.references = {latin}, .systems = Lines{latin}, .encoding = "ascii"}),
            latin + ": is not ascii; name its encoding with -e");
}

TEST_F(CorpusReaderTest, SaysWhatIsWrongAndWhere) {
  const auto two = write("two", "a\nb\n"), three = write("three", "a\nb\nc\n"), none = write("none", "");
  const auto bad = write("bad", "fine\nnot \xFF fine\n");
  EXPECT_EQ(error_of({.references = {two}, .systems = {three}}),
            "different numbers of lines: " + two + " has fewer than " + three + "; give one line a segment in each");
  EXPECT_EQ(error_of({.references = {none}, .systems = {none}}), "the systems contain no sentence");
  EXPECT_EQ(error_of({.references = {two}, .systems = {bad}}),
            bad + ":2: not UTF-8 at byte 5; convert the file, or name its encoding with -e");
  EXPECT_NE(error_of({.references = {two}, .systems = {(folder_ / "missing").string()}}), "");
  EXPECT_NE(error_of({.references = {folder_.path().string()}, .systems = {two}}), "");
}

TEST_F(CorpusReaderTest, TheNameOfStandardInputIsRefused) {
  const auto two = write("two", "a\nb\n");
  EXPECT_EQ(error_of({.references = {two}, .systems = {"-"}}),
            "-: without -i standard input is read; a file of this name is ./-");
}

}  // namespace
}  // namespace nmt::scoring::scored_corpus_reader_test
