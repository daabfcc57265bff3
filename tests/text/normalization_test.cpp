#include "text/normalization.h"

#include <gtest/gtest.h>

namespace nmt {
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
  };
  for (const auto& c : cases) EXPECT_EQ(normalize(c.text, c.normalization), c.expected) << c.text;
}

}  // namespace
}  // namespace nmt
