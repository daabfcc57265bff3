#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <string>

#include "archive.h"
#include "base/error.h"
#include "documents/document.h"
#include "documents/packages/packages.h"
#include "support.h"
#include "text/alignment/toy_translators.h"

namespace nmt::growth_test {
namespace {

using test::Archive;
using test::shout;

std::string repeated(size_t n, const std::string& text) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

std::string docx(const std::string& body) { return test::docx_of(body); }

std::string epub(size_t chapters) {
  std::string items;
  Archive archive;
  for (size_t i = 0; i < chapters; ++i) {
    items += fmt::format("<item href=\"a/long/name/of/a/chapter/{}.xhtml\" media-type=\"application/xhtml+xml\"/>", i);
    archive.add(fmt::format("a/long/name/of/a/chapter/{}.xhtml", i), "<p>a</p>");
  }
  return archive.add("META-INF/container.xml", "<container><rootfile full-path=\"b.opf\"/></container>")
      .add("b.opf", "<package>" + items + "</package>")
      .bytes();
}

struct Pattern {
  const char* name;
  DocumentFormat format;
  size_t n;
  std::function<std::string(size_t)> document;
};

const Pattern kPatterns[] = {
    {"lines of text", DocumentFormat::kText, 5'000, [](size_t n) { return repeated(n, "a b\n"); }},
    {"empty tags in open ones", DocumentFormat::kHtml, 5'000,
     [](size_t n) { return repeated(200, "<b>") + "a" + repeated(n, "<p/>"); }},
    {"pictures behind a word", DocumentFormat::kHtml, 5'000, [](size_t n) { return "a" + repeated(n, "<img>"); }},
    {"links that touch", DocumentFormat::kHtml, 5'000, [](size_t n) { return "a" + repeated(n, "<a>b</a>"); }},
    {"a menu", DocumentFormat::kHtml, 5'000, [](size_t n) { return repeated(n, "<a>b</a>"); }},
    {"lines of numbers", DocumentFormat::kSrt, 5'000,
     [](size_t n) { return "1\n00:00:01,000 --> 00:00:02,000\na\n" + repeated(n, "1\n\n"); }},
    {"marks of one number", DocumentFormat::kXliff, 2'000,
     [](size_t n) {
       return "<xliff version=\"1.2\"><trans-unit><source>a</source><seg-source><mrk mid=\"1\" mtype=\"seg\">" +
              repeated(n, "a ") + "</mrk></seg-source><target>" + repeated(n, "<mrk mid=\"1\" mtype=\"seg\"/>") +
              "</target></trans-unit></xliff>";
     }},
    {"elements", DocumentFormat::kXml, 5'000, [](size_t n) { return "<a>" + repeated(n, "<b>c</b>") + "</a>"; }},
    {"lines of a subtitle", DocumentFormat::kSrt, 5'000,
     [](size_t n) { return "1\n00:00:01,000 --> 00:00:02,000\n" + repeated(n, "a\n"); }},
    {"lines of a cue", DocumentFormat::kVtt, 5'000,
     [](size_t n) { return "WEBVTT\n\n00:01.000 --> 00:02.000\n" + repeated(n, "a\n"); }},
    {"messages", DocumentFormat::kPo, 1'000, [](size_t n) { return repeated(n, "msgid \"a\"\nmsgstr \"\"\n\n"); }},
    {"units", DocumentFormat::kXliff, 2'000,
     [](size_t n) {
       return "<xliff version=\"1.2\"><file><body>" +
              repeated(n, "<trans-unit id=\"1\"><source>a</source></trans-unit>") + "</body></file></xliff>";
     }},
    {"texts of one run and its properties", DocumentFormat::kDocx, 2'000,
     [](size_t n) {
       return docx("<w:p><w:r><w:rPr>" + repeated(n, "<w:b/>") + "</w:rPr>" + repeated(n, "<w:t>a</w:t>") +
                   "</w:r></w:p>");
     }},
    {"chapters", DocumentFormat::kEpub, 1'000, epub},
};

double seconds(DocumentFormat format, const std::string& document) {
  const auto begin = std::clock();
  translate_document(format, document, shout);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Growth, TimeIsLinear) {
  constexpr double kClock = 0.01;  // what a clock and caches may cost
  for (const auto& pattern : kPatterns) {
    const auto document = pattern.document(pattern.n), long_document = pattern.document(4 * pattern.n);
    double once = std::numeric_limits<double>::max(), four = once;
    for (int i = 0; i < 5; ++i) {  // in turns: what else the machine does slows both
      once = std::min(once, seconds(pattern.format, document));
      four = std::min(four, seconds(pattern.format, long_document));
    }
    EXPECT_LT(four, 6 * once + kClock) << pattern.name;
  }
}

TEST(Growth, PropertiesAreNotCopiedWithoutEnd) {
  const auto body = "<w:p><w:r><w:rPr>" + repeated(1'000, "<w:b/>") + "</w:rPr><w:t>a</w:t>" +
                    repeated(1'000, "<w:sym/>") + "</w:r></w:p>";
  EXPECT_THAT(test::message_of<Error>([&] { translate_document(DocumentFormat::kDocx, docx(body), shout); }),
              testing::HasSubstr("several times as large"));
}

}  // namespace
}  // namespace nmt::growth_test
