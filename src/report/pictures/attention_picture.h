#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "text/aligned_translation.h"

namespace nmt {

/// A picture of 8-bit red, green and blue.
struct Image {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;  ///< [height, width, 3], row-major
};

/// The bytes of a PNG file (ISO 15948): truecolour, not interlaced. Throws MachineError where memory is short.
std::string encode_png(const Image& image);

/// Which axis of a picture the queries are on.
enum class AttentionAxes { kQueriesDown, kKeysDown };

/// One head as squares of `cell` pixels: white for 0, dark blue for the head's highest weight.
Image attention_image(const AttentionGrid& grid, int64_t head, int64_t cell, AttentionAxes axes);

/// All heads side by side, four a row, grey between them.
Image heads_image(const AttentionGrid& grid, int64_t cell, AttentionAxes axes);

/// All heads of a layer, two panels a row, as an SVG file: the tokens that are looked at across, those that look down.
std::string attention_svg(const AttentionGrid& grid);

/// {"layers": [{"name", "queries", "keys", "weights": [head][query][key]}]}, weights to six digits.
nlohmann::ordered_json attention_json(std::span<const AttentionGrid> grids);
/// The way back. Throws Error or nlohmann's exception for JSON of another form.
std::vector<AttentionGrid> attention_of_json(const nlohmann::json& json);

/// A layer with one head, the mean of all.
AttentionGrid mean_of_heads(const AttentionGrid& grid);

/// The layers where the target looks at the source.
std::vector<AttentionGrid> cross_attention(std::span<const AttentionGrid> grids);

/// The layer whose picture tells most: the last one where the target looks at the source. nullptr where none does.
const AttentionGrid* last_cross_attention(std::span<const AttentionGrid> grids);

}  // namespace nmt
