#pragma once

namespace nmt::scoring {

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
