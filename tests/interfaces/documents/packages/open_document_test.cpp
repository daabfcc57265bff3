#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/packages/packaged_document.h"
#include "documents/packages/packages.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::open_document_test {
namespace {

using test::Archive;
using test::entry_of;
using test::message_of;
using test::reverse_words;
using test::shout;
using testing::HasSubstr;

std::string content(const std::string& body, const TranslateTexts& translate) {
  const std::string head = "<office:document-content xmlns:office=\"o\" xmlns:text=\"t\"><office:text>",
                    tail = "</office:text></office:document-content>";
  const auto file = Archive()
                        .add("mimetype", "application/vnd.oasis.opendocument.text")
                        .add_deflated("content.xml", head + body + tail)
                        .bytes();
  const auto out = translate_document(DocumentFormat::kOdt, file, translate);
  EXPECT_EQ(out.substr(30, 47), "mimetypeapplication/vnd.oasis.opendocument.text");
  const auto xml = entry_of(out, "content.xml");
  return xml.substr(head.size(), xml.size() - head.size() - tail.size());
}

TEST(OpenDocument, MovesSpansAndKeepsWhatIsNoText) {
  EXPECT_EQ(content("<text:h>Title one</text:h><text:p>a <text:span text:style-name=\"T1\">red</text:span> "
                    "house<text:tab/>x</text:p>",
                    shout),
            "<text:h>TITLE ONE</text:h><text:p>A <text:span text:style-name=\"T1\">RED</text:span> "
            "HOUSE<text:tab/>X</text:p>");
  EXPECT_EQ(content("<text:p>a <text:span>red</text:span> house</text:p>", reverse_words),
            "<text:p>HOUSE <text:span>RED</text:span> A</text:p>");
}

TEST(OpenDocument, TranslatesNotesAndLeavesDeletedText) {
  EXPECT_EQ(
      content("<text:tracked-changes><text:p>gone</text:p></"
              "text:tracked-changes><text:p>one<text:note><text:note-citation>1"
              "</text:note-citation><text:note-body><text:p>note</text:p></text:note-body></text:note> two</text:p>",
              shout),
      "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>ONE<text:note><text:note-citation>1"
      "</text:note-citation><text:note-body><text:p>NOTE</text:p></text:note-body></text:note> TWO</text:p>");
}

TEST(OpenDocument, RefusesLockedDocuments) {
  const auto file = Archive().add("content.xml", "x").add("META-INF/manifest.xml", "<m><encryption-data/></m>").bytes();
  EXPECT_THAT(message_of<Error>([&] { translate_document(DocumentFormat::kOdp, file, shout); }), HasSubstr("password"));
  EXPECT_THAT(
      message_of<Error>([&] { translate_document(DocumentFormat::kOdp, Archive().add("a", "").bytes(), shout); }),
      HasSubstr("no content.xml"));
}

}  // namespace
}  // namespace nmt::documents::open_document_test
