#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "library/inner/fields.h"
#include "nmt/error.h"

namespace nmt::api {

/// A JSON object that somebody asks with, read name by name. Each reading function leaves the place as it was where the
/// name is missing or null, and throws UserError for a value of another type.
class JsonRequest {
 public:
  /// Throws UserError for what is no JSON object, or has more than kMostBytes or a name twice.
  explicit JsonRequest(const char* text);

  template <typename Value>
  void read(const char* name, Value& place) {
    const auto* value = take(name);
    if (!value) return;
    try {
      place = value->get<Value>();
    } catch (const nlohmann::json::exception&) {
      throw_wrong_type(name, *value);
    }
  }
  template <typename Value>
  void read(const char* name, std::optional<Value>& place) {
    Value value{};
    if (!has(name)) return;
    read(name, value);
    place = std::move(value);
  }
  /// The members of the struct's list.
  template <typename Struct>
  void read_fields(Struct& places) {
    for_each_field(places, [&](const char* name, auto member) { read(name, places.*member); });
  }
  /// The value itself; null where there is none.
  const nlohmann::json* take(const char* name);
  bool has(std::string_view name) const;

  /// What was not read goes to the options of the section `decoding`. Throws UserError for another name.
  void finish(DecodingOptions& decoding);
  /// Throws UserError where something was not read.
  void finish() const;

 private:
  [[noreturn]] static void throw_wrong_type(const char* name, const nlohmann::json& value);

  nlohmann::json object_;
  std::vector<std::string> known_;
};

}  // namespace nmt::api
