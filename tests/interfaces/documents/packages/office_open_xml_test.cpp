#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/packages/packaged_document.h"
#include "documents/packages/packages.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::office_open_xml_test {
namespace {

using test::Archive;
using test::dictionary;
using test::entry_of;
using test::listing;
using test::message_of;
using test::reverse_words;
using test::shout;
using test::translated_docx;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kSpace = " xml:space=\"preserve\"";

std::string run(const std::string& text, const std::string& properties = "") {
  return "<w:r>" + properties + "<w:t" + kSpace + ">" + text + "</w:t></w:r>";
}

TEST(Docx, RunsOfOneFormAreOneText) {
  EXPECT_EQ(translated_docx("<w:p><w:pPr><w:jc/></w:pPr><w:r w:rsidR=\"1\"><w:t>hel</w:t></w:r><w:proofErr/><w:r><w:t "
                            "xml:space=\"preserve\">lo </w:t></w:r><w:r><w:t>world</w:t></w:r></w:p>",
                            dictionary({{"hello world", {"hallo Welt", "0-0 1-1"}}})),
            "<w:p><w:pPr><w:jc/></w:pPr>" + run("hallo") + "<w:proofErr/>" + run(" Welt") + "</w:p>");
}

TEST(Docx, FormsGoWithTheirWords) {
  const std::string bold = "<w:rPr><w:b/></w:rPr>";
  EXPECT_EQ(translated_docx("<w:p>" + run("a ") + run("red", bold) + run(" house &amp; x") + "</w:p>",
                            dictionary({{"a red house & x", {"une maison rouge & x", "0-0 1-2 2-1 3-3 4-4"}}})),
            "<w:p>" + run("une maison ") + run("rouge", bold) + run(" &amp; x") + "</w:p>");
}

TEST(Docx, KeepsTabsBreaksDrawingsAndLinks) {
  EXPECT_EQ(
      translated_docx(
          "<w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r><w:r><w:br/></w:r>" + run("three") + "</w:p>", shout),
      "<w:p>" + run("ONE") + "<w:r><w:tab/></w:r>" + run("TWO") + "<w:r><w:br/></w:r>" + run("THREE") + "</w:p>");
  EXPECT_EQ(translated_docx("<w:p>" + run("see ") + "<w:hyperlink r:id=\"1\" xmlns:r=\"x\">" + run("this") +
                                "</w:hyperlink>" + run(" page") + "</w:p>",
                            reverse_words),
            "<w:p>" + run("PAGE ") + "<w:hyperlink r:id=\"1\" xmlns:r=\"x\">" + run("THIS") + "</w:hyperlink>" +
                run(" SEE") + "</w:p>");
}

TEST(Docx, KeepsFieldsWhole) {
  const std::string begin = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>",
                    separate = "<w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>",
                    end = "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  const auto code = [](const std::string& text) { return "<w:r><w:instrText>" + text + "</w:instrText></w:r>"; };
  const std::string page = begin + code("PAGE") + separate + run("seven") + end;
  EXPECT_EQ(translated_docx("<w:p>" + run("page ") + page + run(" of it") + "</w:p>", shout),
            "<w:p>" + run("PAGE ") + page + run(" OF IT") + "</w:p>");
  const auto link = [&](const std::string& text) { return begin + code("HYPERLINK x") + separate + run(text) + end; };
  EXPECT_EQ(translated_docx("<w:p>" + run("see ") + link("this") + run(" page") + "</w:p>", reverse_words),
            "<w:p>" + run("PAGE ") + link("THIS") + run(" SEE") + "</w:p>");
  // A field over several paragraphs, as in tables of contents.
  EXPECT_EQ(
      translated_docx(
          "<w:p>" + begin + code("TOC") + separate + run("one") + "</w:p><w:p>" + run("two") + end + "</w:p>", shout),
      "<w:p>" + begin + code("TOC") + separate + run("ONE") + "</w:p><w:p>" + run("TWO") + end + "</w:p>");
}

TEST(Docx, TakesLinksThatNestDeeperThanElementsMay) {
  // The runs of fields are siblings, so no limit of elements holds: 20,000 of them, packed 39 kB, overflowed the stack.
  const auto mark = [](const std::string& type) { return "<w:r><w:fldChar w:fldCharType=\"" + type + "\"/></w:r>"; };
  const auto link = [&](size_t depth, std::string inside) {
    std::string before, behind;
    for (size_t i = 0; i < depth; ++i) {
      before += mark("begin") + "<w:r><w:instrText>HYPERLINK x</w:instrText></w:r>" + mark("separate");
      behind += mark("end");
    }
    return before + inside + behind;
  };
  const auto paragraph = [&](const std::string& inside) { return "<w:p>" + inside + "</w:p>"; };
  EXPECT_EQ(translated_docx(paragraph(run("a man ") + link(64, run("sits")) + run(" here")), shout),
            paragraph(run("A MAN ") + link(64, run("SITS")) + run(" HERE")));
  // The marks end the texts, so that each keeps its place.
  for (const size_t depth : {size_t{65}, size_t{5000}})
    EXPECT_EQ(translated_docx(paragraph(run("a man ") + link(depth, run("sits down")) + run(" here")), reverse_words),
              paragraph(run("MAN A ") + link(depth, run("DOWN SITS")) + run(" HERE")))
        << depth;
  // A link beside it is one as before.
  EXPECT_EQ(translated_docx(paragraph(link(5000, run("sits")) + run(" a ") + link(1, run("man"))), reverse_words),
            paragraph(link(5000, run("SITS")) + run(" ") + link(1, run("MAN")) + run(" A")));
}

TEST(Docx, TranslatesTextBoxesInsideOfParagraphs) {
  EXPECT_EQ(translated_docx("<w:p>" + run("one ") + "<w:r><w:pict><w:txbxContent><w:p>" + run("box") +
                                "</w:p></w:txbxContent></w:pict></w:r>" + run("two") + "</w:p>",
                            shout),
            "<w:p>" + run("ONE ") + "<w:r><w:pict><w:txbxContent><w:p>" + run("BOX") +
                "</w:p></w:txbxContent></w:pict></w:r>" + run("TWO") + "</w:p>");
}

TEST(Docx, TranslatesHeadersAndNotesInOneBatch) {
  const std::string space = " xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
  const auto part = [&](const std::string& text) { return "<w:x" + space + "><w:p>" + run(text) + "</w:p></w:x>"; };
  // The web's word processors give parts other names than Word does.
  const auto file =
      test::office_archive("word/document2.xml")
          .add_deflated("word/document2.xml", part("body"))
          .add_deflated("word/_rels/document2.xml.rels", test::relationships({{"header", "h.xml"},
                                                                              {"footnotes", "/word/notes/f.xml"},
                                                                              {"styles", "styles.xml"},
                                                                              {"comments", "missing.xml"}}))
          .add_deflated("word/h.xml", part("head"))
          .add_deflated("word/notes/f.xml", part("note"))
          .add_deflated("word/styles.xml", part("style"))
          .bytes();
  std::vector<std::string> seen;
  EXPECT_EQ(translate_document(DocumentFormat::kDocx, file, listing(seen)), file);
  EXPECT_THAT(seen, ElementsAre("body", "head", "note"));
}

// LibreOffice 7.4.7 and python-docx 1.2.0 read these texts.
TEST(Docx, HyphensAreCharacters) {
  std::vector<std::string> seen;
  const std::string hard =
      "<w:p><w:r><w:t>Nach 1</w:t><w:noBreakHyphen/><w:t>24 Va</w:t><w:softHyphen/><w:t>ter.</w:t></w:r></w:p>";
  EXPECT_EQ(translated_docx(hard, listing(seen)), hard);
  EXPECT_THAT(seen, ElementsAre("Nach 1\u201124 Vater."));
  EXPECT_EQ(translated_docx(
                "<w:p><w:r><w:t>E</w:t></w:r><w:r><w:noBreakHyphen/></w:r><w:r><w:t>Mail kam</w:t></w:r></w:p>", shout),
            "<w:p>" + run("E\u2011MAIL KAM") + "</w:p>");
}

TEST(Docx, AWordIsTextAndItsReadingIsNot) {
  std::vector<std::string> seen;
  const std::string ruby = "<w:p>" + run("A") +
                           "<w:r><w:ruby><w:rt><w:r><w:t>x</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>b</w:t></w:r>"
                           "</w:rubyBase></w:ruby></w:r>" +
                           run("c") + "</w:p>";
  EXPECT_EQ(translated_docx(ruby, listing(seen)), ruby);
  EXPECT_THAT(seen, ElementsAre("Abc"));
}

TEST(Docx, LinksAndPicturesThatTouchAreWords) {
  std::vector<std::string> seen;
  const auto link = [](const std::string& text) { return "<w:hyperlink w:a=\"b\">" + run(text) + "</w:hyperlink>"; };
  const std::string two = "<w:p>" + link("Start") + link("Contact") + "</w:p><w:p>" + run("See") + link("here") +
                          "<w:r><w:drawing/></w:r>" + run("now") + "</w:p>";
  EXPECT_EQ(translated_docx(two, listing(seen)), two);
  EXPECT_THAT(seen, ElementsAre("Start", "Contact", "See here now"));
  EXPECT_EQ(translated_docx("<w:p>" + link("one") + run("two") + "</w:p>", shout),
            "<w:p>" + link("ONE") + run("TWO") + "</w:p>");
}

TEST(Docx, RefusesOtherArchives) {
  EXPECT_THAT(
      message_of<Error>([] { translate_document(DocumentFormat::kDocx, Archive().add("a", "b").bytes(), shout); }),
      HasSubstr("_rels/.rels names none"));
}

TEST(Pptx, TranslatesSlidesAndNotes) {
  const auto slide = [](const std::string& text) {
    return "<p:sld xmlns:p=\"p\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><a:p><a:pPr "
           "lvl=\"1\"/>" +
           text + "<a:endParaRPr lang=\"en\"/></a:p></p:sld>";
  };
  const auto file =
      test::office_archive("ppt/presentation.xml")
          .add_deflated("ppt/presentation.xml", "<p/>")
          .add_deflated("ppt/_rels/presentation.xml.rels", test::relationships({{"slide", "slides/slide1.xml"}}))
          .add_deflated("ppt/slides/_rels/slide1.xml.rels",
                        test::relationships({{"notesSlide", "../notesSlides/notesSlide1.xml"}}))
          .add_deflated("ppt/slides/slide1.xml", slide("<a:r><a:rPr b=\"1\"/><a:t>one</a:t></a:r><a:br/><a:r><a:rPr "
                                                       "b=\"1\"/><a:t>two</a:t></a:r>"))
          .add_deflated("ppt/notesSlides/notesSlide1.xml", slide("<a:r><a:t>note</a:t></a:r>"))
          .bytes();
  const auto out = translate_document(DocumentFormat::kPptx, file, shout);
  EXPECT_EQ(entry_of(out, "ppt/slides/slide1.xml"), slide("<a:r><a:rPr b=\"1\"/><a:t>ONE</a:t></a:r><a:br/><a:r><a:rPr "
                                                          "b=\"1\"/><a:t>TWO</a:t></a:r>"));
  EXPECT_EQ(entry_of(out, "ppt/notesSlides/notesSlide1.xml"), slide("<a:r><a:t>NOTE</a:t></a:r>"));
}

}  // namespace
}  // namespace nmt::documents::office_open_xml_test
