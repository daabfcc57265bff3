#include "report/html/attention_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/files/strict_json.h"
#include "base/unicode.h"
#include "report/html/page_parts.h"
#include "report/pictures/attention_picture.h"
#include "report/pictures/markup.h"

namespace nmt {
namespace {

constexpr int64_t kMapCell = 20, kMapCharacter = 8, kMapGap = 6, kMapFont = 13;  // pixels

// Characters of East Asia and SentencePiece's mark are about twice as wide.
int64_t width_of(const std::string& token) {
  int64_t width = 0;
  for (size_t i = 0; i < token.size();) width += next_code_point(token, i) >= 0x2000 ? 2 : 1;
  return width * kMapCharacter;
}

int64_t widest(const std::vector<std::string>& tokens) {
  int64_t max = 0;
  for (const auto& token : tokens) max = std::max(max, width_of(token));
  return max;
}

// SentencePiece's mark for a space, drawn faintly: every other token has one.
std::string label(const std::string& token) {
  constexpr std::string_view kSpace = "▁";
  std::string text = escape_xml(token);
  if (text.starts_with(kSpace) && text.size() > kSpace.size())
    text = fmt::format("<tspan class=\"space\">{}</tspan>{}", kSpace, text.substr(kSpace.size()));
  return text;
}

float highest_of(const AttentionGrid& grid) {
  return grid.weights.empty() ? 0 : *std::max_element(grid.weights.begin(), grid.weights.end());
}

double share_of(float weight, float highest) {
  return highest > 0 ? std::clamp(static_cast<double>(weight / highest), 0.0, 1.0) : 0;
}

std::string draw(const AttentionGrid& grid) {
  const int64_t queries = std::ssize(grid.queries), keys = std::ssize(grid.keys);
  const int64_t left = widest(grid.queries) + 2 * kMapGap, top = widest(grid.keys) + 2 * kMapGap;
  const int64_t width = left + keys * kMapCell + kMapGap, height = top + queries * kMapCell + kMapGap;
  const int64_t baseline = kMapCell / 2 + kMapFont / 3;
  const float highest = highest_of(grid);
  std::string svg = fmt::format(
      "<svg class=\"map\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"attention\">\n"
      "<g class=\"keys\">",
      width, height);
  auto out = std::back_inserter(svg);
  for (int64_t key = 0; key < keys; ++key)
    fmt::format_to(out, "<text transform=\"translate({} {}) rotate(-90)\">{}</text>", left + key * kMapCell + baseline,
                   top - kMapGap, label(grid.keys[key]));
  svg += "</g>\n<g class=\"queries\">";
  for (int64_t query = 0; query < queries; ++query)
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", left - kMapGap,
                   top + query * kMapCell + baseline, label(grid.queries[query]));
  svg += "</g>\n<g class=\"cells\">\n";
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key) {
      const float weight = grid.weight(0, query, key);
      fmt::format_to(out,
                     "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{:.2f}\"><title>{} ← {} "
                     "{:.2f}</title></rect>\n",
                     left + key * kMapCell, top + query * kMapCell, kMapCell, kMapCell, share_of(weight, highest),
                     escape_xml(grid.queries[query]), escape_xml(grid.keys[key]), weight);
    }
  return svg + "</g>\n</svg>\n";
}

}  // namespace

std::string attention_map_data(std::span<const AttentionGrid> layers) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& layer : layers) {
    const float highest = highest_of(layer);
    const auto cells = static_cast<size_t>(std::ssize(layer.queries) * std::ssize(layer.keys));
    auto heads = nlohmann::ordered_json::array();
    for (int64_t head = 0; head < layer.heads; ++head) {
      std::string bytes;
      for (size_t i = 0; i < cells; ++i)
        bytes += static_cast<char>(std::lround(255 * share_of(layer.weights[head * cells + i], highest)));
      heads.push_back(base64(bytes));
    }
    all.push_back({{"name", layer.name}, {"highest", highest}, {"heads", std::move(heads)}});
  }
  const nlohmann::ordered_json data = {
      {"queries", layers.front().queries}, {"keys", layers.front().keys}, {"layers", std::move(all)}};
  return data.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string attention_map(std::span<const AttentionGrid> layers) {
  const auto& last = layers.back();
  return fmt::format(
      "<figure class=\"attention\">\n<figcaption><span class=\"which\">{}, mean of {} heads</span> "
      "<output></output></figcaption>\n<div class=\"wide\">{}</div>\n{}</figure>\n",
      escape_xml(last.name), last.heads, draw(mean_of_heads(last)), json_script(attention_map_data(layers)));
}

std::string attention_page(const std::string& source, const std::string& target,
                           std::span<const AttentionGrid> layers) {
  return html_page("Attention: " + source,
                   fmt::format("<header>\n<h1>Attention</h1>\n</header>\n<main>\n<section>\n<h2>{}</h2>\n<p>{}</p>\n"
                               "<p>Each row is a token of the translation as it is written, each column a token of the "
                               "source it looks at; the stronger the colour, the higher the weight.</p>\n{}</section>\n"
                               "</main>\n",
                               escape_xml(source), escape_xml(target), attention_map(layers)));
}

}  // namespace nmt
