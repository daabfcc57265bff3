#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/document.h"
#include "documents/formats/formats.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::html_document_test {
namespace {

using test::dictionary;
using test::listing;
using test::message_of;
using test::reverse_words;
using test::shout;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts_of(const std::string& html) {
  std::vector<std::string> seen;
  EXPECT_EQ(translate_html(html, listing(seen)), html);
  return seen;
}

TEST(HtmlDocument, LinksFieldsAndPicturesThatTouchAreWords) {
  const auto texts_of = [](const std::string& html) {
    std::vector<std::string> seen;
    EXPECT_EQ(translate_html(html, listing(seen)), html);
    return seen;
  };
  EXPECT_THAT(texts_of("<nav><a href=/>Start</a><a href=/k>Contact</a> <a href=/i>Legal</a></nav>"),
              ElementsAre("Start", "Contact", "Legal"));
  EXPECT_THAT(texts_of("<label>First name</label><input><label>Last name</label>"),
              ElementsAre("First name", "Last name"));
  EXPECT_THAT(texts_of("<p>Pages <a>one</a><a>two</a></p>"), ElementsAre("Pages one two"));
  EXPECT_THAT(texts_of("<p><span class=label>Price</span><span>high</span></p>"), ElementsAre("Price high"));
  EXPECT_THAT(
      texts_of("<p>See (<a>here</a>), <b>Word:</b><i>Anna</i> and <a>there</a>. \u79C1\u306F<a>\u6771</a>\u306B</p>"),
      ElementsAre("See (here), Word: Anna and there. \u79C1\u306F\u6771\u306B"));
  EXPECT_THAT(texts_of("<p>Yes<input type=radio>No</p><p>left<img>right</p><p>up<svg/>down</p>"),
              ElementsAre("Yes No", "left right", "up down"));
  EXPECT_THAT(texts_of("<p>H<sub>2</sub>O <b>un</b>seen <span>D</span>rop, SO<sub>x</sub><sup>y</sup></p>"),
              ElementsAre("H2O unseen Drop, SOxy"));
  EXPECT_EQ(translate_html("<nav><a>one</a><a>two</a></nav><p>Yes<input>no</p><p>So <i>a</i><b>b</b></p>", shout),
            "<nav><a>ONE</a><a>TWO</a></nav><p>YES<input>NO</p><p>SO <i>A</i><b>B</b></p>");
}

TEST(HtmlDocument, WhatIsInvisibleIsNoText) {
  std::vector<std::string> seen;
  const std::string html =
      "<p>Va&shy;ter wo\u2060rd \u2067x\u2069 f\u200Ci &zwj;</p><p>\u0646\u0645\u06CC\u200C\u062F</p>";
  EXPECT_EQ(translate_html(html, listing(seen)), html);
  EXPECT_THAT(seen, ElementsAre("Vater word x fi", "\u0646\u0645\u06CC\u200C\u062F"));
}

TEST(HtmlDocument, TextsOfAttributes) {
  EXPECT_EQ(translate_html("<input type=submit value=send><input value=x><meta name=description content=\"a b\"><meta "
                           "name=x content=y><b aria-label=c>d</b><option label=e>",
                           shout),
            "<input type=submit value=\"SEND\"><input value=x><meta name=description content=\"A B\"><meta name=x "
            "content=y><b aria-label=\"C\">D</b><option label=\"E\">");
}

TEST(HtmlDocument, MovesTagsWithTheirWords) {
  EXPECT_EQ(translate_html("<p>A <b>red</b> house.</p>",
                           dictionary({{"A red house.", {"Une maison rouge.", "0-0 1-2 2-1"}}})),
            "<p>Une maison <b>rouge</b>.</p>");
}

TEST(HtmlDocument, OneBatchOfAllTexts) {
  EXPECT_THAT(texts_of("<title>T one</title><h1>Two</h1><p>Three <i>four</i><p>five<ul><li>six<li>seven</ul>"),
              ElementsAre("T one", "Two", "Three four", "five", "six", "seven"));
}

TEST(HtmlDocument, CollapsesWhiteSpaceAndKeepsThatAtTheEnds) {
  EXPECT_THAT(texts_of("<p>\n  one\n  two </p>"), ElementsAre("one two"));
  EXPECT_EQ(translate_html("<p>\n  one\n  two </p>\n", shout), "<p>\n  ONE TWO </p>\n");
  EXPECT_EQ(translate_html("<p> <b> one </b> </p>\n", shout), "<p> <b> ONE </b> </p>\n");
}

TEST(HtmlDocument, DecodesEntitiesAndEncodesThem) {
  EXPECT_THAT(texts_of("<p>a &lt; b &amp;&eacute;&#233;&#xe9; &unknown; &nbsp;c</p>"),
              ElementsAre("a < b &\u00E9\u00E9\u00E9 &unknown; \u00A0c"));
  EXPECT_EQ(translate_html("<p>a &lt; b &amp; c &copy</p>", shout), "<p>A &lt; B &amp; C \u00A9</p>");
  EXPECT_EQ(translate_html("a < b", shout), "A &lt; B");
}

TEST(HtmlDocument, KeepsWhatIsNotToBeTranslated) {
  EXPECT_THAT(texts_of("<pre>a</pre><script>if (a<b) c()</script><style>p{}</style><div translate=no>x <b>y</b> "
                       "<p translate=\"yes\">z</p></div><p class='a notranslate'>q</p><p>r <code>s</code></p>"),
              ElementsAre("z", "r"));
  EXPECT_EQ(translate_html("<p>run <code>ls -l</code> now</p>", dictionary({{"run now", {"jetzt starte", "0-1 1-0"}}})),
            "<p>jetzt starte <code>ls -l</code></p>");
  EXPECT_EQ(translate_html("<p>Ask <span translate=no>Jane Doe</span> today</p>", shout),
            "<p>ASK <span translate=no>Jane Doe</span> TODAY</p>");
}

TEST(HtmlDocument, TranslatesThreeAttributes) {
  EXPECT_EQ(
      translate_html("<img alt='a &quot;b&quot; it' src=a.png title=word><input placeholder=\"x\" value=\"y\">", shout),
      "<img alt='A \"B\" IT' src=a.png title=\"WORD\"><input placeholder=\"X\" value=\"y\">");
  EXPECT_EQ(translate_html("<p>one <a title=\"two\">three</a></p>", shout), "<p>ONE <a title=\"TWO\">THREE</a></p>");
  EXPECT_EQ(translate_html("<p translate=no title='a'>b</p><code title='a'>b</code>", shout),
            "<p translate=no title='a'>b</p><code title='a'>b</code>");
}

TEST(HtmlDocument, KeepsVoidElementsBetweenTheirNeighbours) {
  EXPECT_EQ(translate_html("<p>one<br>two three</p>", shout), "<p>ONE<br>TWO THREE</p>");
  EXPECT_EQ(translate_html("<p>one <img src=a> two three</p>", shout), "<p>ONE <img src=a> TWO THREE</p>");
  EXPECT_EQ(translate_html("<p>one <img src=a>two</p>", shout), "<p>ONE <img src=a>TWO</p>");
  EXPECT_EQ(translate_html("<p>one<sup><a href=x>1</a></sup> two</p>", shout),
            "<p>ONE<sup><a href=x>1</a></sup> TWO</p>");
  EXPECT_EQ(translate_html("<p>one<!-- c --> two</p>", shout), "<p>ONE<!-- c --> TWO</p>");
}

TEST(HtmlDocument, KeepsTagsInsideOfWordsThatStayTheSame) {
  EXPECT_EQ(translate_html("<p>drink H<sub>2</sub>O now</p>",
                           dictionary({{"drink H2O now", {"jetzt H2O trinken", "0-2 1-1 2-0"}}})),
            "<p>jetzt H<sub>2</sub>O trinken</p>");
  EXPECT_EQ(translate_html("<p><b>un</b>seen</p>", dictionary({{"unseen", {"ungesehen", "0-0"}}})),
            "<p><b>ungesehen</b></p>");
}

TEST(HtmlDocument, TwoBreaksEndASentence) {
  EXPECT_THAT(texts_of("<p>one<br>two<br>\n<br>three</p>"), ElementsAre("one two", "three"));
}

TEST(HtmlDocument, TakesTagsThatDoNotNest) {
  EXPECT_EQ(translate_html("<b>one <i>two</b> three</i> four", shout), "<b>ONE <i>TWO</b> THREE</i> FOUR");
  EXPECT_EQ(translate_html("<b>one so <i>two x</b> three y</i> four", reverse_words),
            "<b>SO ONE <i>X TWO</b> Y THREE</i> FOUR");
  EXPECT_EQ(translate_html("one </b> two <i> three", reverse_words), "ONE </b> TWO <i> THREE");
  EXPECT_EQ(translate_html("<a href=x><div>one two</div></a>", reverse_words), "<a href=x><div>TWO ONE</div></a>");
  for (const char* text :
       {"<", "<a", "<a href='", "<!--", "<!-- x", "</", "<p", "&", "&#", "<script>", "<!", "<?x", "a<b"})
    EXPECT_NO_THROW(translate_html(text, shout)) << text;
}

/// The translation of a file of this name.
std::string translated_file(const std::string& name, const std::string& bytes) {
  return translate_document(document_format_of(name).value(), bytes, shout);
}

TEST(HtmlDocument, ReadsXhtmlAsXml) {
  const auto page = [](const std::string& head, const std::string& text) {
    return "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 "
           "Strict//EN\" \"xhtml1-strict.dtd\">\n<html xmlns=\"http://www.w3.org/1999/xhtml\"><head>" +
           head + "</head><body>" + text + "</body></html>\n";
  };
  // An element that HTML reads up to its end tag may be empty in XML: the rest stayed as it was.
  for (const char* head : {"<script src=\"a.js\"/>", "<title/>", "<style/>", "<script>if (a &lt; b) c();</script>",
                           "<script>//<![CDATA[\nif (a < b) c(\"</p>\");\n//]]></script>"})
    EXPECT_EQ(
        translated_file("a.xhtml", page(head, "<p>a&nbsp;dog &amp; <iframe src=\"x\"/> a <b>cat</b><br/>sit</p>")),
        page(head, "<p>A\u00A0DOG &amp; <iframe src=\"x\"/> A <b>CAT</b><br/>SIT</p>"));
  EXPECT_EQ(translated_file("a.xhtml", "<p title=\"one\">two <code>three</code> <img alt=\"four\" src=\"a\"/></p>"),
            "<p title=\"ONE\">TWO <code>three</code> <img alt=\"FOUR\" src=\"a\"/></p>");
}

TEST(HtmlDocument, ReadsXhtmlThatIsNotXmlAsHtml) {
  EXPECT_EQ(translated_file("a.xhtml", "<p>one<br>two &nbsp; <img src=a alt=x><p>three & <i>four"),
            "<p>ONE<br>TWO \u00A0 <img src=a alt=\"X\"><p>THREE &amp; <i>FOUR");
  EXPECT_EQ(translated_file("a.xhtml", "<p>one</p><p>two</p>"), "<p>ONE</p><p>TWO</p>");
  EXPECT_EQ(translated_file("a.xhtml", "<!DOCTYPE html [<!ENTITY e \"x\">]><p>one &e; two</p>"),
            translated_file("a.html", "<!DOCTYPE html [<!ENTITY e \"x\">]><p>one &e; two</p>"));
  EXPECT_EQ(translated_file("a.xhtml", "one"), "ONE");
  EXPECT_EQ(translated_file("a.xhtml", ""), "");
  EXPECT_THAT(message_of<Error>([] { translated_file("a.xhtml", "a\n\xFFz"); }), HasSubstr("HTML, line 2: byte 3"));
}

TEST(HtmlDocument, ReadsFilesOfTheNameHtmlAsHtmlWhateverTheyDeclare) {
  const std::string head =
      "<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"xhtml1-strict.dtd\"><html "
      "xmlns=\"http://www.w3.org/1999/xhtml\">";
  EXPECT_EQ(translated_file("a.html", head + "<p>one<br/>two</p></html>"), head + "<p>ONE<br/>TWO</p></html>");
  // A browser that gets it as text/html reads it so.
  EXPECT_EQ(translated_file("a.html", head + "<script src=\"a.js\"/><p>one</p></html>"),
            head + "<script src=\"a.js\"/><p>one</p></html>");
}

TEST(HtmlDocument, RefusesWhatIsNestedTooDeeplyOrNotUtf8) {
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<div>\n";
  EXPECT_THAT(message_of<Error>([&] { translate_html(deep, shout); }),
              HasSubstr("HTML, line 257: elements are nested"));
  EXPECT_THAT(message_of<Error>([&] { translate_html("a\n\xFFz", shout); }), HasSubstr("line 2: byte 3 is not UTF-8"));
}

}  // namespace
}  // namespace nmt::documents::html_document_test
