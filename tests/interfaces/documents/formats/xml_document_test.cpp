#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/document.h"
#include "documents/formats/formats.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::xml_document_test {
namespace {

using test::listing;
using test::message_of;
using test::reverse_words;
using test::shout;
using testing::ElementsAre;
using testing::HasSubstr;

std::string xml(const std::string& text, const TranslateTexts& translate) {
  return translate_document(DocumentFormat::kXml, text, translate);
}

TEST(XmlDocument, ElementsWithTextAreParagraphs) {
  std::vector<std::string> seen;
  const std::string text =
      "<?xml version=\"1.0\"?>\n<doc a='b'>\n<t>one <b>two</b></t>\n<t><![CDATA[three & x]]></t><n "
      "its:translate=\"no\" "
      "xmlns:its=\"u\">four</n><l><i>five</i><i>six</i></l></doc>\n";
  EXPECT_EQ(xml(text, listing(seen)), text);
  EXPECT_THAT(seen, ElementsAre("one two", "three & x", "five", "six"));
  EXPECT_EQ(xml("<d>one <b>two</b> <e/> &lt;three</d>", reverse_words), "<d>&lt;THREE <b>TWO</b> <e/> ONE</d>");
  EXPECT_EQ(xml("<d><![CDATA[a & b]]></d>", shout), "<d>A &amp; B</d>");
}

TEST(XmlDocument, KeepsLinesWhereXmlSpaceSaysSo) {
  const std::string text =
      "<d xml:space=\"preserve\"><p>one two\n  three</p><p xml:space=\"default\">four\nfive</p></d>";
  EXPECT_EQ(xml(text, reverse_words),
            "<d xml:space=\"preserve\"><p>TWO ONE\n  THREE</p><p xml:space=\"default\">FIVE FOUR</p></d>");
}

TEST(XmlDocument, ElementsThatTouchAreWords) {
  std::vector<std::string> seen;
  const std::string text = "<d><p>So <b>one</b><b>two</b> <b>un</b>seen</p></d>";
  EXPECT_EQ(xml(text, listing(seen)), text);
  EXPECT_THAT(seen, ElementsAre("So one two unseen"));
  EXPECT_EQ(xml(text, shout), "<d><p>SO <b>ONE</b><b>TWO</b> <b>UNSEEN</b></p></d>");
}

TEST(XmlDocument, RefusesEntitiesAndOtherEncodings) {
  const auto message = [](const std::string& text) { return message_of<Error>([&] { xml(text, shout); }); };
  EXPECT_THAT(message("<!DOCTYPE d [\n<!ENTITY a \"aaaa\">]><d>&a;</d>"),
              HasSubstr("XML, line 2: the document type defines"));
  EXPECT_EQ(xml("<!DOCTYPE d [ %a; ]><d>b</d>", shout), "<!DOCTYPE d [ %a; ]><d>B</d>");
  EXPECT_THAT(message("<?xml version='1.0' encoding='ISO-8859-1'?><d/>"), HasSubstr("iso-8859-1; save it as UTF-8"));
  EXPECT_THAT(message("\xFF\xFE<"), HasSubstr("UTF-16"));
  EXPECT_EQ(xml("<!DOCTYPE d SYSTEM \"d.dtd\"><d>a &b; c</d>", shout), "<!DOCTYPE d SYSTEM \"d.dtd\"><d>A &b; C</d>");
}

TEST(XmlDocument, RefusesWhatIsNotWellFormed) {
  for (const auto* text : {"",
                           "a",
                           "<a>",
                           "<a></b>",
                           "<a/><b/>",
                           "<a b></a>",
                           "<a b=c></a>",
                           "<a b='1' b='2'/>",
                           "<a>&x;</a>",
                           "<a>&</a>",
                           "<a>&#;</a>",
                           "<a>&#x;</a>",
                           "<a>]]></a>",
                           "<a b='<'/>",
                           "<a b='&'/>",
                           "<a",
                           "<a b",
                           "<a b=",
                           "<a b='",
                           "<!--",
                           "<a><!-- -- --></a>",
                           "<![CDATA[",
                           "<a><![CDATA[</a>",
                           "<?x",
                           "<!DOCTYPE",
                           "<a></a>x",
                           "< a/>",
                           "<a/ >",
                           "</a>",
                           "<a>\x01</a>",
                           "<a b='1'c='2'/>",
                           "<a><!DOCTYPE b></a>"})
    EXPECT_THAT(message_of<Error>([&] { xml(text, shout); }), HasSubstr("XML, line 1: ")) << text;
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<a>";
  EXPECT_THAT(message_of<Error>([&] { xml(deep, shout); }), HasSubstr("nested deeper than 256"));
}

}  // namespace
}  // namespace nmt::documents::xml_document_test
