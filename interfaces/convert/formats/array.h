#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/process/app.h"

namespace nmt::convert {

/// Thrown between two tensors, so that nothing of a folder in the making stays.
struct Stopped {};

/// Throws Stopped where SIGINT or SIGTERM has come since catch_stop_signals().
inline void throw_if_stopped() {
  if (stop_signal() != 0) throw Stopped();
}

using Shape = std::vector<int64_t>;
std::string to_text(const Shape& shape);  ///< "[2, 3]"

/// Weights without torch: float32, row-major.
struct Array {
  Shape shape;
  std::vector<float> values;

  int64_t rows() const { return shape.at(0); }
  /// Numbers in a row, where there is none, too.
  int64_t columns() const {
    int64_t columns = 1;
    for (size_t i = 1; i < shape.size(); ++i) columns *= shape[i];
    return columns;
  }
  std::span<const float> row(int64_t i) const { return std::span(values).subspan(i * columns(), columns()); }
};
using Arrays = std::map<std::string, Array>;

/// Weights as they stand in a file.
struct StoredArray {
  std::string type;  ///< F32, F16, BF16 or F64; others cannot be read as weights
  Shape shape;
  Shape strides = {};               ///< in elements; empty: row-major
  std::span<const std::byte> data;  ///< from the first element on
};

/// Whether no size is negative and every product of some of them can be counted with: at most 2^40. Readers ask it of
/// the shapes in their files before they multiply: beside a 0 the other sizes may be anything.
bool is_countable(const Shape& shape);
int64_t element_count(const Shape& shape);
/// Bytes that its elements take in the file; 0 for types that are no weights.
size_t stored_size(const StoredArray& stored);
/// `file` and `name` are shown in messages. Throws Error for other types and for data that are too short.
Array to_array(const StoredArray& stored, const std::string& file, const std::string& name);

Array zeros(Shape shape);
Array identity(int64_t size);
Array join_rows(const std::vector<const Array*>& parts);
/// Row (and column) i of the result is row (column) order[i]; -1 is a row of zeros. Works on vectors, too.
Array pick_rows(const Array& array, std::span<const int64_t> order);
Array pick_columns(const Array& array, std::span<const int64_t> order);
Array transposed(const Array& matrix);

/// Nearest, ties to even; what is too large for half precision becomes its largest number.
uint16_t to_half(float value);
uint16_t to_bfloat16(float value);
float from_half(uint16_t bits);

}  // namespace nmt::convert
