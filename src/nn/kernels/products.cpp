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

void unpack_row(const PackedWeight& packed, int64_t output, float* row) {
  const int64_t each = numbers_in_word(packed.format), words = words_in_row(packed.format, packed.in);
  const uint32_t* from = packed.panels + output / kPanel * words * kPanel + output % kPanel;
  for (int64_t k = 0; k < packed.in; k += each, from += kPanel) {
    for (int64_t i = 0; i < each && k + i < packed.in; ++i) {
      if (packed.format == WeightFormat::kInt8) {
        row[k + i] = packed.scales[output] * static_cast<float>(static_cast<int8_t>(*from >> (8 * i)));
      } else {
        const uint32_t bits = each == 1 ? *from : (*from >> (16 * i)) << 16;
        std::memcpy(row + k + i, &bits, sizeof bits);
      }
    }
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
