#include "report/pictures/attention_picture.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace nmt::attention_picture_test {
namespace {

using testing::HasSubstr;

// Two heads, two queries, three keys.
const AttentionGrid kGrid{.name = "decoder.5.cross",
                          .heads = 2,
                          .queries = {"▁A", "</s>"},
                          .keys = {"▁ein", "&", "</s>"},
                          .weights = {1, 0, 0, 0.5, 0.25, 0.25, 0, 0, 1, 0, 0.5, 0.5}};

std::vector<int> red_of(const Image& image) {
  std::vector<int> red;
  for (size_t i = 0; i < image.rgb.size(); i += 3) red.push_back(image.rgb[i]);
  return red;
}

// White 255 for 0, 107 for a half, 8 for the highest; a quarter lies half way between white and the half.
TEST(AttentionImage, IsDarkWhereTheWeightIsHigh) {
  const auto image = attention_image(kGrid, 0, 1, AttentionAxes::kQueriesDown);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(red_of(image), (std::vector<int>{8, 255, 255, 107, 181, 181}));
}

TEST(AttentionImage, HasTheKeysDownWhereAsked) {
  const auto image = attention_image(kGrid, 0, 1, AttentionAxes::kKeysDown);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(red_of(image), (std::vector<int>{8, 107, 255, 181, 255, 181}));
}

TEST(AttentionImage, HasCellsOfTheSizeAsked) {
  const auto image = attention_image(kGrid, 1, 2, AttentionAxes::kQueriesDown);
  EXPECT_EQ(image.width, 6);
  EXPECT_EQ(image.height, 4);
  const std::vector<int> first = {255, 255, 255, 255, 8, 8}, second = {255, 255, 107, 107, 107, 107};
  std::vector<int> expected;
  for (const auto* row : {&first, &first, &second, &second}) expected.insert(expected.end(), row->begin(), row->end());
  EXPECT_EQ(red_of(image), expected);
}

TEST(HeadsImage, HasTheHeadsSideBySide) {
  const auto image = heads_image(kGrid, 1, AttentionAxes::kQueriesDown);
  EXPECT_EQ(image.width, 7);  // 3, a gap, 3
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(red_of(image), (std::vector<int>{8, 255, 255, 0x88, 255, 255, 8, 107, 181, 181, 0x88, 255, 107, 107}));
}

TEST(HeadsImage, HasFourHeadsARow) {
  AttentionGrid grid{.name = "x", .heads = 5, .queries = {"a"}, .keys = {"b"}, .weights = {1, 1, 1, 1, 1}};
  const auto image = heads_image(grid, 2, AttentionAxes::kKeysDown);
  EXPECT_EQ(image.width, 4 * 2 + 3 * 2);
  EXPECT_EQ(image.height, 2 + 2 + 2);
  EXPECT_EQ(image.rgb[(4 * 14 + 1) * 3], 8) << "the fifth";
  EXPECT_EQ(image.rgb[(4 * 14 + 4) * 3], 0x88) << "no sixth";
}

TEST(MeanOfHeads, IsOneHead) {
  const auto mean = mean_of_heads(kGrid);
  EXPECT_EQ(mean.heads, 1);
  EXPECT_EQ(mean.weights, (std::vector<float>{0.5, 0, 0.5, 0.25, 0.375, 0.375}));
}

TEST(AttentionImage, OfWeightsThatAreAllZeroIsWhite) {
  AttentionGrid grid = kGrid;
  grid.weights.assign(12, 0);
  for (const int red : red_of(attention_image(grid, 0, 1, AttentionAxes::kQueriesDown))) EXPECT_EQ(red, 255);
}

TEST(AttentionSvg, HasAPanelAHeadWithTheTokensOnItsAxes) {
  const auto svg = attention_svg(kGrid);
  const auto count = [&](const std::string& part) {
    int64_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(count("<image "), 2);
  EXPECT_EQ(count(">▁A</text>"), 2);
  EXPECT_EQ(count(">&amp;</text>"), 2);
  EXPECT_EQ(count(">&lt;/s&gt;</text>"), 4);
  EXPECT_THAT(svg, HasSubstr(">head 2</text>"));
  EXPECT_THAT(svg, HasSubstr(">decoder.5.cross</text>"));
  EXPECT_THAT(svg, HasSubstr("data:image/png;base64,iVBORw0KGgo"));  // PNG's signature
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

TEST(AttentionJson, HasTheWeightsOfEachHead) {
  const auto json = attention_json(std::vector<AttentionGrid>{kGrid});
  const auto& layer = json["layers"][0];
  EXPECT_EQ(layer["name"], "decoder.5.cross");
  EXPECT_EQ(layer["keys"], (std::vector<std::string>{"▁ein", "&", "</s>"}));
  EXPECT_EQ(layer["weights"],
            nlohmann::ordered_json::parse("[[[1.0,0.0,0.0],[0.5,0.25,0.25]],[[0.0,0.0,1.0],[0.0,0.5,0.5]]]"));
}

TEST(AttentionJson, IsReadAsItWasWritten) {
  const auto read = attention_of_json(nlohmann::json::parse(attention_json(std::vector<AttentionGrid>{kGrid}).dump()));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, kGrid.name);
  EXPECT_EQ(read[0].heads, 2);
  EXPECT_EQ(read[0].queries, kGrid.queries);
  EXPECT_EQ(read[0].keys, kGrid.keys);
  EXPECT_EQ(read[0].weights, kGrid.weights);
}

TEST(AttentionJson, WithTooFewWeightsIsRefused) {
  auto json = nlohmann::json::parse(attention_json(std::vector<AttentionGrid>{kGrid}).dump());
  json["layers"][0]["weights"][1][1].erase(2);
  EXPECT_THROW(attention_of_json(json), Error);
}

TEST(AttentionPicture, ShowsTheLastLayerThatLooksAtTheSource) {
  std::vector<AttentionGrid> grids(4, kGrid);
  grids[0].name = "encoder.0.self", grids[1].name = "decoder.0.cross";
  grids[2].name = "decoder.1.cross", grids[3].name = "decoder.2.self";
  EXPECT_EQ(last_cross_attention(grids), &grids[2]);
  EXPECT_EQ(last_cross_attention(std::span(grids).first(1)), nullptr);
}

}  // namespace
}  // namespace nmt::attention_picture_test
