#include "text/pairs/corpus_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"
#include "text/files.h"

namespace nmt::corpus_reader_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using test::write_gzip;
using test::write_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs read_all(CorpusReader& reader) {
  Pairs pairs;
  for (TextPair pair; reader.next(pair);) pairs.emplace_back(pair.source, pair.target);
  return pairs;
}

std::string notes(const CorpusReader& reader) {
  std::string text;
  for (const auto& note : reader.notes()) text += (note.is_warning ? "warning: " : "") + note.text + "\n";
  return text;
}

class CorpusReaderTest : public testing::Test {
 protected:
  CorpusReader two(std::string_view source, std::string_view target, Utf8Policy policy = Utf8Policy::kStop,
                   BadLinePolicy bad_lines = BadLinePolicy::kStop) {
    return CorpusReader(
        {write_text(folder_ / "a.de", source), write_text(folder_ / "a.en", target), "data.train1", "data.train2"},
        {.utf8 = policy, .bad_lines = bad_lines});
  }
  CorpusReader tsv(std::string_view content, std::vector<int64_t> columns = {}) {
    return CorpusReader({write_text(folder_ / "a.tsv", content), "", "data.train_tsv", ""},
                        {.tsv_columns = std::move(columns)});
  }
  /// What is said of two files where they are opened and read.
  std::string refusal(const std::filesystem::path& source, const std::filesystem::path& target) {
    return message_of<Error>([&] {
      CorpusReader reader({source, target, "data.train1", "data.train2"}, {});
      read_all(reader);
    });
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  TemporaryDirectory folder_;
};

TEST_F(CorpusReaderTest, PairsTheLinesOfTwoFiles) {
  auto reader = two("eins\n\ndrei", "one\ntwo\nthree\n");
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("eins", "one"), Pair("", "two"), Pair("drei", "three")));
  EXPECT_EQ(reader.count(), 3);
  EXPECT_EQ(reader.description(), path("a.de") + " (plain text), " + path("a.en") + " (plain text)");
}

TEST_F(CorpusReaderTest, WarnsOfTextThatIsCutIntoPieces) {
  auto pieces = two("\u2581ei ns\n\u2581zwei\ndrei\n", "one\ntwo\nthree\n");
  read_all(pieces);
  EXPECT_THAT(notes(pieces), testing::StartsWith("warning: 2 pairs are cut into pieces already"));
  auto text = two("eins\nder Balken \u2581\ndrei\n", "one\ntwo\nthree\n");
  read_all(text);
  EXPECT_EQ(notes(text), "");
}

TEST_F(CorpusReaderTest, EachSideHasItsOwnFormat) {
  CorpusReader reader(
      {write_gzip(folder_ / "train.tags.de-en.de.gz", "<url>x</url>\nHallo\n<talkid>1</talkid>\nWelt\n"),
       write_text(folder_ / "b.xml", "<seg id=\"1\">hello</seg>\n<seg id=\"2\">R&amp;D</seg>\n"), "o1", "o2"},
      {});
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("Hallo", "hello"), Pair("Welt", "R&amp;D")));
  EXPECT_EQ(notes(reader),
            "warning: " + path("train.tags.de-en.de.gz") + ": 2 lines are elements of IWSLT's markup and left out\n");
  EXPECT_EQ(reader.description(), path("train.tags.de-en.de.gz") + " (IWSLT tags), " + path("b.xml") +
                                      " (sgm/xml segments, 0 lines of markup left out)");
}

TEST_F(CorpusReaderTest, ReadsTwoColumnsOfATsvAndCountsTheOthers) {
  auto reader = tsv("eins\tone\r\nzwei\ttwo\tCC-BY\n\tempty\n");
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("eins", "one"), Pair("zwei", "two"), Pair("", "empty")));
  EXPECT_EQ(notes(reader), "warning: " + path("a.tsv") +
                               ": 1 lines have more than two columns; the others are not read (data.tsv_columns names "
                               "those of source and target)\n");
}

