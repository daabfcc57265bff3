#include "convert/formats/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"

namespace nmt::convert {
namespace {

size_t element_size(const std::string& type) {
  if (type == "F32") return 4;
  if (type == "F16" || type == "BF16") return 2;
  return type == "F64" ? 8 : 0;
}

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float load_float(const std::string& type, const std::byte* at) {
  if (type == "F32") return load<float>(at);
  if (type == "F64") return static_cast<float>(load<double>(at));
  const auto bits = load<uint16_t>(at);
  return type == "F16" ? from_half(bits) : std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

Shape row_major(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace

std::string to_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool is_countable(const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t product = 1;
  for (const int64_t size : shape) {
    if (size < 0 || product > kMost / std::max<int64_t>(size, 1)) return false;
    product *= std::max<int64_t>(size, 1);
  }
  return true;
}

int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

size_t stored_size(const StoredArray& stored) {
  return static_cast<size_t>(element_count(stored.shape)) * element_size(stored.type);
}

Array to_array(const StoredArray& stored, const std::string& file, const std::string& name) {
  const size_t size = element_size(stored.type);
  if (size == 0)
    throw Error(fmt::format("{}: tensor {} has type {}; weights are F32, F16, BF16 or F64", file, name, stored.type));
  const auto count = element_count(stored.shape);
  Array array{.shape = stored.shape, .values = {}};
  const Shape strides = stored.strides.empty() ? row_major(stored.shape) : stored.strides;
  int64_t last = 0;
  for (size_t i = 0; i < strides.size(); ++i) last += (stored.shape[i] - 1) * strides[i];
  const auto room = static_cast<int64_t>(stored.data.size() / size);
  if (count > 0 && (last >= room || count > room))
    throw Error(fmt::format("{}: damaged: tensor {} is shorter than {}", file, name, to_text(stored.shape)));
  array.values.resize(count);
  if (strides == row_major(stored.shape)) {
    for (int64_t i = 0; i < count; ++i) array.values[i] = load_float(stored.type, stored.data.data() + i * size);
    return array;
  }
  Shape place(stored.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = std::inner_product(place.begin(), place.end(), strides.begin(), int64_t{0});
    array.values[i] = load_float(stored.type, stored.data.data() + at * size);
    for (size_t axis = place.size(); axis-- > 0 && ++place[axis] == stored.shape[axis];) place[axis] = 0;
  }
  return array;
}

Array zeros(Shape shape) {
  const auto count = element_count(shape);
  return {.shape = std::move(shape), .values = std::vector<float>(count)};
}

Array identity(int64_t size) {
  Array array = zeros({size, size});
  for (int64_t i = 0; i < size; ++i) array.values[i * size + i] = 1;
  return array;
}

Array join_rows(const std::vector<const Array*>& parts) {
  Array joined = *parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    joined.shape[0] += parts[i]->rows();
    joined.values.insert(joined.values.end(), parts[i]->values.begin(), parts[i]->values.end());
  }
  return joined;
}

Array pick_rows(const Array& array, std::span<const int64_t> order) {
  Array picked{.shape = array.shape, .values = {}};
  picked.shape[0] = std::ssize(order);
  picked.values.reserve(order.size() * array.columns());
  for (const int64_t i : order) {
    if (i < 0) {
      picked.values.resize(picked.values.size() + array.columns());
    } else {
      const auto row = array.row(i);
      picked.values.insert(picked.values.end(), row.begin(), row.end());
    }
  }
  return picked;
}

Array pick_columns(const Array& array, std::span<const int64_t> order) {
  Array picked{.shape = {array.rows(), std::ssize(order)}, .values = {}};
  picked.values.reserve(array.rows() * order.size());
  for (int64_t r = 0; r < array.rows(); ++r)
    for (const int64_t c : order) picked.values.push_back(c < 0 ? 0 : array.row(r)[c]);
  return picked;
}

Array transposed(const Array& matrix) {
  Array turned = zeros({matrix.columns(), matrix.rows()});
  for (int64_t r = 0; r < matrix.rows(); ++r)
    for (int64_t c = 0; c < matrix.columns(); ++c) turned.values[c * matrix.rows() + r] = matrix.row(r)[c];
  return turned;
}

uint16_t to_half(float value) {
  constexpr float kLargest = 65504;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return sign | 0x7E00;
  const float size = std::min(std::fabs(value), kLargest);
  // Below 2^-14 numbers are multiples of 2^-24; above, of 2^(exponent - 10). nearbyint() rounds ties to even.
  if (size < 0x1p-14f) return sign | static_cast<uint16_t>(std::nearbyint(size * 0x1p24f));
  int exponent = 0;
  const float fraction = std::frexp(size, &exponent);                                   // [0.5, 1)
  const auto digits = static_cast<uint32_t>(std::nearbyint(std::ldexp(fraction, 11)));  // 1024 .. 2048
  return sign | static_cast<uint16_t>(((exponent + 14) << 10) + digits - 1024);
}

uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int digits = bits & 1023;
  float size = std::ldexp(static_cast<float>(digits), -24);
  if (exponent == 31)
    size = digits ? std::nanf("") : HUGE_VALF;
  else if (exponent > 0)
    size = std::ldexp(static_cast<float>(1024 + digits), exponent - 25);
  return bits & 0x8000 ? -size : size;
}

}  // namespace nmt::convert
