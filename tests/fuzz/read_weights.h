#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <span>

#include "convert/formats/weight_file.h"
#include "fuzz_target.h"

namespace nmt::fuzz {

/// Half precision and bfloat16 hold the value but for a half of their last digit.
inline void require_near(float value) {
  if (!std::isfinite(value)) return;
  const auto upper = static_cast<uint32_t>(convert::to_bfloat16(value)) << 16;
  const float narrow = std::bit_cast<float>(upper);
  require(!std::isfinite(narrow) || std::fabs(narrow - value) <= std::fabs(value) / 256 + 1e-38f, "bfloat16 is near");
  const float half = convert::from_half(convert::to_half(value));
  require(std::fabs(value) > 65504 || std::fabs(half - value) <= std::fabs(value) / 2048 + 0x1p-25f, "half is near");
}

inline bool same_bits(std::span<const float> left, std::span<const float> right) {
  return std::ranges::equal(std::as_bytes(left), std::as_bytes(right));
}

/// What an importer does with a matrix.
inline void arrange(const convert::Array& matrix) {
  const auto turned = convert::transposed(matrix);
  require(turned.shape == convert::Shape({matrix.shape[1], matrix.shape[0]}), "rows become columns");
  if (matrix.shape[0] == 0 || matrix.shape[1] == 0) return;
  const std::vector<int64_t> order = {matrix.rows() - 1, -1, 0};
  const auto rows = convert::pick_rows(matrix, order);
  const auto columns = convert::transposed(convert::pick_columns(turned, order));
  require(rows.shape == columns.shape && same_bits(rows.values, columns.values),
          "picked rows are picked columns turned");
  const auto joined = convert::join_rows({&rows, &matrix});
  require(joined.rows() == matrix.rows() + 3 && same_bits(joined.row(0), rows.row(0)), "rows follow rows");
}

/// Opens a file of weights and reads each of its tensors.
inline void read_weights(const std::filesystem::path& path) {
  takes([&] {
    convert::WeightFile file(path);
    const auto arrays = file.arrays();
    for (const auto& [name, stored] : arrays) {
      convert::Array array;
      if (!takes([&] { array = file.read(name, stored.shape); })) continue;
      require(std::ssize(array.values) == convert::element_count(stored.shape), "a tensor has all of its numbers");
      for (const float value : array.values) require_near(value);
      file.transpose(name);
      if (array.shape.size() != 2) continue;
      takes([&] { file.read(name, {array.shape[1], array.shape[0]}); });
      arrange(array);
    }
  });
}

}  // namespace nmt::fuzz
