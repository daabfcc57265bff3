#include "report/pictures/attention_picture.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/unicode.h"
#include "report/pictures/markup.h"

namespace nmt {
namespace {

void append_big_endian(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
}

void append_chunk(std::string& png, const std::string& type, const std::string& data) {
  append_big_endian(png, static_cast<uint32_t>(data.size()));
  const std::string checked = type + data;
  png += checked;
  append_big_endian(png, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                                     static_cast<uInt>(checked.size()))));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw MachineError("out of memory while writing a picture; free some");
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(const Image& image) {
  std::string png = "\x89PNG\r\n\x1a\n";
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(image.width));
  append_big_endian(header, static_cast<uint32_t>(image.height));
  // 8 bits a channel, truecolour, deflate, the five filters, no interlacing.
  header += std::string("\x08\x02\x00\x00\x00", 5);
  append_chunk(png, "IHDR", header);
  std::string rows;
  const auto stride = static_cast<size_t>(image.width) * 3;
  for (int64_t y = 0; y < image.height; ++y) {
    rows += '\0';  // filter: none
    rows.append(reinterpret_cast<const char*>(image.rgb.data()) + static_cast<size_t>(y) * stride, stride);
  }
  append_chunk(png, "IDAT", deflated(rows));
  append_chunk(png, "IEND", "");
  return png;
}

namespace {

using Colour = std::array<uint8_t, 3>;

// From white over a light to a dark blue: the order of the weights is that of the lightness, in grey as well.
Colour colour_of(double share) {
  constexpr std::array<std::array<double, 3>, 3> kStops = {{{255, 255, 255}, {107, 174, 214}, {8, 48, 107}}};
  const double place = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto below = std::min<size_t>(static_cast<size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(below);
  Colour colour;
  for (size_t i = 0; i < 3; ++i)
    colour[i] = static_cast<uint8_t>(std::lround(kStops[below][i] * (1 - part) + kStops[below + 1][i] * part));
  return colour;
}

// Six digits behind the point: more would only make the file long.
double rounded(float weight) { return std::round(weight * 1e6) / 1e6; }

int64_t longest(const std::vector<std::string>& tokens) {
  int64_t max = 0;
  for (const auto& token : tokens) max = std::max(max, count_code_points(token));
  return max;
}

// Pixels of the picture.
constexpr int64_t kCell = 18, kFont = 13, kCharacter = 8, kGap = 8, kTitle = 24, kMargin = 16;

/// Where things stand in a panel.
struct Panel {
  explicit Panel(const AttentionGrid& grid)
      : left(longest(grid.queries) * kCharacter + kGap),
        top(kTitle + longest(grid.keys) * kCharacter + kGap),
        columns(std::ssize(grid.keys) * kCell),
        rows(std::ssize(grid.queries) * kCell) {}
  int64_t left, top, columns, rows;
  int64_t width() const { return left + columns + kMargin; }
  int64_t height() const { return top + rows + kMargin; }
};

void draw_head(std::string& svg, const AttentionGrid& grid, int64_t head, const Panel& panel, int64_t x, int64_t y) {
  auto out = std::back_inserter(svg);
  fmt::format_to(out, "<g transform=\"translate({} {})\">\n", x, y);
  if (grid.heads > 1)
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">head {}</text>\n", panel.left, kFont, head + 1);
  const int64_t baseline = kCell / 2 + kFont / 3;
  for (int64_t key = 0; key < std::ssize(grid.keys); ++key)
    fmt::format_to(out, "<text transform=\"translate({} {}) rotate(-90)\">{}</text>\n",
                   panel.left + key * kCell + baseline, panel.top - kGap, escape_xml(grid.keys[key]));
  for (int64_t query = 0; query < std::ssize(grid.queries); ++query)
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", panel.left - kGap,
                   panel.top + query * kCell + baseline, escape_xml(grid.queries[query]));
  fmt::format_to(out,
                 "<image x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" preserveAspectRatio=\"none\" "
                 "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{4}\"/>\n"
                 "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"none\" stroke=\"#888\"/>\n</g>\n",
                 panel.left, panel.top, panel.columns, panel.rows,
                 base64(encode_png(attention_image(grid, head, 1, AttentionAxes::kQueriesDown))));
}

}  // namespace

Image attention_image(const AttentionGrid& grid, int64_t head, int64_t cell, AttentionAxes axes) {
  const int64_t queries = std::ssize(grid.queries), keys = std::ssize(grid.keys);
  const bool queries_down = axes == AttentionAxes::kQueriesDown;
  const int64_t rows = queries_down ? queries : keys, columns = queries_down ? keys : queries;
  const auto first = grid.weights.begin() + head * queries * keys;
  const double highest = queries * keys > 0 ? *std::max_element(first, first + queries * keys) : 0;
  Image image{.width = columns * cell, .height = rows * cell, .rgb = {}};
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x) {
      const int64_t row = y / cell, column = x / cell;
      const float weight = queries_down ? grid.weight(head, row, column) : grid.weight(head, column, row);
      const auto colour = colour_of(highest > 0 ? weight / highest : 0);
      image.rgb.insert(image.rgb.end(), colour.begin(), colour.end());
    }
  return image;
}