// Tatoeba's columns: number, sentence, number, sentence.
TEST_F(CorpusReaderTest, ReadsTheColumnsOfATsvThatAreNamed) {
  const std::string_view lines = "77\tNun gut.\t1276\tAll right.\n78\t\t9\tNothing.\n";
  auto reader = tsv(lines, {2, 4});
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("Nun gut.", "All right."), Pair("", "Nothing.")));
  EXPECT_EQ(notes(reader), "");
  auto turned = tsv(lines, {4, 2});
  EXPECT_THAT(read_all(turned).front(), Pair("All right.", "Nun gut."));
  EXPECT_EQ(message_of<Error>([&] {
              auto missing = tsv("a\tb\tc\td\na\tb\tc\n", {1, 4});
              read_all(missing);
            }),
            "data.train_tsv " + path("a.tsv") + ":2: has no column 4, which data.tsv_columns names");
  EXPECT_EQ(message_of<Error>([&] {
              auto numbers = tsv(lines);
              read_all(numbers);
            }),
            "data.train_tsv " + path("a.tsv") +
                ": column 1, read as the source, has no letter in any line; data.tsv_columns names the columns of "
                "source and target");
  auto toy = tsv("1 2\t2 1\n");
  EXPECT_THAT(read_all(toy), ElementsAre(Pair("1 2", "2 1"))) << "neither side has any";
}

TEST_F(CorpusReaderTest, ATsvNamedOnBothSidesIsRead) {
  const auto file = write_text(folder_ / "b.tsv", "eins\tone\n");
  CorpusReader reader({file, file, "data.test1", "data.test2"}, {});
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("eins", "one")));
}

// Software, help pages and the web have titles, too, and lines that begin with a tag.
TEST_F(CorpusReaderTest, OneTitleMakesNoMarkup) {
  auto reader = two("<title>Hunde</title>\n<b>Heute</b> regnet es.\nEs schneit.\nEs ist <b>kalt</b>.\n",
                    "<title>Dogs</title>\nIt rains <b>today</b>.\nIt snows.\n<b>Cold</b> it is.\n");
  EXPECT_THAT(read_all(reader),
              ElementsAre(Pair("<title>Hunde</title>", "<title>Dogs</title>"),
                          Pair("<b>Heute</b> regnet es.", "It rains <b>today</b>."), Pair("Es schneit.", "It snows."),
                          Pair("Es ist <b>kalt</b>.", "<b>Cold</b> it is.")));
  EXPECT_EQ(notes(reader), "");
}

// UTF-16 without a mark, and archives, hold zero bytes.
TEST_F(CorpusReaderTest, RefusesNul) {
  const auto text = write_text(folder_ / "t.en", "a house\nb\n");
  const std::string_view big_endian("\0E\0i\0n\0\n\0x", 10), little_endian("E\0i\0n\0\n\0", 8);
  for (const auto& [bytes, place] : {std::pair(big_endian, 1), std::pair(little_endian, 2)}) {
    const auto file = write_text(folder_ / "u.de", bytes);
    EXPECT_EQ(refusal(file, text), "data.train1 " + file.string() + ":1: byte " + std::to_string(place) +
                                       " is NUL: this is no text; convert it (iconv, from UTF-16, say) or unpack it "
                                       "(tar)");
  }
  EXPECT_THAT(refusal(text, write_gzip(folder_ / "v.en.gz", std::string("b.en\0\0\0 ustar\n", 15))),
              HasSubstr("data.train2 " + path("v.en.gz") + ":1: byte 5 is NUL"));
}

TEST_F(CorpusReaderTest, TwoFilesThatHoldBothSidesHaveToBeOne) {
  const auto file = write_text(folder_ / "b.tsv", "eins\tone\nzwei\ttwo\n");
  CorpusReader copies({file, write_text(folder_ / "copy.tsv", "eins\tone\nzwei\ttwo\n"), "o1", "o2"}, {});
  EXPECT_THAT(read_all(copies), ElementsAre(Pair("eins", "one"), Pair("zwei", "two")));
  EXPECT_EQ(refusal(file, write_text(folder_ / "other.tsv", "eins\tone\ndrei\tthree\n")),
            "data.train2 " + path("other.tsv") + ": holds both sides, but its pair 2 is not that of " + file.string() +
                "; name one file on both sides");
}

