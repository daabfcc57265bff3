#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "nn/kernels/kernels.h"

/// What the tests of kernels share. They do without LibTorch, so that they run under sanitizers: arrays are vectors,
/// which end where their memory ends, and what is expected comes from plain loops in double.
namespace nmt::kernels::test {

using Doubles = std::vector<double>;

inline double widen(float x) { return x; }
inline double widen(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }

template <typename T>
T narrow(double x) {
  const auto rounded = static_cast<float>(x);
  if constexpr (std::is_same_v<T, float>) return rounded;
  const auto bits = std::bit_cast<uint32_t>(rounded);
  return static_cast<T>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <typename T>
constexpr Type type_of() {
  return std::is_same_v<T, float> ? Type::kFloat : Type::kBfloat16;
}

/// Numbers between -scale and scale that hold nothing special; other ones for another salt.
template <typename T = float>
std::vector<T> wave(int64_t count, int salt, double scale = 1) {
  std::vector<T> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = narrow<T>(scale * std::sin(1.0 + 0.7 * i + 0.013 * i * salt + salt));
  return numbers;
}

template <typename T>
Doubles wide(const std::vector<T>& numbers) {
  Doubles result;
  for (const T x : numbers) result.push_back(widen(x));
  return result;
}

/// Equal but for rounding: `tolerance` of the number, of 1 where it is smaller.
template <typename T>
void expect_close(const std::vector<T>& found, const Doubles& expected, double tolerance,
                  const std::string& what = "") {
  if constexpr (!std::is_same_v<T, float>) tolerance += 1.0 / 256;  // bfloat16: 8 bits
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(widen(found[i]), expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << what << " at " << i;
}

/// body(set) with every set of kernels that the processor can run.
template <typename Body>
void for_each_set(Body&& body) {
  int sets = 0;
  for (const char* name : {"baseline", "avx2", "avx512"})
    if (const Kernels* set = kernels_by_name(name)) {
      SCOPED_TRACE(name);
      ASSERT_STREQ(set->name, name);
      body(*set);
      ++sets;
    }
  EXPECT_GE(sets, 1);
}

/// The same in both types: body(set, T()).
template <typename Body>
void for_each_set_and_type(Body&& body) {
  for_each_set([&](const Kernels& set) {
    body(set, float());
    SCOPED_TRACE("bfloat16");
    body(set, uint16_t());
  });
}

}  // namespace nmt::kernels::test
