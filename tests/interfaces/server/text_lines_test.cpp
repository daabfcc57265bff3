#include <gmock/gmock.h>

#include "server/answer_json.h"

namespace nmt::text_lines_test {
namespace {

using testing::ElementsAre;

TEST(TextLines, OneLine) {
  const TextLines text("Guten Morgen.");
  EXPECT_THAT(text.lines(), ElementsAre("Guten Morgen."));
  EXPECT_EQ(text.with(std::vector<std::string>{"Good morning."}), "Good morning.");
}

TEST(TextLines, NothingToTranslate) {
  for (const char* blank : {"", "\n", "\r\n", "\n\n\r\n"}) {
    EXPECT_THAT(TextLines(blank).lines(), ElementsAre());
    EXPECT_EQ(TextLines(blank).with({}), blank);
  }
}

TEST(TextLines, WhatHasNoLettersStays) {
  for (const char* text : {" \t\u00a0 \n  ", "12.5", "?!\n\n---", "😀\r\n🙂"}) {
    EXPECT_THAT(TextLines(text).lines(), ElementsAre());
    EXPECT_EQ(TextLines(text).with({}), text);
  }
  const TextLines mixed("1.\nein Haus\n 😀 \n2.");
  EXPECT_THAT(mixed.lines(), ElementsAre("ein Haus"));
  EXPECT_EQ(mixed.with(std::vector<std::string>{"a house"}), "1.\na house\n 😀 \n2.");
}

TEST(TextLines, LineEndsAndBlankLinesStay) {
  const TextLines text("\n\na\r\nb c\n \r\nd\n\n");
  EXPECT_THAT(text.lines(), ElementsAre("a", "b c", "d"));
  EXPECT_EQ(text.with(std::vector<std::string>{"1", "2", "3"}), "\n\n1\r\n2\n \r\n3\n\n");
  EXPECT_EQ(TextLines("a\nb").with(std::vector<std::string>{"1", ""}), "1\n");
}

TEST(TextLines, ACarriageReturnInsideALineIsText) {
  EXPECT_THAT(TextLines("a\rb\r\rc").lines(), ElementsAre("a\rb\r\rc"));
  EXPECT_THAT(TextLines("a\r\r\nb").lines(), ElementsAre("a\r", "b"));
}

}  // namespace
}  // namespace nmt::text_lines_test
