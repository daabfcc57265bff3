#include <gmock/gmock.h>

#include <vector>

#include "base/error.h"
#include "support.h"
#include "text/codec/codec.h"

namespace nmt::source_markers_test {
namespace {

using testing::ElementsAre;

std::vector<int64_t> written(std::vector<int32_t> pieces, const SourceForm& form) {
  std::vector<int64_t> row(static_cast<size_t>(source_length(std::ssize(pieces), form.markers)), -1);
  write_source(pieces, form, row.data());
  return row;
}

TEST(SourceMarkers, StandAroundThePieces) {
  EXPECT_THAT(written({7, 8}, SourceMarkers::kEnd), ElementsAre(7, 8, 3));
  EXPECT_THAT(written({7, 8}, SourceMarkers::kBoth), ElementsAre(2, 7, 8, 3));
  EXPECT_THAT(written({7, 8}, SourceMarkers::kNone), ElementsAre(7, 8));
}

TEST(SourceMarkers, AnEmptySentenceIsNeverWithoutATokenToRead) {
  EXPECT_THAT(written({}, SourceMarkers::kEnd), ElementsAre(3));
  EXPECT_THAT(written({}, SourceMarkers::kBoth), ElementsAre(2, 3));
  EXPECT_THAT(written({}, SourceMarkers::kNone), ElementsAre(3));
  EXPECT_THAT(written({}, {SourceMarkers::kNone, /*reversed=*/true}), ElementsAre(3));
}

TEST(SourceForm, TurnsThePiecesRoundAndLeavesTheMarkers) {
  for (const auto markers : {SourceMarkers::kEnd, SourceMarkers::kBoth, SourceMarkers::kNone}) {
    const SourceForm forwards(markers), backwards(markers, /*reversed=*/true);
    const auto read = written({7, 8, 9}, backwards), text = written({7, 8, 9}, forwards);
    EXPECT_EQ(read, written({9, 8, 7}, forwards));
    std::vector<int64_t> turned_back;
    for (const int64_t place : text_order(3, backwards)) turned_back.push_back(read[place]);
    EXPECT_EQ(turned_back, text);
  }
  EXPECT_THAT(text_order(3, {SourceMarkers::kBoth, true}), ElementsAre(0, 3, 2, 1, 4));
  EXPECT_THAT(text_order(2, SourceMarkers::kEnd), ElementsAre(0, 1, 2));
  EXPECT_THAT(text_order(0, {SourceMarkers::kNone, true}), ElementsAre(0));
}

}  // namespace
}  // namespace nmt::source_markers_test
