#include "config/json.h"

#include <string>

#include "config/option_table.h"

namespace nmt {
namespace {

template <typename T>
nlohmann::ordered_json json_of(const T& value) {
  return value;
}
template <typename T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(const NamedChoice& value) { return value.name(); }
nlohmann::ordered_json json_of(const std::vector<TextSet>& sets) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, source, target] : sets)
    list.push_back({{"name", name}, {"source", source}, {"target", target}});
  return list;
}
nlohmann::ordered_json json_of(const NamedChoices& values) { return values.chosen_names(); }

}  // namespace

nlohmann::ordered_json to_json(const Config& config) {
  Config copy = config;  // the table speaks of places that may be written
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Option& option : options())
    json[std::string(option.section)][std::string(option.name)] =
        std::visit([](const auto* value) { return json_of(*value); }, option.of(copy));
  return json;
}

}  // namespace nmt
