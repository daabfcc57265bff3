#include "documents/segments/segment_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace nmt::documents::segment_builder_test {
namespace {

using testing::ElementsAre;

/// The segments of a text in lower-case letters, in which each '(' opens a pair that the next free ')' closes.
std::vector<Segment> segments_of(const std::string& document) {
  SegmentBuilder builder(document);
  std::vector<size_t> open;
  for (size_t i = 0; i < document.size(); ++i) {
    const ByteRange byte = {i, i + 1};
    if (document[i] == '(') {
      builder.open(i, byte);
      open.push_back(i);
    } else if (document[i] == ')') {
      builder.close(open.back(), byte);
      open.pop_back();
    } else {
      builder.add_text(byte, document.substr(i, 1));
    }
  }
  std::vector<Segment> segments;
  builder.finish({.bytes = {}, .text = {}}, segments);
  return segments;
}

std::vector<std::string> texts_of(const std::vector<Segment>& segments) {
  std::vector<std::string> texts;
  for (const auto& segment : segments) texts.push_back(segment.text);
  return texts;
}

size_t depth_of(const Segment& segment) {
  std::vector<size_t> depths;
  size_t deepest = 0;
  for (const auto& element : segment.inlines) {
    depths.push_back(element.parent == kNone ? 1 : depths[element.parent] + 1);
    deepest = std::max(deepest, depths.back());
  }
  return deepest;
}

std::string nested(size_t depth) { return std::string(depth, '(') + "b" + std::string(depth, ')'); }

TEST(SegmentBuilder, TakesPairsUpToTheDeepest) {
  const auto segments = segments_of("a" + nested(kMostOpenPairs) + "c");
  EXPECT_THAT(texts_of(segments), ElementsAre("abc"));
  EXPECT_EQ(depth_of(segments.front()), kMostOpenPairs);
}

TEST(SegmentBuilder, EndsSegmentsAtDeeperPairsAndLosesNoText) {
  // What places tags would call itself 5,000 times.
  for (const size_t depth : {kMostOpenPairs + 1, size_t{5000}}) {
    const auto segments = segments_of("a" + nested(depth) + "c(d)e");
    EXPECT_THAT(texts_of(segments), ElementsAre("a", "b", "cde")) << depth;
    for (const auto& segment : segments) EXPECT_LE(depth_of(segment), kMostOpenPairs) << depth;
    EXPECT_EQ(segments.back().inlines.size(), 1u) << "what follows is as it was";
  }
}

}  // namespace
}  // namespace nmt::documents::segment_builder_test
