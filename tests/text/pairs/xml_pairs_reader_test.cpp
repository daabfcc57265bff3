#include "text/pairs/xml_pairs_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "support.h"
#include "text/files.h"
#include "text/pairs/corpus_reader.h"

namespace nmt::xml_pairs_reader_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using test::write_gzip;
using test::write_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Pairs = std::vector<std::pair<std::string, std::string>>;

class XmlPairsReaderTest : public testing::Test {
 protected:
  Pairs read_file_at(const std::filesystem::path& file) {
    CorpusReader reader({file, file, "data.train1", "data.train2"}, reading_);
    Pairs pairs;
    for (TextPair pair; reader.next(pair);) pairs.emplace_back(pair.source, pair.target);
    description_ = reader.description();
    notes_.clear();
    for (const auto& note : reader.notes()) notes_ += (note.is_warning ? "warning: " : "") + note.text + "\n";
    return pairs;
  }
  Pairs read(std::string_view content) { return read_file_at(write_text(folder_ / "a.xml", content)); }
  /// Why a text is refused, without option and file.
  std::string refusal(std::string_view content) {
    const auto message = message_of<Error>([&] { read(content); });
    const std::string place = "data.train1 " + (folder_ / "a.xml").string() + ":";
    EXPECT_EQ(message.substr(0, place.size()), place);
    return message.substr(std::min(place.size(), message.size()));
  }
  static std::string tmx(std::string_view units, std::string_view header = "") {
    return fmt::format(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\"><header {}/>"
        "<body>\n{}</body></tmx>\n",
        header, units);
  }
  /// A unit of variants such as "de=Hund".
  static std::string unit(std::initializer_list<std::string> variants) {
    std::string text = "<tu>";
    for (const auto& variant : variants) {
      const size_t mark = variant.find('=');
      text +=
          fmt::format("<tuv xml:lang=\"{}\"><seg>{}</seg></tuv>", variant.substr(0, mark), variant.substr(mark + 1));
    }
    return text + "</tu>\n";
  }

  TemporaryDirectory folder_;
  ReadingOptions reading_{.source_language = "de", .target_language = "en"};
  std::string description_, notes_;
};

TEST_F(XmlPairsReaderTest, TakesTheTwoLanguagesOfTmxInAnyOrder) {
  const auto text = tmx(unit({"de=Hund", "en=dog"}) + unit({"en=cat", "fr=chat", "de=Katze"}) +
                        unit({"fr=vache", "en=cow"}) + unit({"de=", "en=nothing"}));
  EXPECT_THAT(read(text), ElementsAre(Pair("Hund", "dog"), Pair("Katze", "cat"), Pair("", "nothing")));
  EXPECT_EQ(description_, (folder_ / "a.xml").string() + " (TMX)");
  EXPECT_EQ(notes_,
            "warning: " + (folder_ / "a.xml").string() + ": left out are 1 units without one of the two languages\n");
  reading_ = {.source_language = "fr", .target_language = "en"};
  EXPECT_THAT(read(text), ElementsAre(Pair("chat", "cat"), Pair("vache", "cow")));
  EXPECT_EQ(read_file_at(write_gzip(folder_ / "b.tmx.gz", text)).size(), 2u) << "packed, told by its name";
}

TEST_F(XmlPairsReaderTest, MatchesRegionsOfALanguage) {
  EXPECT_THAT(read(tmx(unit({"DE-at=Paradeiser", "en_GB=tomato"}) + unit({"de-AT=Jänner", "de=Januar", "EN=January"}) +
                       unit({"deu=Hund", "eng-US=dog"}))),
              ElementsAre(Pair("Paradeiser", "tomato"), Pair("Januar", "January"), Pair("Hund", "dog")));
  reading_.source_language = "de-AT";
  EXPECT_THAT(read(tmx(unit({"de=Januar", "de-AT=Jänner", "en=January"}) + unit({"de-CH=Tram", "en=tram"}))),
              ElementsAre(Pair("Jänner", "January"), Pair("Tram", "tram")));
  reading_ = {.source_language = "de", .target_language = "de-AT"};
  EXPECT_THAT(refusal(tmx(unit({"de=a", "en=b"}))), HasSubstr(" no unit has the languages de and de-AT"));
}

