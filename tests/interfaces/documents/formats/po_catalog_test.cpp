#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/formats/formats.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::po_catalog_test {
namespace {

using test::message_of;
using test::reverse_words;
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
            "#, fuzzy\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"x\"\nmsgstr[1] \"B\"\n");  // what is filled stays
}

TEST(PoCatalog, KeepsLinesEscapesAndTags) {
  EXPECT_EQ(
      translate_po("msgid \"\"\n\"say \\\"<b>no</b>\\\"\\n\"\n\"\\ttwice\\n\"\nmsgstr \"\"\n", shout),
      "#, fuzzy\nmsgid \"\"\n\"say \\\"<b>no</b>\\\"\\n\"\n\"\\ttwice\\n\"\nmsgstr \"\"\n\"SAY \\\"<b>NO</b>\\\"\\n\"\n"
      "\"\\tTWICE\\n\"\n");
  EXPECT_EQ(translate_po("msgid \"copy <file> now\"\nmsgstr \"\"\n", shout),
            "#, fuzzy\nmsgid \"copy <file> now\"\nmsgstr \"COPY <file> NOW\"\n");
}

TEST(PoCatalog, KeepsColumns) {
  EXPECT_EQ(translate_po("msgid \"Name:\\ta value\\n\"\nmsgstr \"\"\n", reverse_words),
            "#, fuzzy\nmsgid \"Name:\\ta value\\n\"\nmsgstr \"NAME:\\tVALUE A\\n\"\n");
}

TEST(PoCatalog, ReadsEscapesOfBytesAsGettextDoes) {
  // Octal ones as msgcat --escape writes them: up to three digits. Of hexadecimal ones all digits count.
  for (const auto& [id, text] : {std::pair(R"(\101t 10\0609)", "AT 1009"),
                                 {R"(\x41t\x20it\x2e)", "AT IT."},
                                 {R"(caf\303\251 now)", "CAF\u00E9 NOW"},
                                 {R"(say \042a\x22 \\101)", R"(SAY \"A\" \\101)"},
                                 {R"(a\x1441 b)", "AA B"},
                                 {R"(one\12)", R"(ONE\n)"}}) {
    const std::string entry = std::string("msgid \"") + id + "\"\n";
    EXPECT_EQ(translate_po(entry + "msgstr \"\"\n", shout), "#, fuzzy\n" + entry + "msgstr \"" + text + "\"\n");
  }
  // A character over two lines.
  EXPECT_EQ(translate_po("msgid \"caf\\303\"\n\"\\251\"\nmsgstr \"\"\n", shout),
            "#, fuzzy\nmsgid \"caf\\303\"\n\"\\251\"\nmsgstr \"CAF\u00E9\"\n");
}

TEST(PoCatalog, LeavesEntriesWithEscapesThatNoTranslationTakesOver) {
  for (const char* id : {R"(a \abell)", R"(a \back)", R"(a \form)", R"(a \v)", R"(a\0b)", R"(a\177)", R"(a\x1b[0m)",
                         R"(a\303b)", R"(a\xc3 b)", R"(it\'s)", R"(a\x)", R"(a\xg)", R"(a\8)"}) {
    const std::string entry = std::string("msgid \"") + id + "\"\nmsgstr \"\"\n";
    EXPECT_EQ(translate_po(entry + "\nmsgid \"b\"\nmsgstr \"\"\n", shout),
              entry + "\n#, fuzzy\nmsgid \"b\"\nmsgstr \"B\"\n");
  }
  for (const auto& [singular, plural] : {std::pair("a \\a", "b"), {"a", "b \\a"}}) {
    const std::string entry =
        std::string("msgid \"") + singular + "\"\nmsgid_plural \"" + plural + "\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
    EXPECT_EQ(translate_po(entry, shout), entry);
  }
}

TEST(PoCatalog, MarksOnceAnEntryWithSeveralLinesOfFlags) {
  const std::string rest = "msgid \"a\"\nmsgstr \"\"\n", filled = "msgid \"a\"\nmsgstr \"A\"\n";
  EXPECT_EQ(translate_po("#, fuzzy\n#, c-format\n" + rest, shout), "#, fuzzy\n#, c-format\n" + filled);
  EXPECT_EQ(translate_po("#, c-format\n#, fuzzy\n" + rest, shout), "#, c-format\n#, fuzzy\n" + filled);
  EXPECT_EQ(translate_po("#, c-format\n#, no-wrap\n" + rest, shout), "#, c-format\n#, fuzzy, no-wrap\n" + filled);
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
}  // namespace nmt::documents::po_catalog_test
