#pragma once

#include <cstdint>
#include <vector>

namespace nmt {

/// A target piece of a row and a source token that say the same: places in the padded rows, without <s>.
struct BatchLink {
  int64_t row = 0, target = 0, source = 0;
};

/// Sentence pairs padded to rectangles, row-major. Lengths count the end symbol, and what else stands around a source.
struct Batch {
  int64_t size = 0;                     ///< sentences
  int64_t source_width = 0;             ///< padded
  int64_t target_width = 0;             ///< padded
  std::vector<int64_t> indices;         ///< [batch] in the corpus
  std::vector<int64_t> source;          ///< [batch, source] pieces </s> <pad>..., or as source_markers.h
  std::vector<int64_t> target_in;       ///< [batch, target] <s> pieces <pad>...
  std::vector<int64_t> target_out;      ///< [batch, target] pieces </s> <pad>...
  std::vector<int64_t> source_lengths;  ///< [batch] real tokens
  std::vector<int64_t> target_lengths;  ///< [batch]
  std::vector<BatchLink> links = {};    ///< ascending by row; none where the pairs are not aligned
  int64_t source_tokens = 0;            ///< real tokens of all rows
  int64_t target_tokens = 0;
};

}  // namespace nmt