Image heads_image(const AttentionGrid& grid, int64_t cell, AttentionAxes axes) {
  constexpr int64_t kColumns = 4;
  const auto first = attention_image(grid, 0, cell, axes);
  const int64_t columns = std::min(grid.heads, kColumns), rows = (grid.heads + columns - 1) / columns;
  const int64_t right = first.width + cell, down = first.height + cell;  // from panel to panel
  Image image{.width = columns * right - cell, .height = rows * down - cell, .rgb = {}};
  image.rgb.assign(static_cast<size_t>(image.width * image.height * 3), 0x88);
  for (int64_t head = 0; head < grid.heads; ++head) {
    const auto panel = attention_image(grid, head, cell, axes);
    const int64_t left = head % columns * right, top = head / columns * down;
    for (int64_t y = 0; y < panel.height; ++y)
      std::copy_n(&panel.rgb[y * panel.width * 3], panel.width * 3, &image.rgb[((top + y) * image.width + left) * 3]);
  }
  return image;
}

std::string attention_svg(const AttentionGrid& grid) {
  const Panel panel(grid);
  const int64_t columns = std::min<int64_t>(2, grid.heads),
                rows = (grid.heads + columns - 1) / std::max<int64_t>(1, columns);
  const int64_t width = columns * panel.width() + kMargin, height = rows * panel.height() + kTitle + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"{2}\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{3}\" y=\"{3}\">{4}</text>\n",
      width, height, kFont, kMargin, escape_xml(grid.name));
  for (int64_t head = 0; head < grid.heads; ++head)
    draw_head(svg, grid, head, panel, kMargin + head % columns * panel.width(),
              kTitle + head / columns * panel.height());
  return svg + "</svg>\n";
}

nlohmann::ordered_json attention_json(std::span<const AttentionGrid> grids) {
  auto layers = nlohmann::ordered_json::array();
  for (const auto& grid : grids) {
    auto heads = nlohmann::ordered_json::array();
    for (int64_t head = 0; head < grid.heads; ++head) {
      auto rows = nlohmann::ordered_json::array();
      for (int64_t query = 0; query < std::ssize(grid.queries); ++query) {
        const auto first = &grid.weights[(head * std::ssize(grid.queries) + query) * std::ssize(grid.keys)];
        auto row = nlohmann::ordered_json::array();
        for (int64_t key = 0; key < std::ssize(grid.keys); ++key) row.push_back(rounded(first[key]));
        rows.push_back(std::move(row));
      }
      heads.push_back(std::move(rows));
    }
    layers.push_back(
        {{"name", grid.name}, {"queries", grid.queries}, {"keys", grid.keys}, {"weights", std::move(heads)}});
  }
  return {{"layers", std::move(layers)}};
}

std::vector<AttentionGrid> attention_of_json(const nlohmann::json& json) {
  std::vector<AttentionGrid> grids;
  for (const auto& layer : json.at("layers")) {
    AttentionGrid grid{.name = layer.at("name"),
                       .heads = static_cast<int64_t>(layer.at("weights").size()),
                       .queries = layer.at("queries"),
                       .keys = layer.at("keys"),
                       .weights = {}};
    for (const auto& head : layer.at("weights"))
      for (const auto& row : head)
        for (const auto& weight : row) grid.weights.push_back(weight.get<float>());
    if (std::ssize(grid.weights) != grid.heads * std::ssize(grid.queries) * std::ssize(grid.keys))
      throw Error("the weights are not as many as heads, queries and keys say");
    grids.push_back(std::move(grid));
  }
  return grids;
}

AttentionGrid mean_of_heads(const AttentionGrid& grid) {
  const auto cells = static_cast<size_t>(std::ssize(grid.queries) * std::ssize(grid.keys));
  AttentionGrid mean{
      .name = grid.name, .heads = 1, .queries = grid.queries, .keys = grid.keys, .weights = std::vector<float>(cells)};
  for (size_t i = 0; i < grid.weights.size(); ++i)
    mean.weights[i % cells] += grid.weights[i] / static_cast<float>(grid.heads);
  return mean;
}

bool is_cross_attention(const AttentionGrid& grid) { return !grid.name.ends_with("self"); }

std::vector<AttentionGrid> cross_attention(std::span<const AttentionGrid> grids) {
  std::vector<AttentionGrid> cross;
  std::copy_if(grids.begin(), grids.end(), std::back_inserter(cross), is_cross_attention);
  return cross;
}

const AttentionGrid* last_cross_attention(std::span<const AttentionGrid> grids) {
  for (auto grid = grids.rbegin(); grid != grids.rend(); ++grid)
    if (is_cross_attention(*grid)) return &*grid;
  return nullptr;
}

}  // namespace nmt
