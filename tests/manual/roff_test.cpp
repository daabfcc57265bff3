#include "manual/roff.h"

#include <gtest/gtest.h>

namespace nmt::roff_test {
namespace {

TEST(Roff, EscapesWhatRoffWouldTakeForItsOwn) {
  EXPECT_EQ(roff_text(R"(--set a\b 'c' ~/x ^)"), R"(\-\-set a\eb \(aqc\(aq \(ti/x \(ha)");
  EXPECT_EQ(roff_bold("-c"), R"(\fB\-c\fR)");
  EXPECT_EQ(roff_italic("FILE"), R"(\fIFILE\fR)");
}

TEST(Roff, LinesAreShortAndNoneIsTakenForACommand) {
  EXPECT_EQ(roff_lines(""), "");
  EXPECT_EQ(roff_lines("a  b\nc"), "a b c\n");
  EXPECT_EQ(roff_lines(".po files"), "\\&.po files\n");
  const std::string forty(40, 'x');
  EXPECT_EQ(roff_lines(forty + " .y " + forty), forty + " .y\n" + forty + "\n");
  EXPECT_EQ(roff_lines(std::string(76, 'x') + " .y"), std::string(76, 'x') + "\n\\&.y\n");
}

}  // namespace
}  // namespace nmt::roff_test
