#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "data/batches.h"
#include "text/tokenizer.h"

namespace nmt::test {

/// Pieces of source and target, without <s> and </s>.
using Pair = std::pair<std::vector<int64_t>, std::vector<int64_t>>;

/// Pads pairs to a batch, end symbols added; sides are at least as wide as asked for.
inline Batch batch_of(const std::vector<Pair>& pairs, int64_t min_source_width = 0, int64_t min_target_width = 0) {
  Batch batch;
  batch.size = std::ssize(pairs);
  batch.source_width = min_source_width;
  batch.target_width = min_target_width;
  for (const auto& [source, target] : pairs) {
    batch.source_width = std::max(batch.source_width, std::ssize(source) + 1);
    batch.target_width = std::max(batch.target_width, std::ssize(target) + 1);
  }
  const auto add = [](std::vector<int64_t>& rows, std::vector<int64_t> row, int64_t width) {
    row.resize(width, SpecialIds::kPad);
    rows.insert(rows.end(), row.begin(), row.end());
  };
  const auto with_end = [](std::vector<int64_t> row) {
    row.push_back(SpecialIds::kEnd);
    return row;
  };
  for (const auto& [source, target] : pairs) {
    auto target_in = target;
    target_in.insert(target_in.begin(), SpecialIds::kBegin);
    batch.indices.push_back(std::ssize(batch.indices));
    add(batch.source, with_end(source), batch.source_width);
    add(batch.target_in, target_in, batch.target_width);
    add(batch.target_out, with_end(target), batch.target_width);
    batch.source_lengths.push_back(std::ssize(source) + 1);
    batch.target_lengths.push_back(std::ssize(target) + 1);
    batch.source_tokens += batch.source_lengths.back();
    batch.target_tokens += batch.target_lengths.back();
  }
  return batch;
}

}  // namespace nmt::test
