#pragma once

#include <cstdint>
#include <vector>

namespace nmt {

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
  int64_t source_tokens = 0;            ///< real tokens of all rows
  int64_t target_tokens = 0;
};

}  // namespace nmt
