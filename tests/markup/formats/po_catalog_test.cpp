#include "markup/formats/po_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "markup/toy_translators.h"
#include "support.h"

namespace nmt::markup::po_catalog_test {
namespace {

using test::message_of;
using test::shout;
using testing::HasSubstr;

const std::string kHeader =
    "# A title\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\"Plural-Forms: nplurals=3; plural=(n != 1);\\n\"\n\n";

TEST(PoCatalog, FillsEmptyEntriesAndMarksThem) {
  EXPECT_EQ(
      translate_po(kHeader +
                       "#: a.c:1\n#, c-format\nmsgid \"one %s\"\nmsgstr \"\"\n\nmsgid \"two\"\nmsgstr \"zwei\"\n\n"
                       "#~ msgid \"old\"\n#~ msgstr \"\"\n\nmsgctxt \"menu\"\nmsgid \"three\"\nmsgstr \"\"\n",
                   shout),
      kHeader +
          "#: a.c:1\n#, fuzzy, c-format\nmsgid \"one %s\"\nmsgstr \"ONE %S\"\n\nmsgid \"two\"\nmsgstr \"zwei\"\n\n"
          "#~ msgid \"old\"\n#~ msgstr \"\"\n\n#, fuzzy\nmsgctxt \"menu\"\nmsgid \"three\"\nmsgstr \"THREE\"\n");
}

TEST(PoCatalog, FillsAllPluralForms) {
  EXPECT_EQ(translate_po(kHeader + "msgid \"a file\"\nmsgid_plural \"files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n", shout),
            kHeader +
                "#, fuzzy\nmsgid \"a file\"\nmsgid_plural \"files\"\nmsgstr[0] \"A FILE\"\nmsgstr[1] \"FILES\"\n"
                "msgstr[2] \"FILES\"\n");
  EXPECT_EQ(translate_po("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"x\"\nmsgstr[1] \"\"\n", shout),
            "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"x\"\nmsgstr[1] \"\"\n");
}

TEST(PoCatalog, KeepsLinesEscapesAndTags) {
  EXPECT_EQ(
      translate_po("msgid \"\"\n\"say \\\"<b>no</b>\\\"\\n\"\n\"\\ttwice\\n\"\nmsgstr \"\"\n", shout),
      "#, fuzzy\nmsgid \"\"\n\"say \\\"<b>no</b>\\\"\\n\"\n\"\\ttwice\\n\"\nmsgstr \"\"\n\"SAY \\\"<b>NO</b>\\\"\\n\"\n"
      "\"\\tTWICE\\n\"\n");
  EXPECT_EQ(translate_po("msgid \"copy <file> now\"\nmsgstr \"\"\n", shout),
            "#, fuzzy\nmsgid \"copy <file> now\"\nmsgstr \"COPY <file> NOW\"\n");
}

TEST(PoCatalog, RefusesWhatIsNoCatalog) {
  for (const auto& [text, message] : {std::pair("hello\n", "PO, line 1: a keyword"),
                                      {"msgid \"a\nmsgstr \"\"\n", "PO, line 1: a text without its closing quote"},
                                      {"msgid \"a\\\"\nmsgstr \"\"\n", "PO, line 1: a text without its closing quote"},
                                      {"\"a\"\n", "PO, line 1: a text that belongs to no keyword"},
                                      {"word \"a\"\n", "PO, line 1: not a keyword"}})
    EXPECT_THAT(message_of<Error>([&] { translate_po(text, shout); }), HasSubstr(message)) << text;
  EXPECT_EQ(translate_po("", shout), "");
}

}  // namespace
}  // namespace nmt::markup::po_catalog_test
