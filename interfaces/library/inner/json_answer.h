#pragma once

#include <functional>

#include "library/inner/fields.h"

namespace nmt::api {

using Json = nlohmann::ordered_json;

/// The members of the struct's list.
template <typename Struct>
Json fields_of(const Struct& value) {
  Json json;
  for_each_field(value, [&](const char* name, auto member) { json[name] = value.*member; });
  return json;
}

/// Answers of nmt.h, which says what stands in them.
Json to_json(const Alternative& alternative, const TranslateOptions& options);
Json to_json(const Translation& translation, const TranslateOptions& options);
Json to_json(const Score& score);
Json to_json(const ValidationFigures& figures);

/// Callbacks that tell each event of a training as JSON: {"event": "update", ...}.
TrainingCallbacks callbacks_to(const std::function<void(const Json&)>& tell);

}  // namespace nmt::api
