#include "report/pictures/markup.h"

#include <gtest/gtest.h>

namespace nmt::markup_test {
namespace {

TEST(EscapeXml, LeavesNoCharacterWithAMeaning) {
  EXPECT_EQ(escape_xml("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(escape_xml("Grüße\n中国"), "Grüße\n中国");
  EXPECT_EQ(escape_xml(std::string("a\0b\x1b", 4)), "a b ");
}

TEST(Base64, HasTheExamplesOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

TEST(JsonScript, CannotBeEndedByATextInIt) {
  EXPECT_EQ(json_script(R"({"a": "</script>"})"),
            "<script type=\"application/json\">{\"a\": \"\\u003c/script>\"}</script>\n");
}

}  // namespace
}  // namespace nmt::markup_test
