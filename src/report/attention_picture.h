#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "report/attention_grid.h"
#include "report/png.h"

namespace nmt {

/// Which axis of a picture the queries are on.
enum class AttentionAxes { kQueriesDown, kKeysDown };

/// One head as squares of `cell` pixels: white for 0, dark blue for the head's highest weight.
Image attention_image(const AttentionGrid& grid, int64_t head, int64_t cell, AttentionAxes axes);

/// All heads of a layer, two panels a row, as an SVG file: the tokens that are looked at across, those that look down.
std::string attention_svg(const AttentionGrid& grid);

/// {"layers": [{"name", "queries", "keys", "weights": [head][query][key]}]}
nlohmann::ordered_json attention_json(std::span<const AttentionGrid> grids);

/// The layer whose picture tells most: the last one where the target looks at the source. nullptr where none does.
const AttentionGrid* last_cross_attention(std::span<const AttentionGrid> grids);

}  // namespace nmt