TEST_F(CorpusReaderTest, WarnsOfOneFileOfOneSideOnBoth) {
  const auto file = write_text(folder_ / "a.de", "eins\n");
  CorpusReader reader({file, file, "data.test", "data.test"}, {});
  read_all(reader);
  EXPECT_EQ(notes(reader), "warning: data.test " + file.string() + ": the same file on both sides\n");
}

/// What a program writes into a pipe, which can be read once.
class PipedFile {
 public:
  PipedFile(std::filesystem::path pipe, std::string bytes) : pipe_(std::move(pipe)) {
    EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
    writer_ = std::thread([this, bytes = std::move(bytes)] { std::ofstream(pipe_, std::ios::binary) << bytes; });
  }
  ~PipedFile() { writer_.join(); }
  const std::filesystem::path& path() const { return pipe_; }

 private:
  std::filesystem::path pipe_;
  std::thread writer_;
};

TEST_F(CorpusReaderTest, APipeMeansWhatTheFileMeans) {
  const std::string tags = "<url>x</url>\n<talkid>1</talkid>\n";
  const std::string tmx =
      "<?xml version=\"1.0\"?>\n<tmx version=\"1.4\"><body><tu><tuv xml:lang=\"de\"><seg>eins</seg></tuv>"
      "<tuv xml:lang=\"en\"><seg>one</seg></tuv></tu></body></tmx>\n";
  const std::pair<std::string, std::string> cases[] = {
      {"eins\n", "one\n"},
      {"<srcset>\n<seg id=\"1\">eins</seg>\n</srcset>\n", "<?xml version=\"1.0\"?>\n<mteval><seg>one</seg></mteval>"},
      {tags + "eins\n", tags + "one\n"},
      {"eins\tone\n", "eins\tone\n"},
      {R"({"source": "eins", "target": "one"})", R"({"de": "eins", "en": "one"})"},
      {tmx, tmx}};
  int number = 0;
  for (const auto& [source, target] : cases) {
    const PipedFile first(folder_ / fmt::format("p{}", ++number), source);
    const PipedFile second(folder_ / fmt::format("p{}", ++number), target);
    CorpusReader reader({first.path(), second.path(), "--source", "--reference"},
                        {.source_language = "de", .target_language = "en"});
    EXPECT_THAT(read_all(reader), ElementsAre(Pair("eins", "one"))) << source;
  }
  const auto packed = read_file(write_gzip(folder_ / "packed", tmx), 1 << 20);
  const PipedFile once(folder_ / "p", packed);
  CorpusReader reader({once.path(), once.path(), "--source", "--reference"}, {});
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("eins", "one"))) << "one pipe for both, packed";
  const PipedFile plain(folder_ / "q", "eins\n");
  EXPECT_EQ(refusal(plain.path(), plain.path()),
            "data.train2 " + path("q") + ": a pipe of one side; the other needs one of its own");
}

TEST_F(CorpusReaderTest, RepairsBytesWhereAsked) {
  auto reader =
      two("gr\xFC\xDF"
          "e\nok\n",
          "greet\nok\n", Utf8Policy::kRepair);
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("gr\uFFFD\uFFFDe", "greet"), Pair("ok", "ok")));
  EXPECT_EQ(reader.repaired_lines(), 1);
}

TEST_F(CorpusReaderTest, CountsAllBadLinesAndNamesTen) {
  std::string lines = "a\tb\n";
  for (int i = 2; i <= 14; ++i) lines += i == 5 ? "c\td\n" : "no tab\n";
  std::string places;
  for (const int line : {3, 4, 6, 7, 8, 9, 10, 11, 12})
    places += path("a.tsv") + ":" + std::to_string(line) + (line < 12 ? ", " : ", ...");
  EXPECT_EQ(message_of<Error>([&] {
              auto reader = tsv(lines);
              read_all(reader);
            }),
            "data.train_tsv " + path("a.tsv") +
                ":2: no tab; a line is the source, a tab and the target; 11 more such lines: " + places +
                "; data.bad_lines: skip leaves such lines out");
}

