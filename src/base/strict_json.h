#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

/// Everything that reads or writes JSON includes this file, so that numbers of strangers become whole numbers by one
/// rule: one with a fraction, or beyond the type's range, is refused by a nlohmann::json::exception. The library's own
/// way would cut off the fraction, and what it makes of 1e33 is not defined.
namespace nlohmann {

template <typename T>
struct adl_serializer<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  template <typename Json>
  static void to_json(Json& json, T value) {
    nlohmann::to_json(json, value);
  }

  template <typename Json>
  static void from_json(const Json& json, T& value) {
    if (json.is_number_float()) {
      const auto number = *json.template get_ptr<const typename Json::number_float_t*>();
      // Both bounds are powers of two or 0: exact, where the largest number itself may not be.
      constexpr auto kBeyond = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
      const bool fits = number >= static_cast<double>(std::numeric_limits<T>::min()) && number < kBeyond;
      if (!fits || static_cast<double>(static_cast<T>(number)) != number) refuse(json);
      value = static_cast<T>(number);
    } else if (json.is_number_unsigned()) {
      value = in_range(json, *json.template get_ptr<const typename Json::number_unsigned_t*>());
    } else if (json.is_number_integer()) {
      value = in_range(json, *json.template get_ptr<const typename Json::number_integer_t*>());
    } else {
      refuse(json);
    }
  }

 private:
  template <typename Json, typename Number>
  static T in_range(const Json& json, Number number) {
    if (!std::in_range<T>(number)) refuse(json);
    return static_cast<T>(number);
  }
  template <typename Json>
  [[noreturn]] static void refuse(const Json& json) {
    throw detail::type_error::create(302, "no whole number that fits", &json);
  }
};

}  // namespace nlohmann
