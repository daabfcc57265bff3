#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/packages/packaged_document.h"
#include "documents/packages/packages.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::epub_test {
namespace {

using test::Archive;
using test::entry_of;
using test::message_of;
using test::shout;
using testing::HasSubstr;

TEST(Epub, TranslatesChaptersAndTheTableOfContents) {
  const std::string container = "<container><rootfiles><rootfile full-path=\"OPS/book.opf\"/></rootfiles></container>";
  const std::string package =
      "<package><manifest><item href=\"text/a%20b.xhtml\" media-type=\"application/xhtml+xml\"/><item "
      "href=\"../toc.ncx\" "
      "media-type=\"application/x-dtbncx+xml\"/><item href=\"x.css\" media-type=\"text/css\"/></manifest></package>";
  const auto file =
      Archive()
          .add("mimetype", "application/epub+zip")
          .add_deflated("META-INF/container.xml", container)
          .add_deflated("OPS/book.opf", package)
          .add_deflated("OPS/text/a b.xhtml",
                        "<!DOCTYPE html><html xmlns=\"h\"><head><title>t</title></head><body><p>one&nbsp;<a id=\"x\"/>"
                        "<i>two</i><br/>three</p></body></html>")
          .add_deflated("OPS/other.xhtml", "<p>no</p>")
          .add_deflated("toc.ncx", "<ncx><docTitle><text>title</text></docTitle><meta content=\"x\"/></ncx>")
          .bytes();
  const auto out = translate_document(DocumentFormat::kEpub, file, shout);
  EXPECT_EQ(entry_of(out, "OPS/text/a b.xhtml"),
            "<!DOCTYPE html><html xmlns=\"h\"><head><title>T</title></head><body><p>ONE\u00A0<a "
            "id=\"x\"/><i>TWO</i><br/>THREE</p>"
            "</body></html>");
  EXPECT_EQ(entry_of(out, "toc.ncx"), "<ncx><docTitle><text>TITLE</text></docTitle><meta content=\"x\"/></ncx>");
  EXPECT_EQ(entry_of(out, "OPS/other.xhtml"), "<p>no</p>");
}

TEST(Epub, RefusesOtherArchives) {
  EXPECT_THAT(
      message_of<Error>([] { translate_document(DocumentFormat::kEpub, Archive().add("a", "b").bytes(), shout); }),
      HasSubstr("no META-INF/container.xml"));
}

}  // namespace
}  // namespace nmt::documents::epub_test
