#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nmt {

/// The weights of one attention layer for one sentence, with the tokens they are about.
struct AttentionGrid {
  std::string name;  ///< of the layer, such as decoder.5.cross
  int64_t heads = 0;
  std::vector<std::string> queries, keys;  ///< tokens that look, tokens that are looked at
  std::vector<float> weights;              ///< [heads, queries, keys], row-major

  float weight(int64_t head, int64_t query, int64_t key) const {
    return weights[(head * std::ssize(queries) + query) * std::ssize(keys) + key];
  }
};

}  // namespace nmt
