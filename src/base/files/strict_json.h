#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
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

namespace nmt {

/// The one way to read a whole number where another value may stand: nullopt for that, and for what is beyond int64_t.
template <typename Json>
std::optional<int64_t> whole_number(const Json& json) {
  if (json.is_number_unsigned() && !std::in_range<int64_t>(json.template get<uint64_t>())) return std::nullopt;
  return json.is_number_integer() ? std::optional(json.template get<int64_t>()) : std::nullopt;
}

/// What a text of JSON may be: its tree takes far more memory than the text, and whatever walks through it (dump(), a
/// copy) calls itself once a level.
struct JsonLimits {
  size_t bytes = 16 << 20;
  size_t depth = 32;        ///< of lists and objects in one another
  size_t values = 1 << 20;  ///< numbers, texts, lists, objects
};

/// What keeps a text from being read: "not JSON (at byte 7)", "nested deeper than 32 levels", "of more than ... bytes";
/// nullopt: it is JSON within the limits. Takes no memory that grows with the text.
std::optional<std::string> problem_of_json(std::string_view text, const JsonLimits& limits = {});

/// The text as a tree: nlohmann::json, or ordered_json, which keeps the order of keys. Throws Error that begins with
/// `name`: not JSON, or beyond the limits.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits = {});

/// The same, but null for what cannot be read.
template <typename Json = nlohmann::json>
Json parse_json_or_null(std::string_view text, const JsonLimits& limits = {});

/// What a user reads where JSON has a form that nobody looked for.
std::string json_error_line(const nlohmann::json::exception& error);

/// For the message on a text that could not be parsed: what else may be wrong with it, or "".
std::string_view escape_hint(std::string_view text);

/// A regular file of JSON. Throws Error: it cannot be read, is a pipe or device, or what parse_json() throws.
nlohmann::json read_json_file(const std::filesystem::path& path, const JsonLimits& limits = {});

}  // namespace nmt
