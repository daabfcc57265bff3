#include "nn/kernels/products.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace nmt::kernels {

void pack_quantized(const void* rows, const float* scales, const PackedWeight& packed, Range panels) {
  const int64_t words = words_in_row(packed.format, packed.in);
  const bool int8 = packed.format == WeightFormat::kInt8;
  const int64_t row_bytes = packed.in * (int8 ? 1 : 2), whole = row_bytes / 4;
  for (int64_t output = panels.begin * kPanel; output < panels.end * kPanel; ++output) {
    uint32_t* to = packed.panels + output / kPanel * words * kPanel + output % kPanel;
    const bool real = output < packed.out;
    const char* row = static_cast<const char*>(rows) + (real ? output * row_bytes : 0);
    for (int64_t k = 0; k < words; ++k) {
      uint32_t word = 0;
      if (real) std::memcpy(&word, row + 4 * k, k < whole ? 4 : row_bytes - 4 * whole);
      to[k * kPanel] = word;
    }
    if (!int8) continue;
    int32_t sum = 0;
    for (int64_t k = 0; real && k < packed.in; ++k) sum += static_cast<int8_t>(row[k]);
    packed.sums[output] = sum;
    packed.scales[output] = real ? scales[output] : 0;
  }
}

namespace {

/// number(word, i): the i-th number of a word.
template <WeightFormat kFormat, typename Number>
void unpack_words(const PackedWeight& packed, int64_t output, float* row, const Number& number) {
  constexpr int64_t kEach = numbers_in_word(kFormat);
  const uint32_t* from = packed.panels + output / kPanel * words_in_row(kFormat, packed.in) * kPanel + output % kPanel;
  int64_t k = 0;
  for (; k + kEach <= packed.in; k += kEach, from += kPanel)
    for (int64_t i = 0; i < kEach; ++i) row[k + i] = number(*from, i);
  for (int64_t i = 0; k + i < packed.in; ++i) row[k + i] = number(*from, i);
}

float float_of(uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

}  // namespace

void unpack_row(const PackedWeight& packed, int64_t output, float* row) {
  switch (packed.format) {
    case WeightFormat::kFloat32:
      return unpack_words<WeightFormat::kFloat32>(packed, output, row,
                                                  [](uint32_t word, int64_t) { return float_of(word); });
    case WeightFormat::kBfloat16:
      return unpack_words<WeightFormat::kBfloat16>(
          packed, output, row, [](uint32_t word, int64_t i) { return float_of(word >> (16 * i) << 16); });
    case WeightFormat::kInt8:
      return unpack_words<WeightFormat::kInt8>(
          packed, output, row, [scale = packed.scales[output]](uint32_t word, int64_t i) {
            return scale * static_cast<float>(static_cast<int8_t>(word >> (8 * i)));
          });
  }
}

bool has_dot_products(WeightFormat format, const char* set) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return !std::strcmp(set, name); });
  };
  if (format == WeightFormat::kFloat32) return true;
  if (is_one_of({"avx512_bf16", "neon_bf16"})) return true;
  return format == WeightFormat::kInt8 && is_one_of({"avx_vnni", "avx512_vnni", "neon_dotprod", "neon_i8mm"});
}

}  // namespace nmt::kernels