TEST_F(XmlPairsReaderTest, LanguagesThatAreNotKnownAreThoseOfTheFile) {
  reading_ = {};
  EXPECT_THAT(read(tmx(unit({"en=dog", "de-DE=Hund"}), "srclang=\"de\"")), ElementsAre(Pair("Hund", "dog")));
  EXPECT_THAT(read(tmx(unit({"en=dog", "en-GB=hound", "de=Hund"}), "srclang=\"*all*\"")),
              ElementsAre(Pair("dog", "Hund")));
}

TEST_F(XmlPairsReaderTest, CodesOfOtherFormatsAreNoText) {
  EXPECT_THAT(read(tmx("<tu><note>no text</note><tuv lang=\"de\"><prop type=\"x\">no</prop><seg><bpt i=\"1\">&lt;b "
                       "title=\"<sub>no</sub>\"&gt;</bpt>Rock<ept i=\"1\">&lt;/b&gt;</ept> &amp; <hi>Roll</hi>\n"
                       "  <ph>{0}</ph><it pos=\"begin\">&lt;i&gt;</it>x &#8364;<ut>\\par</ut></seg></tuv>"
                       "<tuv xml:lang=\"en\"><seg> rock &lt; <![CDATA[roll & <b>]]> </seg></tuv></tu>")),
              ElementsAre(Pair("Rock & Roll x \u20AC", "rock < roll & <b>")));
}

TEST_F(XmlPairsReaderTest, ReadsTestSetsOfWmtAsSacrebleu) {
  const auto golden = test::source_directory() / "tests/text/golden";
  const auto expected = nlohmann::json::parse(read_file(golden / "wmt.json")).get<Pairs>();
  EXPECT_EQ(read_file_at(golden / "wmt.xml"), expected);
  EXPECT_EQ(description_, (golden / "wmt.xml").string() + " (WMT XML)");
  EXPECT_EQ(notes_, "warning: " + (golden / "wmt.xml").string() +
                        ": left out are 2 segments of test suites, or without the reference\n");
  reading_ = {};
  EXPECT_EQ(read_file_at(golden / "wmt.xml"), expected);
}

TEST_F(XmlPairsReaderTest, TakesTheReferenceOfTheTargetLanguage) {
  const std::string text =
      "<dataset><doc><src lang=\"de-DE\"><seg id=\"1\">Hund</seg></src><ref lang=\"fr\" translator=\"A\"><seg id=\"1\">"
      "chien</seg></ref><ref lang=\"en\" translator=\"B\"><seg id=\"1\">dog</seg></ref></doc></dataset>";
  EXPECT_THAT(read(text), ElementsAre(Pair("Hund", "dog")));
  reading_.target_language = "fr";
  EXPECT_THAT(read(text), ElementsAre(Pair("Hund", "chien")));
  reading_.target_language = "it";
  EXPECT_EQ(refusal(text), " no <src> segment has a <ref> in the target language");
  reading_ = {.source_language = "en", .target_language = "de"};
  EXPECT_EQ(refusal("<dataset>\n<doc>" + text.substr(14)),
            "2: <src> is de-DE, the source language is en; set data.source_language");
}

