// Documents as real programs write them (fixtures/make_fixtures.py has their versions), read without these programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "documents/document.h"
#include "documents/markup_checks.h"
#include "documents/packages/packaged_document.h"
#include "documents/tokens/xml_tokenizer.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::documents::fixtures_test {
namespace {

using Texts = std::vector<std::string>;

std::string fixture(const std::string& name) {
  return read_file(test::source_directory() / "tests/interfaces/documents/fixtures" / name);
}

std::string translated(const std::string& name, const TranslateTexts& translate, Texts* warnings = nullptr) {
  return translate_document(require_document_format(name).format, fixture(name), translate, {}, warnings);
}

Texts operator+(Texts a, const Texts& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Texts kPlants = {"The garden in spring",
                       "The unusual plants grow in small pots.",
                       "Water them 2\u20113 times a week; rainwater is best.",
                       "Start",
                       "Plants",
                       "Contact"};
const Texts kTrains = {"Trains to \u6771\u4EAC leave at noon.", "The first line and the second."};
const Texts kTools = {"Text beside the frame.", "one spade", "two rakes", "Red pot", "End."};
const std::string kFifteenNoBreakSpaces =
    "\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0\u00A0";
const Texts kFilm = {"The train is late.", "We never wait for so long.", "Who is there?",
                     "Only me.",           "One part. Another part.",    "See page --> three."};
const Texts kLines = {"Open the file",  "Save",
                      "The first line", "and the second line, which is long enough to be wrapped by the program.",
                      "Name:",          "value",
                      "%d page",        "%d pages"};

const std::vector<std::pair<std::string, Texts>>& documents() {
  static const std::vector<std::pair<std::string, Texts>> all = {
      {"libreoffice/report.docx", Texts{"Is this true?"} + kPlants + kTrains +
                                      Texts{"Name Price", "Some seeds are rare.", "They are cheap in autumn.",
                                            "A note in a frame.", "A note in a frame."} +
                                      kTools + Texts{"Page of the report", "Ask for them early.", "Notes on plants"}},
      {"libreoffice/report.odt",
       kPlants + kTrains +
           Texts{"Name Price", "Some seeds are rare.", "Ask for them early.", "They are cheap in autumn.",
                 "Is this true?", "A note in a frame.", "A box with a note"} +
           kTools + Texts{"Notes on plants", "Page of the report"}},
      // LibreOffice shows deleted text in these two, and writes a tab of EPUB as no-break spaces and a space.
      {"libreoffice/report.html",
       Texts{"header", "Notes on plants"} + kPlants + kTrains +
           Texts{"Name Price", "Some seeds are rare.", "They are very cheap in autumn.", "Box"} + kTools +
           Texts{"1 Ask for them early.", "footer", "Page 1 of the report"}},
      {"libreoffice/report.epub", Texts{"The garden in spring", "The garden in spring"} + kPlants + kTrains +
                                      Texts{"Name" + kFifteenNoBreakSpaces + " Price", "Some seeds are rare.",
                                            "They are very cheap in autumn.", "A note in a frame."} +
                                      kTools + Texts{"Ask for them early."}},
      {"libreoffice/slides.odp",
       {"How a lamp works", "The wire becomes warm.", "Press the switch and wait.", "Parts", "Tools",
        "Show the old lamp first."}},
      {"libreoffice/slides.pptx",
       {"Show the old lamp first.", "How a lamp works", "The wire becomes warm.", "Press the switch and wait.", "Parts",
        "Tools"}},
      {"python_docx/letter.docx",
       {"Check the time.", "Opening hours", "The reading room opens at nine.", "Call 5\u201155 in the afternoon.",
        "Home", "Books", "Help", "See this page", "Street Number Town", "Monday", "9 to 5", "Bring your card",
        "From the library"}},
      {"python_pptx/shop.pptx",
       {"Speak slowly here.", "Our bicycle shop", "Repairs take one day.", "Bring the front wheel only. Ask first.",
        "Map", "Prices", "Tyre"}},
      {"ebooklib/walk.epub",
       {"The hill", "The hill", "We unpacked our lunch.", "The lake", "The lake", "It was cold and deep.",
        "\u6771\u4EAC is far.", "A short walk", "The hill", "The lake", "A short walk", "A short walk", "The hill",
        "The lake"}},
      {"pysubs2/film.srt", kFilm},
      {"pysubs2/film.vtt", kFilm},
      {"webvtt/talk.vtt",
       {"Good evening, and welcome.", "Is it really so?", "\u6771\u4EAC is far away.", "Fish & chips"}},
      // webvtt-py writes the reading behind its word here, and the entity, which SRT does not know.
      {"webvtt/talk.srt",
       {"Good evening, and welcome.", "Is it really so?", "\u6771\u4EAC\u3068\u3046\u304D\u3087\u3046 is far away.",
        "Fish &amp; chips"}},
  };
  return all;
}

TEST(Fixtures, TextsThatReachTheModel) {
  for (const auto& [name, texts] : documents()) {
    Texts seen, warnings;
    EXPECT_EQ(translated(name, test::listing(seen), &warnings), fixture(name)) << name;
    EXPECT_EQ(seen, texts) << name;
    EXPECT_TRUE(warnings.empty()) << name;
  }
}

/// The tags of a part, without those of runs: each run of words of one form is written as one.
Texts tags_of_part(const std::string& name, const std::string& bytes) {
  auto markup = name.ends_with(".html") ? tokenize_html(bytes, 100) : tokenize_xml(bytes, 100, name);
  const std::set<std::string_view> run = {"w:r", "w:t", "a:r", "a:t", "w:noBreakHyphen", "w:softHyphen"};
  std::vector<Token> others;
  for (size_t i = 0; i < markup.tokens.size(); ++i) {
    const Token& token = markup.tokens[i];
    const bool is_tag =
        token.kind == TokenKind::kStartTag || token.kind == TokenKind::kEndTag || token.kind == TokenKind::kEmptyTag;
    const auto tag = is_tag ? markup.name(token) : std::string_view();
    if ((tag == "w:rPr" || tag == "a:rPr") && token.kind == TokenKind::kStartTag)
      i = token.content_end;
    else if (tag != "w:rPr" && tag != "a:rPr" && !run.contains(tag))
      others.push_back(token);
  }
  markup.tokens = std::move(others);
  return test::tags_of(markup);
}

TEST(Fixtures, WhatIsNoTextStaysWhenTextChanges) {
  for (const auto& [name, texts] : documents()) {
    const std::string before = fixture(name), after = translated(name, test::shout);
    EXPECT_NE(before, after) << name;
    if (name.ends_with(".srt") || name.ends_with(".vtt")) {
      // pysubs2 writes an arrow into a cue of WebVTT as it is; the standard has it encoded there.
      EXPECT_EQ(decode_entities(lower_name(before), EntitySet::kHtml),
                decode_entities(lower_name(after), EntitySet::kHtml))
          << name;
      continue;
    }
    if (name.ends_with(".html")) {
      EXPECT_EQ(tags_of_part(name, before), tags_of_part(name, after)) << name;
      continue;
    }
    const auto old_parts = open_package(before, {}), new_parts = open_package(after, {});
    ASSERT_EQ(old_parts.names(), new_parts.names()) << name;
    for (const auto& part : old_parts.names()) {
      if (part.ends_with('/')) continue;
      const auto old_bytes = old_parts.read(part), new_bytes = new_parts.read(part);
      if (old_bytes == new_bytes) continue;
      EXPECT_EQ(tags_of_part(part, old_bytes), tags_of_part(part, new_bytes)) << part;
    }
  }
}

/// The fixture with each of the first replaced by its second; each stands once in it.
std::string replaced(const std::string& name, const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = fixture(name);
  for (const auto& [from, to] : changes) {
    const size_t found = text.find(from);
    EXPECT_TRUE(found != text.npos && text.find(from, found + 1) == text.npos) << name << ": " << from;
    if (found != text.npos) text.replace(found, from.size(), to);
  }
  return text;
}

TEST(Fixtures, EmptyTextsOfCatalogsAreFilled) {
  const std::string plain = "#, fuzzy\nmsgid \"";
  const std::string lines =
      "\"The first line\\n\"\n\"and the second line, which is long enough to be wrapped by the program.\\n\"\n";
  const std::string shouted =
      "\"THE FIRST LINE\\n\"\n\"AND THE SECOND LINE, WHICH IS LONG ENOUGH TO BE WRAPPED BY THE PROGRAM.\\n\"\n";
  std::vector<std::pair<std::string, std::string>> changes = {
      {"msgid \"Open the file\"\nmsgstr \"\"", plain + "Open the file\"\nmsgstr \"OPEN THE FILE\""},
      {"msgctxt \"menu\"\nmsgid \"Save\"\nmsgstr \"\"", "#, fuzzy\nmsgctxt \"menu\"\nmsgid \"Save\"\nmsgstr \"SAVE\""},
      {"msgid \"\"\n" + lines + "msgstr \"\"\n", plain + "\"\n" + lines + "msgstr \"\"\n" + shouted},
      {"msgid \"Name:\\tvalue\"\nmsgstr \"\"", plain + "Name:\\tvalue\"\nmsgstr \"NAME:\\tVALUE\""},
      {"#, c-format\nmsgid \"%d page\"\nmsgid_plural \"%d pages\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"",
       "#, fuzzy, c-format\nmsgid \"%d page\"\nmsgid_plural \"%d pages\"\nmsgstr[0] \"%D PAGE\"\nmsgstr[1] \"%D "
       "PAGES\""},
      {"msgid \"A window\"\nmsgid_plural \"All windows\"\nmsgstr[0] \"Ein Fenster\"\nmsgstr[1] \"\"",
       plain + "A window\"\nmsgid_plural \"All windows\"\nmsgstr[0] \"Ein Fenster\"\nmsgstr[1] \"ALL WINDOWS\""},
      {"msgid \"Close <b>all</b> windows\"\nmsgstr \"\"",
       plain + "Close <b>all</b> windows\"\nmsgstr \"CLOSE <b>ALL</b> WINDOWS\""},
      {"msgid \"A \\\"quoted\\\" word\"\nmsgstr \"\"",
       plain + "A \\\"quoted\\\" word\"\nmsgstr \"A \\\"QUOTED\\\" WORD\""},
  };
  Texts warnings;
  EXPECT_EQ(translated("polib/program.po", test::shout, &warnings), replaced("polib/program.po", changes));
  EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr("1 entries")));
  // OmegaT keeps no guess, so that the entry is empty.
  changes.emplace_back("msgid \"A guess\"\nmsgstr \"\"", plain + "A guess\"\nmsgstr \"A GUESS\"");
  EXPECT_EQ(translated("omegat/program.po", test::shout), replaced("omegat/program.po", changes));

