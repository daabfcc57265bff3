#include "scoring/tokenizers/western_rules.h"

#include "support.h"

namespace nmt::scoring::western_rules_test {
namespace {

using Rule = void (*)(std::string_view, std::string&);

std::string applied(Rule rule, const std::string& text) {
  std::string out = "what was there before";
  rule(text, out);
  return out;
}

TEST(WesternRules, SpaceOutEverySymbolButFour) {
  const std::string symbols = "!\"#$%&()*+/:;<=>?@[\\]^_`{|}~";
  for (int c = 0; c < 256; ++c) {
    const std::string one(1, static_cast<char>(c));
    const bool is_symbol = c != 0 && symbols.find(one) != std::string::npos;
    EXPECT_EQ(applied(space_out_symbols, "a" + one + "b"), is_symbol ? "a " + one + " b" : "a" + one + "b") << c;
  }
}

TEST(WesternRules, SplitPeriodsAndCommasByTheirNeighbours) {
  struct Case {
    Rule rule;
    std::string text, out;
  };
  const Rule after = split_period_after_non_digit, before = split_period_before_non_digit,
             dash = split_dash_after_digit;
  for (const auto& [rule, text, out] :
       {Case{after, "a.b", "a . b"},  Case{after, "1.b", "1.b"},  Case{after, ".b", ".b"},  Case{after, "..", ". . "},
        Case{after, "...", ". . ."},  Case{after, "é,", "é , "},  Case{after, "", ""},      Case{after, "a", "a"},
        Case{before, "1.b", "1 . b"}, Case{before, "1.2", "1.2"}, Case{before, "1.", "1."}, Case{before, ",.", " , ."},
        Case{before, ".,.", " . ,."}, Case{before, ".é", " . é"}, Case{before, "", ""},     Case{dash, "3-4", "3 - 4"},
        Case{dash, "a-4", "a-4"},     Case{dash, "3--", "3 - -"}, Case{dash, "3-", "3 - "}, Case{dash, "", ""}}) {
    EXPECT_EQ(applied(rule, text), out) << "'" << text << "'";
  }
}

TEST(WesternRules, ApplyInOrder) {
  EXPECT_EQ(applied(apply_western_rules, "1.5-2.x (a,b)"), "1.5 - 2 . x  ( a  ,  b ) ");
  EXPECT_EQ(applied(apply_western_rules, "no dash. "), "no dash  .   ");
}

TEST(WesternRules, UnescapeXmlInOrder) {
  const auto unescaped = [](std::string text) {
    unescape_xml(text);
    return text;
  };
  EXPECT_EQ(unescaped("&amp;lt;&amp;quot;&lt;&gt;&quot;&apos;&amp"), "<&quot;<>\"&apos;&amp");
}

TEST(WesternRules, ReplaceAllMatchesFromLeftToRight) {
  const auto replaced = [](std::string text, std::string_view from, std::string_view to) {
    replace_all(text, from, to);
    return text;
  };
  EXPECT_EQ(replaced("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replaced("x", "aa", "b"), "x");
  EXPECT_EQ(replaced("aaaa", "aa", ""), "");
}

}  // namespace
}  // namespace nmt::scoring::western_rules_test