TEST_F(XmlPairsReaderTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("<tmx>\n<tu>\n</tmx>"), "3: is no XML (mismatched tag)");
  EXPECT_EQ(refusal("<tmx>\n<body>\n"), "3: is no XML (no element found)");
  EXPECT_EQ(refusal("<tmx>\n\x01</tmx>"), "2: is no XML (not well-formed (invalid token))");
  EXPECT_EQ(refusal("<tmx>\n<tu><tuv>"), "2: <tuv> has no xml:lang");
  EXPECT_EQ(refusal("<tmx>\n\n<seg>"), "3: <seg> stands in no <tuv>");
  EXPECT_EQ(refusal("<tmx>\n\xFF</tmx>"),
            "2: byte 1 (0xFF) is not UTF-8; correct or convert the file (iconv), or set "
            "data.repair_utf8: true");
  EXPECT_EQ(refusal("<dataset>\n<src>"), "2: <src> has to stand in a <doc> itself");
  EXPECT_EQ(refusal("<dataset><doc><src><seg id=\"a\">"), "1: <seg id=\"a\">: the id is no whole number");
  EXPECT_EQ(refusal("<dataset><doc><src><seg id=\"1\"/><seg id=\"1\"/>"), "1: <seg id=\"1\"> stands twice in a <src>");
  EXPECT_EQ(message_of<Error>([&] { read_file_at(write_text(folder_ / "b.tmx", "<html></html>")); }),
            "data.train1 " + (folder_ / "b.tmx").string() + ":1: the outermost element is <html>, not <tmx>");
  reading_.utf8 = Utf8Policy::kRepair;
  EXPECT_THAT(read(tmx(unit({"de=\xFF", "en=b"}))), ElementsAre(Pair("\uFFFD", "b")));
}

// What a file declares is not read, and what it names is not fetched.
TEST_F(XmlPairsReaderTest, RefusesDeclarations) {
  const auto with = [](const std::string& doctype, const std::string& text) {
    return "<?xml version=\"1.0\"?>" + doctype + "<tmx><tu><tuv xml:lang=\"de\"><seg>" + text +
           "</seg></tuv><tuv xml:lang=\"en\"><seg>b</seg></tuv></tu></tmx>";
  };
  const std::string why = "1: a DOCTYPE with declarations of its own; remove what its [ ] hold";
  const auto named = [&](const std::string& content) {
    const auto file = write_text(folder_ / "c.tmx", content);
    const auto message = message_of<Error>([&] { read_file_at(file); });
    return message.substr(message.find(".tmx:") + 5);
  };
  EXPECT_EQ(named(with("<!DOCTYPE tmx [<!ENTITY x \"y\">]>", "&x;")), why);
  EXPECT_EQ(named(with("<!DOCTYPE tmx [<!ENTITY x SYSTEM \"other.txt\">]>", "&x;")), why);
  EXPECT_EQ(named(with("<!DOCTYPE tmx SYSTEM \"tmx14.dtd\" []>", "a")), why);
  EXPECT_EQ(named(with("<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">", "&nbsp;")), "1: &nbsp; is no entity of XML itself");
  EXPECT_EQ(named(with("", "&nbsp;")), "1: is no XML (undefined entity)");
  EXPECT_EQ(read(with("<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">", "a")).size(), 1u);
}

TEST_F(XmlPairsReaderTest, IsLimited) {
  std::string deep = "<tmx>";
  for (int i = 0; i < 64; ++i) deep += "<a>";
  EXPECT_EQ(refusal(deep), "1: more than 64 elements are open");
  EXPECT_THAT(refusal("<tmx><!--" + std::string(3 << 20, ' ')), HasSubstr("a tag or comment of more than 1 MiB"));
  const std::string line = std::string(1 << 20, 'a') + "\n";
  std::string long_unit = "<tmx><tu><tuv xml:lang=\"de\"><seg>";
  for (int i = 0; i < 17; ++i) long_unit += line;
  EXPECT_THAT(refusal(long_unit), HasSubstr("more than 16 MiB of text in a <tu> or <doc>"));
}

TEST_F(XmlPairsReaderTest, AFileWithoutPairsIsRefused) {
  EXPECT_EQ(message_of<Error>([&] { read(tmx("")); }),
            "data.train1 " + (folder_ / "a.xml").string() + ": has no sentence; check the file");
  EXPECT_EQ(refusal(tmx(unit({"fr=a", "it=b"}))),
            " no unit has the languages de and en, its languages are fr, it; set data.source_language and "
            "data.target_language");
}

}  // namespace
}  // namespace nmt::xml_pairs_reader_test