TEST_F(CorpusReaderTest, LeavesBadLinesOutWithTheirPartners) {
  auto reader = two("a\nb\xFF\nc\nd\n", "A\nB\nC\nD\xFF\n", Utf8Policy::kStop, BadLinePolicy::kSkip);
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("a", "A"), Pair("c", "C")));
  EXPECT_EQ(reader.bad_lines(), 2);
  EXPECT_EQ(reader.count(), 2);
  ASSERT_EQ(reader.notes().size(), 1u);
  EXPECT_EQ(reader.notes()[0].text,
            "2 pairs are left out (data.bad_lines: skip): data.train1 " + path("a.de") +
                ":2: byte 2 (0xFF) is not UTF-8; correct or convert the file (iconv), or set data.repair_utf8: true; 1 "
                "more such line: " +
                path("a.en") + ":4");
  auto unequal = two("a\nb\xFF\nc\n", "A\nB\nC\nD\n", Utf8Policy::kStop, BadLinePolicy::kSkip);
  EXPECT_EQ(message_of<Error>([&] { read_all(unequal); }),
            "data.train2 " + path("a.en") + ": 4 sentences, " + path("a.de") + " has 3; align the files");
  auto none = two("\xFF\n", "A\n", Utf8Policy::kStop, BadLinePolicy::kSkip);
  EXPECT_THAT(message_of<Error>([&] { read_all(none); }), HasSubstr(path("a.de") + ":1: byte 1 (0xFF) is not UTF-8"));
}

TEST_F(CorpusReaderTest, SaysWhatIsWrongAndWhere) {
  const auto of_two = [&](std::string_view source, std::string_view target) {
    return message_of<Error>([&] {
      auto reader = two(source, target);
      read_all(reader);
    });
  };
  EXPECT_EQ(of_two("a\nb\nc\n", "a\n"),
            "data.train2 " + path("a.en") + ": 1 sentences, " + path("a.de") + " has 3; align the files");
  EXPECT_EQ(of_two("a\n", "a\nb\nc\n"),
            "data.train2 " + path("a.en") + ": 3 sentences, " + path("a.de") + " has 1; align the files");
  EXPECT_EQ(of_two("", "a\n"),
            "data.train2 " + path("a.en") + ": 1 sentences, " + path("a.de") + " has 0; align the files");
  EXPECT_EQ(of_two("", ""), "data.train1 " + path("a.de") + ": has no sentence; check the file");
  EXPECT_EQ(of_two("a\nb\n", "a\nb\xE4!\n"),
            "data.train2 " + path("a.en") +
                ":2: byte 2 (0xE4) is not UTF-8; correct or convert the file (iconv), or set data.repair_utf8: true");
  EXPECT_EQ(message_of<Error>([&] {
              auto reader = tsv("a\tb\nnone\n");
              read_all(reader);
            }),
            "data.train_tsv " + path("a.tsv") + ":2: no tab; a line is the source, a tab and the target");
  EXPECT_THAT(of_two("a\n", "BZh91AY"), HasSubstr("data.train2 " + path("a.en") + ": is packed with bzip2"));
}

TEST_F(CorpusReaderTest, NamesTheOptionOfAFileThatCannotBeRead) {
  const auto message = [&](const std::filesystem::path& source, const std::filesystem::path& target) {
    return message_of<Error>([&] { CorpusReader({source, target, "data.eval1", "data.eval2"}, {}); });
  };
  const auto file = write_text(folder_ / "x", "x\n");
  EXPECT_THAT(message(folder_ / "none", file), HasSubstr("data.eval1 " + path("none")));
  EXPECT_THAT(message(file, folder_.path()), HasSubstr("data.eval2 " + folder_.path().string()));
  const auto packed = write_gzip(folder_ / "cut.gz", std::string(20000, 'x') + "\n");
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) - 8);
  EXPECT_THAT(message_of<Error>([&] {
                CorpusReader reader({packed, file, "data.eval1", "data.eval2"}, {});
                read_all(reader);
              }),
              HasSubstr("data.eval1 " + packed.string() + ": damaged gzip"));
}

}  // namespace
}  // namespace nmt::corpus_reader_test
