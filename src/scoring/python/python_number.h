#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nmt::scoring {

/// f"{value:.{width}f}" of Python. Throws nmt::Error for a negative width.
std::string fixed(double value, int width);

/// repr(value) of Python: the shortest digits that read back as the same number; "100.0", "1e-05", "nan".
std::string repr(double value);

/// The layout of Python's json.dumps: spaces a level, and whether \uXXXX stands for all beyond ASCII.
struct JsonLayout {
  int indent = 1;
  bool only_ascii = false;
};

/// json.dumps(text), in quotes. text: UTF-8, or U+FFFD for what is not.
std::string json_string(std::string_view text, const JsonLayout& layout);

/// json.dumps of an object within `level` others. members: keys, and values that are JSON already.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;
std::string json_object(const JsonMembers& members, const JsonLayout& layout, int level = 0);

/// sum() of Python 3.12 and later over floats: compensated (Neumaier 1974).
double compensated_sum(std::span<const double> values);

/// numpy.mean of a contiguous array: pairwise summation in the type of the elements.
double pairwise_mean(std::span<const double> values);
float pairwise_mean(std::span<const float> values);

/// math.fsum of Python: the exact sum, rounded once. values: finite, none negative.
double exact_sum(std::span<const double> values);

/// statistics.mean of Python: the exact mean, rounded once. values: finite, none negative, at least one.
double exact_mean(std::span<const double> values);

/// A number under NumPy 2's rules of promotion (NEP 50): a Python float meets a float32 as a float32, two Python floats
/// stay doubles. Bootstrap scores are computed so in sacreBLEU, whose resampled statistics are float32.
class NumpyScalar {
 public:
  NumpyScalar(double value) : value_(value) {}                    // NOLINT: a Python float
  NumpyScalar(float value) : value_(value), is_float32_(true) {}  // NOLINT: a numpy.float32
  double value() const { return value_; }
  bool is_float32() const { return is_float32_; }

  friend NumpyScalar operator+(NumpyScalar a, NumpyScalar b) {
    if (!either_float32(a, b)) return a.value_ + b.value_;
    return static_cast<float>(a.value_) + static_cast<float>(b.value_);
  }
  friend NumpyScalar operator*(NumpyScalar a, NumpyScalar b) {
    if (!either_float32(a, b)) return a.value_ * b.value_;
    return static_cast<float>(a.value_) * static_cast<float>(b.value_);
  }
  friend NumpyScalar operator/(NumpyScalar a, NumpyScalar b) {
    if (!either_float32(a, b)) return a.value_ / b.value_;
    return static_cast<float>(a.value_) / static_cast<float>(b.value_);
  }
  NumpyScalar& operator+=(NumpyScalar other) { return *this = *this + other; }
  NumpyScalar& operator/=(NumpyScalar other) { return *this = *this / other; }

 private:
  static bool either_float32(NumpyScalar a, NumpyScalar b) { return a.is_float32_ || b.is_float32_; }
  double value_;
  bool is_float32_ = false;
};

inline double value_of(double number) { return number; }
inline double value_of(NumpyScalar number) { return number.value(); }

}  // namespace nmt::scoring
