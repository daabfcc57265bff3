#include <gtest/gtest.h>

#include "text/codec/codec.h"

namespace nmt::normalization_test {
namespace {

TEST(Normalize, DoesWhatIsAskedFor) {
  struct Case {
    const char* text;
    Normalization normalization;
    const char* expected;
  };
  const Case cases[] = {
      {"  \u00A0Ein \uFB01x\t\r", {}, "Ein \uFB01x"},
      {"Ein \uFB01x", {.nfkc = true}, "Ein fix"},
      {"Ein \uFB01x", {.lowercase = true}, "ein \uFB01x"},
      {"\uFF21\u0308", {.nfkc = true, .lowercase = true}, "\u00E4"},
      {"\u3000", {.nfkc = true}, ""},
      {"\u00A8", {.nfkc = true}, "\u0308"},  // decomposes to a space and a mark
      {"", {.nfkc = true, .lowercase = true}, ""},
      {"A\xFF", {}, "A\xFF"},
      {"A\xFF", {.lowercase = true}, "a\uFFFD"},
      {"A\xFF", {.nfkc = true}, "A\uFFFD"},
      // A model has pieces for none of these: what is without a form is left out.
      {"Haus\u00ADt\u00FCr", {}, "Haust\u00FCr"},
      {"\u200F a\u2060b \u2066c\u2069\u200E \u00AD", {}, "ab c"},
      {"Va\u00ADter \u061C\uFB01x", {.nfkc = true, .lowercase = true}, "vater fix"},
      {"ab\u200Cc d\u200De f\u200Bg", {}, "abc de fg"},
      // Persian, Hindi, Khmer and emoji mean something else without them.
      {"\u0645\u06CC\u200C\u062E", {}, "\u0645\u06CC\u200C\u062E"},
      {"\u0915\u094D\u200D\u0937", {}, "\u0915\u094D\u200D\u0937"},
      {"\u1780\u200B\u1780", {}, "\u1780\u200B\u1780"},
      {"\U0001F468\u200D\U0001F469", {}, "\U0001F468\u200D\U0001F469"},
      {"A\xC2", {}, "A\xC2"},
      // What Python's regex.sub("[^\\s\\p{Latin}']", "", text) leaves (regex 2026.5.9).
      {"Can't a 26-year-old (1\u00BD) cost \u20AC5? ", {.latin_only = true}, "Can't a yearold  cost"},
      {"Fl\u00FCsse, \u00C6sop\u2019s \u01C5 a\u0308 \u00AA\u00BA",
       {.latin_only = true},
       "Fl\u00FCsse \u00C6sops \u01C5 a \u00AA\u00BA"},
      {"\u0416\u4E2D x\u3000y \u0391\uFF21", {.latin_only = true}, "x\u3000y \uFF21"},
      {"1\u2126\uFB01", {.nfkc = true, .latin_only = true}, "fi"},
      {"(A)\xFF b", {.lowercase = true, .latin_only = true}, "a b"},
      {"2016", {.latin_only = true}, ""},
  };
  for (const auto& c : cases) EXPECT_EQ(normalize(c.text, c.normalization), c.expected) << c.text;
}

}  // namespace
}  // namespace nmt::normalization_test
