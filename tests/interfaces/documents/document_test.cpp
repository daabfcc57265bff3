#include "documents/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::document_test {
namespace {

using test::listing;
using test::message_of;
using test::shout;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Document, FormatsByTheEndingOfTheName) {
  EXPECT_EQ(document_format_of("a.HTML"), DocumentFormat::kHtml);
  EXPECT_EQ(document_format_of("a.xhtml"), DocumentFormat::kXhtml);
  EXPECT_EQ(document_format_of("a.b.docx"), DocumentFormat::kDocx);
  EXPECT_EQ(document_format_of("docx"), std::nullopt);
  EXPECT_EQ(document_format_of(".docx"), std::nullopt);
  EXPECT_EQ(document_format_of("a.pdf"), std::nullopt);
  EXPECT_THAT(message_of<Error>([] { require_document_format("a.PDF"); }), HasSubstr("a.PDF: a PDF holds"));
  EXPECT_THAT(message_of<Error>([] { require_document_format("a.xyz"); }),
              AllOf(HasSubstr(".docx"), HasSubstr(".srt")));
  for (const auto& entry : document_formats())
    EXPECT_EQ(document_format_of("a" + std::string(entry.extension)), entry.format);
}

TEST(Document, PlainTextByLines) {
  std::vector<std::string> seen;
  const std::string text = "\xEF\xBB\xBFOne  line.\r\n\n  two\t\n3 4\nlast";
  EXPECT_EQ(translate_document(DocumentFormat::kText, text, listing(seen)), text);
  EXPECT_THAT(seen, ElementsAre("One line.", "two", "last"));
  EXPECT_EQ(translate_document(DocumentFormat::kText, "a\uFFFF b", listing(seen)), "a\uFFFF b");
  EXPECT_EQ(translate_document(DocumentFormat::kText, text, shout), "\xEF\xBB\xBFONE LINE.\r\n\n  TWO\t\n3 4\nLAST");
  EXPECT_EQ(translate_document(DocumentFormat::kText, "a <b> & c", shout), "A <B> & C");
}

TEST(Document, CleansTranslations) {
  const auto give = [](const std::string& text) {
    return [text](std::span<const std::string> texts) { return std::vector<AlignedTranslation>(texts.size(), {text}); };
  };
  EXPECT_EQ(translate_html("<p>x</p>", give("a\n\x01"
                                            "b\xFF<")),
            "<p>a  b\uFFFD&lt;</p>");
  EXPECT_EQ(translate_html("<p><b>x</b> y</p>", give("")), "<p><b></b></p>");
}

TEST(Document, RefusesWhatIsTooLongAndAWrongNumberOfTranslations) {
  EXPECT_THAT(message_of<Error>([] { translate_document(DocumentFormat::kText, "abc", shout, {.unpacked_bytes = 2}); }),
              HasSubstr("3 bytes, more than 2"));
  EXPECT_THAT(message_of<Error>([] {
                translate_html("a", [](std::span<const std::string>) { return std::vector<AlignedTranslation>(); });
              }),
              HasSubstr("0 translations for 1 texts"));
}

}  // namespace
}  // namespace nmt::document_test
