#include <gtest/gtest.h>

#include "documents/tokens/markup_token.h"

namespace nmt::documents::entities_test {
namespace {

TEST(Entities, NamesAndNumbers) {
  EXPECT_EQ(decode_entities("&lt;&amp;&nbsp;&euro;&#65;&#x1F600;&apos;", EntitySet::kHtml),
            "<&\u00A0\u20ACA\U0001F600'");
  EXPECT_EQ(decode_entities("&AElig;&zwnj;&Alpha;&aacute;", EntitySet::kHtml), "\u00C6\u200C\u0391\u00E1");
  EXPECT_EQ(decode_entities("&nbsp;&lt;&#x41;", EntitySet::kXml), "&nbsp;<A");
  EXPECT_EQ(decode_entities("&nbsp;&copy", EntitySet::kXhtml), "\u00A0&copy");
}

TEST(Entities, OldNamesMayLackTheirSemicolon) {
  EXPECT_EQ(decode_entities("&copy 1 &eacute.&amp&lt &euro &hellip", EntitySet::kHtml),
            "\u00A9 1 \u00E9.&< &euro &hellip");
}

TEST(Entities, NumbersOfWindows1252) { EXPECT_EQ(decode_entities("&#128;&#150;", EntitySet::kHtml), "\u20AC\u2013"); }

TEST(Entities, OthersStay) {
  for (const auto* text : {"&", "& ", "&;", "&x", "&unknown;", "&#;", "&#x;", "&#xZ;", "&#0;", "&#xD800;", "&#x110000;",
                           "&#99999999999;", "&#1;", "&#xFFFE;"})
    EXPECT_EQ(decode_entities(text, EntitySet::kHtml), text);
}

TEST(Entities, AreEncoded) {
  EXPECT_EQ(encode_entities("<a b='c\"'> & \u00E9"), "&lt;a b='c\"'&gt; &amp; \u00E9");
  EXPECT_EQ(encode_entities("'\"", '"'), "'&quot;");
  EXPECT_EQ(encode_entities("'\"", '\''), "&#39;\"");
}

}  // namespace
}  // namespace nmt::documents::entities_test
