#include "text/corpus/text_reader.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "support.h"
#include "text/files.h"

namespace nmt::text_reader_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using test::write_gzip;
using test::write_text;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

TextFormat format_of(const std::filesystem::path& path) {
  return text_format(path, std::string(LineReader(path).look_ahead(1 << 16)));
}

std::vector<std::string> sentences(const std::filesystem::path& path) {
  TextReader reader(LineReader(path), format_of(path));
  std::vector<std::string> found;
  while (const auto text = reader.next()) found.emplace_back(*text);
  EXPECT_EQ(reader.count(), static_cast<int64_t>(found.size()));
  return found;
}

TEST(TextFormatOf, GoesByNameThenByTheBeginning) {
  struct Case {
    const char* name;
    const char* content;
    TextFormat expected;
  };
  const Case cases[] = {
      {"a.de", "Ein Haus.\n", TextFormat::kPlain},
      {"empty", "", TextFormat::kPlain},
      {"less.de", "<3 ist ein Herz\n", TextFormat::kPlain},
      {"url.de", "<urlaub ist schoen\n", TextFormat::kPlain},
      {"train.tags.de-en.de", "Text zuerst\n", TextFormat::kTags},
      {"tags.de", "\n\n<url>http://example.org</url>\n<title>x</title>\nText\n", TextFormat::kTags},
      {"doc.de", "<doc docid=\"1\" genre=\"lectures\">\n<talkid>1</talkid>\nText\n", TextFormat::kTags},
      {"title.de", "<title>Hunde</title>\nText\n", TextFormat::kPlain},
      {"two.de", "<title>Hunde</title>\n<description>Hunde</description>\nText\n", TextFormat::kPlain},
      {"open.de", "<url>http://example.org\n<title>Hunde</title>\nText\n", TextFormat::kPlain},
      {"test.sgm", "no markup\n", TextFormat::kSegments},
      {"IWSLT16.TED.tst2013.de-en.de.xml", "", TextFormat::kSegments},
      {"news", "<?xml version=\"1.0\"?>\n<mteval>\n", TextFormat::kSegments},
      {"ref", "<refset setid=\"newstest2014\" srclang=\"any\">\n", TextFormat::kSegments},
      {"tab", "<srcset\tsetid=\"x\">\n", TextFormat::kSegments},
      {"bom", "\xEF\xBB\xBF<srcset setid=\"x\">\n", TextFormat::kSegments},
  };
  const TemporaryDirectory folder;
  for (const auto& c : cases) {
    EXPECT_EQ(format_of(write_text(folder / c.name, c.content)), c.expected) << c.name;
    EXPECT_EQ(format_of(write_gzip(folder / (std::string(c.name) + ".gz"), c.content)), c.expected) << c.name;
  }
}

TEST(TextReader, LeavesPlainLinesAsTheyStand) {
  const TemporaryDirectory folder;
  const auto path = write_text(folder / "a", "\xEF\xBB\xBF one \r\n\n<two>\n\ttab &amp;\xE2\x80\xA8x\nlast");
  EXPECT_THAT(sentences(path), ElementsAre(" one ", "", "<two>", "\ttab &amp;\xE2\x80\xA8x", "last"));
  EXPECT_THAT(sentences(write_gzip(folder / "b", "one\ntwo\n")), ElementsAre("one", "two"));
}

// A line is markup where it is one of IWSLT's elements as a whole.
TEST(TextReader, DropsMarkupLinesOfTags) {
  const TemporaryDirectory folder;
  const auto path = write_text(folder / "train.tags.de-en.de",
                               "<url>http://x</url>\n<description>Text > </description>\n Hallo Welt. \n\n <3 bleibt\n"
                               "<reviewer href=\"x\"></reviewer>\r\nEnde <b>\n<b>Anfang</b>\n<title>a</title> b\n"
                               "<doc id=\"a\">\n</doc>\n<doc> x\n<urls>u</urls>\n");
  EXPECT_THAT(sentences(path), ElementsAre("Hallo Welt.", "", "<3 bleibt", "Ende <b>", "<b>Anfang</b>",
                                           "<title>a</title> b", "<doc> x", "<urls>u</urls>"));
  TextReader reader(LineReader(path), TextFormat::kTags);
  while (reader.next()) {
  }
  EXPECT_EQ(reader.markup_lines(), 5);
}

