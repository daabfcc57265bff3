#pragma once

#include <span>
#include <string>

#include "text/aligned_translation.h"

namespace nmt {

/// The attention of the target to the source in one sentence, as part of a page: the mean of the last layer's heads,
/// drawn as SVG with the weights as tool tips; and all layers and heads as data, with which the page's script shows the
/// others. layers: at least one, of the same tokens.
std::string attention_map(std::span<const AttentionGrid> layers);

/// A whole page with attention_map() of one sentence and a translation of it. layers: as there.
std::string attention_page(const std::string& source, const std::string& target, std::span<const AttentionGrid> layers);

/// What the script reads: {"queries", "keys", "layers": [{"name", "highest", "heads": [base64...]}]}; a head is a byte
/// a weight, [queries, keys], 255 for `highest`.
std::string attention_map_data(std::span<const AttentionGrid> layers);

}  // namespace nmt
