#include "documents/tokens/html_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nmt::documents::html_tokenizer_test {
namespace {

using testing::ElementsAre;

/// The tokens, each with a letter for its kind; of start tags, what ends their content.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  const auto markup = tokenize_html(text, 256);
  for (const auto& token : markup.tokens) {
    std::string line = {"TRCSEXO"[static_cast<int>(token.kind)], ' '};
    line += markup.text(token);
    if (token.kind == TokenKind::kStartTag && token.partner == kNone)
      line += token.content_end == markup.tokens.size()
                  ? " until the end"
                  : " until " + std::string(markup.text(markup.tokens[token.content_end]));
    out.push_back(line);
  }
  return out;
}

TEST(HtmlTokenizer, CutsTextAndTags) {
  EXPECT_THAT(tokens_of("a<B c=d>e</b><br><i/>&amp; 1 < 2"),
              ElementsAre("T a", "S <B c=d>", "T e", "X </b>", "E <br>", "E <i/>", "T &amp; 1 < 2"));
  EXPECT_THAT(tokens_of("<a b='>' c=\"</a>\">x</a >"), ElementsAre("S <a b='>' c=\"</a>\">", "T x", "X </a >"));
  EXPECT_THAT(tokens_of("<!DOCTYPE html><!-- <b> --><?php x ?></ x>"),
              ElementsAre("O <!DOCTYPE html>", "O <!-- <b> -->", "O <?php x ?>", "O </ x>"));
}

TEST(HtmlTokenizer, ASlashBelongsToAValueWithoutQuotes) {
  EXPECT_THAT(tokens_of("<a b=c/>d</a>"), ElementsAre("S <a b=c/>", "T d", "X </a>"));
  EXPECT_THAT(tokens_of("<a b='c'/>d"), ElementsAre("E <a b='c'/>", "T d"));
}

TEST(HtmlTokenizer, KnowsRawText) {
  EXPECT_THAT(tokens_of("<script>a<b></c></SCRIPT >d"), ElementsAre("S <script>", "R a<b></c>", "X </SCRIPT >", "T d"));
  EXPECT_THAT(tokens_of("<title>a<b></title>"), ElementsAre("S <title>", "T a<b>", "X </title>"));
  EXPECT_THAT(tokens_of("<style>a"), ElementsAre("S <style> until the end", "R a"));
}

TEST(HtmlTokenizer, ImpliesEndTags) {
  EXPECT_THAT(tokens_of("<p>a<p>b"), ElementsAre("S <p> until <p>", "T a", "S <p> until the end", "T b"));
  EXPECT_THAT(tokens_of("<ul><li>a<ul><li>b</ul><li>c</ul>"),
              ElementsAre("S <ul>", "S <li> until <li>", "T a", "S <ul>", "S <li> until </ul>", "T b", "X </ul>",
                          "S <li> until </ul>", "T c", "X </ul>"));
  EXPECT_THAT(tokens_of("<tr><td>a<td>b<tr>"), ElementsAre("S <tr> until <tr>", "S <td> until <td>", "T a",
                                                           "S <td> until <tr>", "T b", "S <tr> until the end"));
  EXPECT_THAT(tokens_of("<p><b>a<div>b</div>"),
              ElementsAre("S <p> until <div>", "S <b> until <div>", "T a", "S <div>", "T b", "X </div>"));
}

TEST(HtmlTokenizer, CrossingTagsHaveNoPartner) {
  EXPECT_THAT(tokens_of("<b><i>a</b></i>"), ElementsAre("S <b>", "S <i> until </b>", "T a", "X </b>", "X </i>"));
}

TEST(HtmlTokenizer, WhatBreaksOffIsKept) {
  EXPECT_THAT(tokens_of("a<b c='d"), ElementsAre("T a", "O <b c='d"));
  EXPECT_THAT(tokens_of("a<!-- b"), ElementsAre("T a", "O <!-- b"));
}

}  // namespace
}  // namespace nmt::documents::html_tokenizer_test