TEST(TextReader, TakesTheSegmentsOfSgmAndXml) {
  const TemporaryDirectory folder;
  const auto path =
      write_text(folder / "t.sgm",
                 "<srcset setid=\"a\">\n<doc>\n<hl>\n<seg id=\"1\"> Eine &amp; Zwei </seg>\n</hl>\n"
                 "  <seg id=\"2\"></seg>\r\n<p><seg id=\"3\">a <b>c</b> 2 < 3</seg> <seg id=\"4\">d</seg></p>\n"
                 "<segment>no</segment>\n");
  EXPECT_THAT(sentences(path), ElementsAre("Eine &amp; Zwei", "", "a c 2 < 3", "d"));
}

TEST(TextReader, LeavesOutSegmentsInComments) {
  const TemporaryDirectory folder;
  const auto path =
      write_text(folder / "t.xml",
                 "<!-- <seg id=\"1\">old</seg> --><seg id=\"2\">a</seg> <!-- x\n<seg>no</seg>\n"
                 "-->\n<seg>b <!-- c --> d</seg>\n--> <seg>e --></seg> <!-- f --> <!-- g --> <seg>h</seg>\n");
  EXPECT_THAT(sentences(path), ElementsAre("a", "b  d", "e -->", "h"));
  EXPECT_THAT(message_of<Error>([&] { sentences(write_text(folder / "u.xml", "<seg>a</seg>\n<!--\n<seg>b</seg>\n")); }),
              EndsWith("u.xml:2: <!-- does not end; close the comment with -->"));
}

TEST(TextReader, TakesSegmentsInCapitals) {
  const TemporaryDirectory folder;
  const auto path =
      write_text(folder / "t.sgm", "<SEG id=\"1\">A < B, C > D</SEG> <Seg>b</seg>\n<SEGMENT>no</SEGMENT>\n");
  EXPECT_THAT(sentences(path), ElementsAre("A < B, C > D", "b"));
}

// White space of every kind ends a tag's name; a > may stand in an attribute.
TEST(TextReader, ReadsTagsAsXmlWritesThem) {
  const TemporaryDirectory folder;
  const auto path =
      write_text(folder / "t.sgm",
                 "<srcset>\n<seg\tid=\"1\">Hund</seg>\n<seg note=\"x>y\" id='2'>Katze <i a='>'>x</i></seg>"
                 "\n<seg id=\"3\"/> <seg id=it's>a</seg>\n</srcset>\n");
  EXPECT_THAT(sentences(path), ElementsAre("Hund", "Katze x", "", "a"));
}

TEST(TextReader, RefusesElementsOfFilesWithSeveralSides) {
  const TemporaryDirectory folder;
  for (const char* tag : {"src", "ref", "hyp", "tu", "tuv"}) {
    const auto line = std::string("<seg id=\"1\">a <") + tag + "> b</seg>\n";
    EXPECT_THAT(sentences(write_text(folder / "t.xml", line)), ElementsAre("a  b")) << "within a segment";
    const auto path = write_text(folder / "u.xml", line + " <" + tag + " lang=\"de\"><seg>c</seg>\n");
    EXPECT_THAT(message_of<Error>([&] { sentences(path); }),
                HasSubstr(std::string("u.xml:2: <") + tag + "> stands in files that hold several sides"));
  }
}

TEST(TextReader, RefusesASegmentOverSeveralLines) {
  const TemporaryDirectory folder;
  const auto path = write_text(folder / "t.xml", "<doc>\n<seg id=\"1\">begins\nends</seg>\n");
  EXPECT_THAT(message_of<Error>([&] { sentences(path); }),
              EndsWith("t.xml:2: <seg> does not end on its line; put each segment on one line"));
}

TEST(RemoveTags, TakesWhatLooksLikeATag) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"plain", "plain"},
                                                       {"<a>b</a>", "b"},
                                                       {"a < b > c", "a < b > c"},
                                                       {"<>x", "<>x"},
                                                       {"a <", "a <"},
                                                       {"<<a>>", "<>"},
                                                       {"<><a>", "<>"},
                                                       {"2 < 3", "2 < 3"},
                                                       {"a < b and c > d", "a < b and c > d"},
                                                       {"<3 and >3", "<3 and >3"},
                                                       {"<B x=\"1\">c</B>", "c"},
                                                       {"a<!-- b -->c<?d?>e", "ace"},
                                                       {"a<b c=\">\">d", "ad"},
                                                       {"a<b c=\">d", "ad"},
                                                       {"a <b", "a <b"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(remove_tags(text), expected) << text;
}

}  // namespace
}  // namespace nmt::text_reader_test