  Texts seen;
  translated("polib/program.po", test::listing(seen));
  EXPECT_EQ(seen, kLines + Texts({"A window", "All windows", "Close all windows", "A \"quoted\" word"}));
}

TEST(Fixtures, EmptyTargetsAreFilled) {
  const std::string review = "<target state=\"needs-review-translation\">";
  const std::string start = "<source>Start again</source>", space = "\n        ";
  for (const auto& [name, empty] :
       {std::pair<std::string, std::string>("translate_toolkit/states.xlf",
                                            "<target state=\"needs-translation\"></target>"),
        {"omegat/states.xlf", "<target state=\"needs-translation\"/>"}}) {
    Texts warnings;
    EXPECT_EQ(translated(name, test::shout, &warnings),
              replaced(name, {{start, start + space + review + "START AGAIN</target>"},
                              {"<target state=\"new\">Stop the engine</target>", review + "STOP THE ENGINE</target>"},
                              {empty, review + "GO HOME</target>"}}));
    EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr("1 units")));  // a text in the state "new"
  }
  const std::string two = "<source>Two lines\nof text</source>", print = "<source>Print the page</source>";
  const std::string open = "<segment xml:space=\"preserve\">",
                    done = "<segment xml:space=\"preserve\" state=\"translated\">";
  EXPECT_EQ(
      translated("translate_toolkit/program.xliff", test::shout),
      replaced("translate_toolkit/program.xliff", {{open + print, done + print + "<target>PRINT THE PAGE</target>"},
                                                   {open + two, done + two + "<target>TWO LINES\nOF TEXT</target>"}}));
  Texts seen, warnings;
  translated("translate_toolkit/program.xlf", test::listing(seen), &warnings);
  EXPECT_EQ(seen, kLines + Texts({"All windows", "Close <b>all</b> windows", "A \"quoted\" word", "No longer used"}));
  EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr("1 units")));  // po2xliff's form of a fuzzy entry
  const auto filled = translated("translate_toolkit/program.xlf", test::shout);
  for (const auto* target : {"THE FIRST LINE\nAND THE SECOND LINE,", "NAME:\tVALUE</target>",
                             "CLOSE &lt;B&gt;ALL&lt;/B&gt; WINDOWS</target>", "ALL WINDOWS</target>"})
    EXPECT_THAT(filled, testing::HasSubstr(review + target));
}

}  // namespace
}  // namespace nmt::documents::fixtures_test
