#include "library/inner/json_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/value.h"

namespace nmt::api {
namespace {

/// A value as set_option() takes it.
std::string option_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

JsonRequest::JsonRequest(const char* text) {
  if (!text) throw UserError("the request is NULL; give a JSON object");
  try {
    object_ = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("the request is no JSON: {}", error.what()));
  }
  if (!object_.is_object()) throw UserError("the request is no JSON object; write {\"name\": value}");
}

bool JsonRequest::has(std::string_view name) const {
  const auto found = object_.find(name);
  return found != object_.end() && !found->is_null();
}

const nlohmann::json* JsonRequest::take(const char* name) {
  known_.emplace_back(name);
  return has(name) ? &object_.at(name) : nullptr;
}

void JsonRequest::throw_wrong_type(const char* name, const nlohmann::json& value) {
  throw UserError(fmt::format("{}: {} is of another type", name, shown(value.dump().substr(0, 80))));
}

void JsonRequest::finish(DecodingOptions& decoding) {
  for (const auto& [name, value] : object_.items()) {
    if (value.is_null() || std::ranges::find(known_, name) != known_.end()) continue;
    set_option(decoding, name, option_text(value));
  }
}

void JsonRequest::finish() const {
  for (const auto& [name, value] : object_.items())
    if (std::ranges::find(known_, name) == known_.end())
      throw UserError(fmt::format("{}: no such option here; there are {}", shown(name), fmt::join(known_, ", ")));
}

}  // namespace nmt::api
