#include "text/codec/source_markers.h"

#include <gmock/gmock.h>

#include <vector>

#include "base/error.h"
#include "support.h"

namespace nmt::source_markers_test {
namespace {

using testing::ElementsAre;

std::vector<int64_t> written(std::vector<int32_t> pieces, SourceMarkers markers) {
  std::vector<int64_t> row(static_cast<size_t>(source_length(std::ssize(pieces), markers)), -1);
  write_source(pieces, markers, row.data());
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
}

}  // namespace
}  // namespace nmt::source_markers_test
