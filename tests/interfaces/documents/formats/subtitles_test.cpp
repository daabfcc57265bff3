#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/document.h"
#include "documents/formats/formats.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::subtitles_test {
namespace {

using test::dictionary;
using test::listing;
using test::message_of;
using test::shout;
using testing::ElementsAre;
using testing::HasSubstr;

std::string srt(const std::string& text, const TranslateTexts& translate) {
  return translate_document(DocumentFormat::kSrt, text, translate);
}

TEST(Subtitles, JoinsTheLinesOfACue) {
  std::vector<std::string> seen;
  const std::string text =
      "1\n00:00:01,000 --> 00:00:02,000\nOne line\nand <i>another</i>\n\n2\n00:00:03,000 --> 00:00:04,000\n"
      "- Yes.\n\u2013No.\n-5 degrees\n";
  EXPECT_EQ(srt(text, listing(seen)), text);
  EXPECT_THAT(seen, ElementsAre("One line and another", "Yes.", "No.", "-5 degrees"));
}

TEST(Subtitles, CutsTheTranslationIntoAsManyLinesAtMost) {
  const std::string head = "1\r\n00:00:01,000 --> 00:00:02,000\r\n";
  EXPECT_EQ(srt(head + "one two\r\nthree four\r\n\r\n",
                dictionary({{"one two three four", {"eins zwei drei vier fuenf sechs sieben", "0-0"}}})),
            head + "eins zwei drei vier\r\nfuenf sechs sieben\r\n\r\n");
  EXPECT_EQ(srt(head + "one two\r\nthree four\r\n", dictionary({{"one two three four", {"eins", "0-0"}}})),
            head + "eins\r\n");
  EXPECT_EQ(srt(head + "one two\r\n", dictionary({{"one two", {"eine ganz lange Zeile", ""}}})),
            head + "eine ganz lange Zeile\r\n");
}

TEST(Subtitles, KeepsTags) {
  const std::string head = "1\n00:00:01,000 --> 00:00:02,000\n";
  EXPECT_EQ(srt(head + "{\\an8}<i>one\ntwo</i> & <b>three\n", shout), head + "{\\an8}<i>ONE TWO</i>\n& <b>THREE\n");
  EXPECT_EQ(srt(head + "a <font color=\"red\">red</font> house\n",
                dictionary({{"a red house", {"une maison rouge", "0-0 1-2 2-1"}}})),
            head + "une maison <font color=\"red\">rouge</font>\n");
}

TEST(Subtitles, WebVttKeepsNotesStylesAndSettings) {
  const std::string text =
      "WEBVTT - a title\n\nNOTE\nkept\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:x\n\nintro\n00:01.000 --> 00:02.000 "
      "align:start\n<v Ann>hello <c.x>big</c> &amp; <00:01.500>small\n\n00:03.000 --> 00:04.000\nbye\n";
  std::string expected = text;
  for (const auto& [from, to] : {std::pair("hello", "HELLO"), {"big", "BIG"}, {"small", "SMALL"}, {"bye", "BYE"}})
    expected.replace(expected.find(from), std::string(from).size(), to);
  EXPECT_EQ(translate_document(DocumentFormat::kVtt, text, shout), expected);
}

// pysubs2 1.8.0 and srt 3.5.3 read these cues.
TEST(Subtitles, TimesBeginACueWhateverStandsBeforeThem) {
  std::vector<std::string> seen;
  for (const std::string end : {"\n", "\r\n"}) {
    const std::string text = "1" + end + "00:00:01,000 --> 00:00:02,000" + end + "One line." + end + "2" + end +
                             "00:00:03,000 --> 00:00:04,000" + end + "See page --> three." + end + end + "3" + end +
                             "00:00:05,000 --> 00:00:06,000" + end + "Last." + end;
    EXPECT_EQ(srt(text, listing(seen)), text);
    EXPECT_THAT(seen, ElementsAre("One line.", "See page --> three.", "Last."));
  }
  const std::string vtt = "WEBVTT\n\n1\n00:01.000 --> 00:02.000 align:start\none\n2\n00:03.000 --> 00:04.000\ntwo\n";
  EXPECT_EQ(translate_document(DocumentFormat::kVtt, vtt, listing(seen)), vtt);
  EXPECT_THAT(seen, ElementsAre("one", "two"));
}

TEST(Subtitles, TextBehindAnEmptyLineBelongsToItsCue) {
  const std::string head = "1\n00:00:01,000 --> 00:00:02,000\n", next = "\n2\n00:00:03,000 --> 00:00:04,000\n";
  EXPECT_EQ(srt(head + "one\n\ntwo\n7\n" + next + "three\n", shout), head + "ONE\n\nTWO\n7\n" + next + "THREE\n");
}

TEST(Subtitles, AReadingIsNoText) {
  std::vector<std::string> seen;
  const std::string text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<ruby>\u6771\u4EAC<rt>\u3068\u3046</rt></ruby>\u306B\n";
  EXPECT_EQ(translate_document(DocumentFormat::kVtt, text, listing(seen)), text);
  EXPECT_THAT(seen, ElementsAre("\u6771\u4EAC\u306B"));
}

TEST(Subtitles, RefusesOtherFiles) {
  EXPECT_THAT(message_of<Error>([] { srt("Just a text\n", shout); }), HasSubstr("SRT, line 1"));
  EXPECT_THAT(message_of<Error>([] { translate_document(DocumentFormat::kVtt, "1\n", shout); }), HasSubstr("WEBVTT"));
  EXPECT_THAT(message_of<Error>([] { srt("1\n\xE9\n", shout); }), HasSubstr("SRT, line 2"));
  EXPECT_EQ(srt("", shout), "");
}

}  // namespace
}  // namespace nmt::documents::subtitles_test
