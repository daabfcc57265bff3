#include "scoring/python/python_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/files/strict_json.h"

namespace nmt::scoring {

std::string fixed(double value, int width) {
  if (width < 0) throw Error(fmt::format("-w {}: the number of digits after the point cannot be negative", width));
  if (std::isnan(value)) return "nan";
  // fmt 9 loses digits beyond about 770 of them.
  std::string text(std::numeric_limits<double>::max_exponent10 + 3 + static_cast<size_t>(width), '\0');
  text.resize(std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, width).ptr -
              text.data());
  return text;
}

std::string repr(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string json_string(std::string_view text, const JsonLayout& layout) {
  return nlohmann::json(text).dump(-1, ' ', layout.only_ascii, nlohmann::json::error_handler_t::replace);
}

std::string json_object(const JsonMembers& members, const JsonLayout& layout, int level) {
  const std::string end = "\n" + std::string(layout.indent * level, ' ');
  const std::string begin = end + std::string(layout.indent, ' ');
  std::vector<std::string> lines;
  for (const auto& [key, value] : members) lines.push_back(begin + json_string(key, layout) + ": " + value);
  return fmt::format("{{{}{}}}", fmt::join(lines, ","), end);
}

namespace {

/// Blocks of up to 128 in eight interleaved sums, larger ones by halves: the order of NumPy's loops.
template <typename T>
T pairwise_sum(const T* values, size_t size) {
  if (size < 8) {
    T sum = T(-0.0);
    for (size_t i = 0; i < size; ++i) sum += values[i];
    return sum;
  }
  if (size <= 128) {
    std::array<T, 8> r;
    for (size_t k = 0; k < 8; ++k) r[k] = values[k];
    size_t i = 8;
    for (; i < size - size % 8; i += 8) {
      for (size_t k = 0; k < 8; ++k) r[k] += values[i + k];
    }
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < size; ++i) sum += values[i];
    return sum;
  }
  size_t half = size / 2;
  half -= half % 8;
  return pairwise_sum(values, half) + pairwise_sum(values + half, size - half);
}

/// A non-negative fixed-point number that holds sums of doubles without rounding. Bit 64 counts 2^-1074, the smallest
/// double; those below are for quotients.
class ExactSum {
 public:
  void add(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
    const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
    const int shift = exponent - 53 + kBitOfOne;  // of a subnormal number: at least 12
    const unsigned __int128 bits = static_cast<unsigned __int128>(mantissa) << (shift % 64);
    size_t limb = shift / 64;
    add_at(limb, static_cast<uint64_t>(bits));
    add_at(limb + 1, static_cast<uint64_t>(bits >> 64));
  }

  double divided_by(uint64_t divisor) const {
    std::array<uint64_t, kLimbs> quotient{};
    unsigned __int128 remainder = 0;
    for (size_t i = kLimbs; i-- > 0;) {
      const unsigned __int128 part = remainder << 64 | limbs_[i];
      quotient[i] = static_cast<uint64_t>(part / divisor);
      remainder = part % divisor;
    }
    return round(quotient, remainder != 0);
  }

 private:
  static constexpr int kSmallestBit = 64;
  static constexpr int kBitOfOne = 1074 + kSmallestBit;
  static constexpr size_t kLimbs = 37;

  void add_at(size_t limb, uint64_t value) {
    while (value != 0) {
      limbs_[limb] += value;
      value = limbs_[limb] < value ? 1 : 0;  // the carry
      ++limb;
    }
  }

  /// To the nearest double, halves to even; `rest`: the number is a little larger than its bits.
  static double round(const std::array<uint64_t, kLimbs>& bits, bool rest) {
    size_t top = kLimbs;
    while (top > 0 && bits[top - 1] == 0) --top;
    if (top == 0) return 0.0;
    const int highest = static_cast<int>(64 * top) - 1 - std::countl_zero(bits[top - 1]);
    const int lowest = std::max(highest - 52, kSmallestBit);  // of the 53 bits that stay
    const auto bit = [&](int i) { return bits[i / 64] >> (i % 64) & 1; };
    uint64_t mantissa = 0;
    for (int i = highest; i >= lowest; --i) mantissa = mantissa << 1 | bit(i);
    if (bit(lowest - 1)) {
      bool more = rest;
      for (int i = 0; i < lowest - 1 && !more; ++i) more = bit(i);
      if (more || (mantissa & 1)) ++mantissa;
    }
    return std::ldexp(static_cast<double>(mantissa), lowest - kBitOfOne);
  }

  std::array<uint64_t, kLimbs> limbs_{};
};

ExactSum added(std::span<const double> values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

}  // namespace

double compensated_sum(std::span<const double> values) {
  double sum = 0, compensation = 0;
  for (const double value : values) {
    const double next = sum + value;
    compensation += std::fabs(sum) >= std::fabs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return std::isfinite(compensation) && compensation != 0 ? sum + compensation : sum;
}

double pairwise_mean(std::span<const double> values) {
  return pairwise_sum(values.data(), values.size()) / static_cast<double>(values.size());
}

float pairwise_mean(std::span<const float> values) {
  return pairwise_sum(values.data(), values.size()) / static_cast<float>(values.size());
}

double exact_sum(std::span<const double> values) { return added(values).divided_by(1); }

double exact_mean(std::span<const double> values) { return added(values).divided_by(values.size()); }

}  // namespace nmt::scoring
