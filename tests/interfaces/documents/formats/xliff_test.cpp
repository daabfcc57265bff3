#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "documents/document.h"
#include "documents/formats/formats.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::xliff_test {
namespace {

using test::dictionary;
using test::listing;
using test::message_of;
using test::reverse_words;
using test::shout;
using testing::ElementsAre;
using testing::HasSubstr;

std::string one(const std::string& units, const TranslateTexts& translate) {
  const std::string head = "<xliff version=\"1.2\"><file><body>", tail = "</body></file></xliff>";
  const auto out = translate_document(DocumentFormat::kXliff, head + units + tail, translate);
  EXPECT_TRUE(out.starts_with(head) && out.ends_with(tail)) << out;
  return out.substr(head.size(), out.size() - head.size() - tail.size());
}

TEST(Xliff, AddsTargets) {
  EXPECT_EQ(one("<trans-unit id=\"1\">\n <source>a &amp; b</source>\n</trans-unit>", shout),
            "<trans-unit id=\"1\">\n <source>a &amp; b</source>\n <target state=\"needs-review-translation\">A &amp; "
            "B</target>\n</trans-unit>");
  EXPECT_EQ(
      one("<trans-unit id=\"1\"><source>a</source><target xml:lang=\"de\"/></trans-unit>", shout),
      "<trans-unit id=\"1\"><source>a</source><target xml:lang=\"de\" state=\"needs-review-translation\">A</target>"
      "</trans-unit>");
  EXPECT_EQ(
      one("<trans-unit id=\"1\"><source>a</source><target state=\"new\"> </target></trans-unit>", shout),
      "<trans-unit id=\"1\"><source>a</source><target state=\"needs-review-translation\">A</target></trans-unit>");
}

TEST(Xliff, LeavesTargetsAndWhatIsNotTranslated) {
  for (const auto* unit : {"<trans-unit id=\"1\"><source>a</source><target>b</target></trans-unit>",
                           "<trans-unit id=\"1\" translate=\"no\"><source>a</source></trans-unit>",
                           "<group translate=\"no\"><trans-unit id=\"1\"><source>a</source></trans-unit></group>",
                           "<trans-unit id=\"1\"><source>12</source></trans-unit>"})
    EXPECT_EQ(one(unit, shout), unit);
}

// Trados and others write targets that hold marks and no text.
TEST(Xliff, FillsTheMarksThatAreEmpty) {
  const std::string source =
      "<source>a. b.</source><seg-source><mrk mid=\"1\" mtype=\"seg\">a.</mrk> <mrk mid=\"2\" "
      "mtype=\"seg\">b <g id=\"3\">c</g>.</mrk></seg-source>";
  const auto unit = [&](const std::string& target) {
    return "<trans-unit id=\"1\">" + source + target + "</trans-unit>";
  };
  const std::string filled = "<target state=\"needs-review-translation\"><mrk mid=\"1\" mtype=\"seg\">";
  EXPECT_EQ(one(unit("<target><mrk mid=\"1\" mtype=\"seg\"/> <mrk mid=\"2\" mtype=\"seg\"/></target>"), shout),
            unit(filled + "A.</mrk> <mrk mid=\"2\" mtype=\"seg\">B <g id=\"3\">C</g>.</mrk></target>"));
  EXPECT_EQ(one(unit("<target state=\"new\"><mrk mid=\"1\" mtype=\"seg\">x</mrk> <mrk mid=\"2\" mtype=\"seg\"> "
                     "</mrk></target>"),
                shout),
            unit(filled + "x</mrk> <mrk mid=\"2\" mtype=\"seg\">B <g id=\"3\">C</g>.</mrk></target>"));
}

TEST(Xliff, TranslatesCopiesOfTheSourceWhoseStateAsksForIt) {
  for (const std::string state : {"new", "needs-translation"})
    EXPECT_EQ(
        one("<trans-unit id=\"1\"><source>a</source><target state=\"" + state + "\">a</target></trans-unit>", shout),
        "<trans-unit id=\"1\"><source>a</source><target state=\"needs-review-translation\">A</target></trans-unit>");
  const std::string head = "<xliff version=\"2.0\"><file id=\"f\"><unit id=\"u\"><segment state=\"";
  const std::string tail = "</target></segment></unit></file></xliff>";
  EXPECT_EQ(translate_document(DocumentFormat::kXliff, head + "initial\"><source>a</source><target>a" + tail, shout),
            head + "translated\"><source>a</source><target>A" + tail);
  for (const auto* unit : {"<trans-unit id=\"1\"><source>a</source><target state=\"final\">a</target></trans-unit>",
                           "<trans-unit id=\"1\"><source>a</source><target>a</target></trans-unit>"})
    EXPECT_EQ(one(unit, shout), unit);
}

// translate-toolkit 3.13.3 writes the attribute at every unit.
TEST(Xliff, KeepsLines) {
  const auto unit = [](const std::string& text, const std::string& target) {
    return "<trans-unit id=\"1\" xml:space=\"preserve\"><source>" + text + "</source>" + target + "</trans-unit>";
  };
  const std::string text = "one two\nthree\n\n  - four\n";
  EXPECT_EQ(one(unit(text, ""), reverse_words),
            unit(text, "<target state=\"needs-review-translation\">TWO ONE\nTHREE\n\n  FOUR -\n</target>"));
  EXPECT_EQ(one("<trans-unit id=\"1\"><source>a<x id=\"1\" ctype=\"lb\"/>b</source></trans-unit>",
                dictionary({{"a b", {"c d", "0-0 1-1"}}})),
            "<trans-unit id=\"1\"><source>a<x id=\"1\" ctype=\"lb\"/>b</source><target "
            "state=\"needs-review-translation\">c<x id=\"1\" ctype=\"lb\"/>d</target></trans-unit>");
}

TEST(Xliff, MovesInlineElements) {
  EXPECT_EQ(one("<trans-unit id=\"1\"><source>a <g id=\"1\">red</g> house<x id=\"2\"/></source></trans-unit>",
                dictionary({{"a red house", {"une maison rouge", "0-0 1-2 2-1"}}})),
            "<trans-unit id=\"1\"><source>a <g id=\"1\">red</g> house<x id=\"2\"/></source><target "
            "state=\"needs-review-translation\">une maison <g id=\"1\">rouge</g><x id=\"2\"/></target></trans-unit>");
  EXPECT_EQ(
      one("<trans-unit id=\"1\"><source>a <bpt id=\"1\">{b</bpt>red<ept id=\"1\">}</ept> house</source></trans-unit>",
          reverse_words),
      "<trans-unit id=\"1\"><source>a <bpt id=\"1\">{b</bpt>red<ept id=\"1\">}</ept> house</source><target "
      "state=\"needs-review-translation\">HOUSE <bpt id=\"1\">{b</bpt>RED<ept id=\"1\">}</ept> "
      "A</target></trans-unit>");
}

// Codes of translators' tools stand for something: where that is a line break, words do not touch over it.
TEST(Xliff, CodesThatStandForLineBreaksSeparateWords) {
  std::vector<std::string> seen;
  for (const auto* code : {"<ph id=\"1\">&lt;br/&gt;</ph>", "<ph id=\"1\">&lt;text:line-break/&gt;</ph>",
                           "<x id=\"1\" equiv-text=\"&lt;BR&gt;\"/>", "<it id=\"1\" pos=\"open\">\\n</it>"}) {
    one("<trans-unit id=\"1\"><source>one" + std::string(code) + "two</source></trans-unit>", listing(seen));
    EXPECT_THAT(seen, ElementsAre("one two")) << code;
  }
  one("<trans-unit id=\"1\"><source>one<ph id=\"1\">&lt;wbr&gt;</ph>two</source></trans-unit>", listing(seen));
  EXPECT_THAT(seen, ElementsAre("onetwo"));
  const auto unit = [](const std::string& data) {
    return "<unit id=\"u\"><originalData><data id=\"d1\">" + data +
           "</data></originalData><segment><source>one<ph id=\"1\" dataRef=\"d1\"/>two</source></segment></unit>";
  };
  translate_document(DocumentFormat::kXliff,
                     "<xliff version=\"2.0\"><file id=\"f\">" + unit("&lt;br /&gt;") + unit("{0}") + "</file></xliff>",
                     listing(seen));
  EXPECT_THAT(seen, ElementsAre("one two", "onetwo"));
}

TEST(Xliff, FillsSegmentsOfVersionTwo) {
  EXPECT_EQ(translate_document(
                DocumentFormat::kXliff,
                "<xliff version=\"2.0\"><file id=\"f\"><unit id=\"u\"><segment><source>a <pc id=\"1\">b</pc> <ph "
                "id=\"2\"/>c</source></segment><segment state=\"initial\"><source>d <sc id=\"3\"/>e<ec "
                "startRef=\"3\"/></source></segment></unit></file></xliff>",
                shout),
            "<xliff version=\"2.0\"><file id=\"f\"><unit id=\"u\"><segment state=\"translated\"><source>a <pc "
            "id=\"1\">b</pc> "
            "<ph id=\"2\"/>c</source><target>A <pc id=\"1\">B</pc> <ph id=\"2\"/>C</target></segment><segment "
            "state=\"translated\"><source>d <sc id=\"3\"/>e<ec startRef=\"3\"/></source><target>D <sc id=\"3\"/>E<ec "
            "startRef=\"3\"/></target></segment></unit></file></xliff>");
}

TEST(Xliff, TakesMarksThatNestDeeperThanElementsMay) {
  // <sc/> and <ec/> are siblings, so no limit of elements holds: 20,000 of them overflowed the stack.
  const auto times = [](size_t count, const std::string& what) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += what;
    return out;
  };
  for (const auto& [begin, end] :
       {std::pair("<sc id=\"1\"/>", "<ec startRef=\"1\"/>"), std::pair("<bx id=\"1\"/>", "<ex id=\"1\"/>"),
        std::pair("<bpt id=\"1\">{</bpt>", "<ept id=\"1\">}</ept>")}) {
    const std::string before = times(5000, begin), behind = times(5000, end);
    const std::string source = "<source>a man " + before + "sits down" + behind + " here</source>";
    // They end the texts, so that each keeps its place.
    EXPECT_EQ(one("<trans-unit id=\"1\">" + source + "</trans-unit>", reverse_words),
              "<trans-unit id=\"1\">" + source + "<target state=\"needs-review-translation\">MAN A " + before +
                  "DOWN SITS" + behind + " HERE</target></trans-unit>");
  }
}

TEST(Xliff, RefusesOtherXml) {
  EXPECT_THAT(message_of<Error>([] { translate_document(DocumentFormat::kXliff, "<a>b</a>", shout); }),
              HasSubstr("not <xliff>"));
}

}  // namespace
}  // namespace nmt::documents::xliff_test
