#include "text/pairs/corpus_reader.h"

#include <gmock/gmock.h>

#include "base/error.h"
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
  CorpusReader two(std::string_view source, std::string_view target, Utf8Policy policy = Utf8Policy::kStop) {
    return CorpusReader(
        {write_text(folder_ / "a.de", source), write_text(folder_ / "a.en", target), "data.train1", "data.train2"},
        policy);
  }
  CorpusReader tsv(std::string_view content) {
    return CorpusReader({write_text(folder_ / "a.tsv", content), "", "data.train_tsv", ""}, Utf8Policy::kStop);
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
      Utf8Policy::kStop);
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("Hallo", "hello"), Pair("Welt", "R&amp;D")));
  EXPECT_EQ(notes(reader), "1 sentences hold XML entities such as &amp;; they stay as they are\n");
  EXPECT_EQ(reader.description(), path("train.tags.de-en.de.gz") + " (IWSLT tags, 2 lines of markup left out), " +
                                      path("b.xml") + " (sgm/xml segments, 0 lines of markup left out)");
}

TEST_F(CorpusReaderTest, ReadsTwoColumnsOfATsvAndCountsTheOthers) {
  auto reader = tsv("eins\tone\r\nzwei\ttwo\tCC-BY\n\tempty\n");
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("eins", "one"), Pair("zwei", "two"), Pair("", "empty")));
  EXPECT_EQ(notes(reader), "warning: 1 lines have more than two columns; the others are not read\n");
}

TEST_F(CorpusReaderTest, RepairsBytesWhereAsked) {
  auto reader =
      two("gr\xFC\xDF"
          "e\nok\n",
          "greet\nok\n", Utf8Policy::kRepair);
  EXPECT_THAT(read_all(reader), ElementsAre(Pair("gr\uFFFD\uFFFDe", "greet"), Pair("ok", "ok")));
  EXPECT_EQ(reader.repaired_lines(), 1);
}

TEST_F(CorpusReaderTest, SaysWhatIsWrongAndWhere) {
  const auto of_two = [&](std::string_view source, std::string_view target) {
    return message_of<Error>([&] {
      auto reader = two(source, target);
      read_all(reader);
    });
  };
  EXPECT_EQ(of_two("a\nb\nc\n", "a\n"),
            "data.train2 " + path("a.en") + ": 1 lines, " + path("a.de") + " has 3; align the files");
  EXPECT_EQ(of_two("a\n", "a\nb\nc\n"),
            "data.train2 " + path("a.en") + ": 3 lines, " + path("a.de") + " has 1; align the files");
  EXPECT_EQ(of_two("", "a\n"),
            "data.train2 " + path("a.en") + ": 1 lines, " + path("a.de") + " has 0; align the files");
  EXPECT_EQ(of_two("", ""), "data.train1 " + path("a.de") + ": has no sentence; check the file");
  EXPECT_EQ(of_two("a\nb\n", "a\nb\xE4!\n"),
            "data.train2 " + path("a.en") +
                ":2: byte 2 (0xE4) is not UTF-8; mend or convert the file (iconv), or set data.repair_utf8: true");
  EXPECT_EQ(message_of<Error>([&] {
              auto reader = tsv("a\tb\nnone\n");
              read_all(reader);
            }),
            "data.train_tsv " + path("a.tsv") + ":2: no tab; a line is the source, a tab and the target");
  EXPECT_THAT(of_two("a\n", "BZh91AY"), HasSubstr("data.train2 " + path("a.en") + ": is packed with bzip2"));
}

TEST_F(CorpusReaderTest, NamesTheOptionOfAFileThatCannotBeRead) {
  const auto message = [&](const std::filesystem::path& source, const std::filesystem::path& target) {
    return message_of<Error>([&] { CorpusReader({source, target, "data.eval1", "data.eval2"}, Utf8Policy::kStop); });
  };
  const auto file = write_text(folder_ / "x", "x\n");
  EXPECT_THAT(message(folder_ / "none", file), HasSubstr("data.eval1 " + path("none")));
  EXPECT_THAT(message(file, folder_.path()), HasSubstr("data.eval2 " + folder_.path().string()));
  const auto packed = write_gzip(folder_ / "cut.gz", std::string(20000, 'x') + "\n");
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) - 8);
  EXPECT_THAT(message_of<Error>([&] {
                CorpusReader reader({packed, file, "data.eval1", "data.eval2"}, Utf8Policy::kStop);
                read_all(reader);
              }),
              HasSubstr("data.eval1 " + packed.string() + ": damaged gzip"));
}

}  // namespace
}  // namespace nmt::corpus_reader_test
