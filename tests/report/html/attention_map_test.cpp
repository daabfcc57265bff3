#include "report/html/attention_map.h"

#include <gmock/gmock.h>

#include "base/files/strict_json.h"

namespace nmt::attention_map_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const AttentionGrid kFirst{.name = "decoder.0.cross",
                           .heads = 1,
                           .queries = {"A", "</s>"},
                           .keys = {"Ein", "▁Hund"},
                           .weights = {0.5, 0.5, 1, 0}};
const AttentionGrid kLast{.name = "decoder.1.cross",
                          .heads = 2,
                          .queries = {"A", "</s>"},
                          .keys = {"Ein", "▁Hund"},
                          .weights = {0.8, 0, 0, 0.4, 0, 0.4, 0, 0.4}};

TEST(AttentionMap, DrawsTheMeanOfTheLastLayersHeads) {
  const auto html = attention_map(std::vector{kFirst, kLast});
  EXPECT_THAT(html, HasSubstr("decoder.1.cross, mean of 2 heads"));
  // The mean is 0.4, 0.2; 0, 0.4: shares of the highest.
  std::vector<std::string> cells;
  for (size_t at = html.find("fill-opacity"); at != std::string::npos; at = html.find("fill-opacity", at + 1))
    cells.push_back(html.substr(at, html.find("</title>", at) - at));
  EXPECT_THAT(cells, testing::ElementsAre("fill-opacity=\"1.00\"><title>A ← Ein 0.40",
                                          "fill-opacity=\"0.50\"><title>A ← ▁Hund 0.20",
                                          "fill-opacity=\"0.00\"><title>&lt;/s&gt; ← Ein 0.00",
                                          "fill-opacity=\"1.00\"><title>&lt;/s&gt; ← ▁Hund 0.40"));
  EXPECT_THAT(html, HasSubstr(">&lt;/s&gt;</text>"));
  EXPECT_THAT(html, HasSubstr("<tspan class=\"space\">▁</tspan>Hund</text>"));
}

TEST(AttentionPage, ShowsBothTextsAndEveryLayer) {
  const auto page = attention_page("Ein <Hund>", "A & dog", std::vector{kFirst, kLast});
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("<title>Attention: Ein &lt;Hund&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("<h2>Ein &lt;Hund&gt;</h2>\n<p>A &amp; dog</p>"));
  EXPECT_THAT(page, HasSubstr(attention_map(std::vector{kFirst, kLast})));
  EXPECT_THAT(page, HasSubstr("showAttention")) << "the script that draws other heads";
  for (const char* outside : {" src=", "href=\"http", "url("}) EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(AttentionMapData, HasEveryHeadInBytes) {
  const auto data = nlohmann::json::parse(attention_map_data(std::vector{kFirst, kLast}));
  EXPECT_EQ(data["keys"], nlohmann::json({"Ein", "▁Hund"}));
  EXPECT_EQ(data["layers"][0]["heads"], nlohmann::json::array({"gID/AA=="}));  // 128 128 255 0
  EXPECT_EQ(data["layers"][1]["heads"], nlohmann::json({"/wAAgA==", "AIAAgA=="}));
  EXPECT_FLOAT_EQ(data["layers"][1]["highest"].get<float>(), 0.8f);
}

TEST(AttentionMapData, HasNoNegativeShares) {
  AttentionGrid grid = kFirst;  // of attention without softmax
  grid.weights = {-3, 2, 4, 0};
  const auto data = nlohmann::json::parse(attention_map_data(std::vector{grid}));
  EXPECT_EQ(data["layers"][0]["heads"], nlohmann::json::array({"AID/AA=="}));  // 0 128 255 0
}

}  // namespace
}  // namespace nmt::attention_map_test
