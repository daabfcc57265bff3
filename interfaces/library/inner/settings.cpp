#include "library/inner/settings.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "config/loading/yaml_reader.h"
#include "config/option_table.h"
#include "config/rules/consistency.h"
#include "config/suggestion.h"
#include "config/value.h"
#include "library/inner/guard.h"

namespace nmt::api {
namespace {

constexpr std::string_view kSection = "decoding";

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::vector<std::string>& value) { return nlohmann::json(value).dump(); }
template <typename Number>
std::string text_of(Number value) {
  return fmt::format("{}", value);
}

/// The option that is called so, with or without its section. Throws nmt::Error.
const Option& named_option(std::string_view name) {
  constexpr std::string_view kBefore = "decoding.";
  if (name.starts_with(kBefore)) name.remove_prefix(kBefore.size());
  if (const auto* option = find_option(kSection, name)) return *option;
  throw nmt::Error(fmt::format("unknown option {}{}", shown(std::string(name)),
                               suggest_option(std::string(kSection), std::string(name))));
}

void assign(nmt::Config& config, const Option& option, const std::string& value) {
  const std::string where = fmt::format("{} {}", option.name, shown(value));
  assign_value(config, option, parse_value(option, value, where), where);
}

}  // namespace

void set_option(DecodingOptions& options, const std::string& name, const std::string& value) {
  guarded([&] {
    const Option& option = named_option(name);
    nmt::Config config;
    assign(config, option, value);
    const Field field = option.of(config);
    for_each_option(options, [&]<typename Value>(std::string_view member, std::optional<Value>& place) {
      if (member != option.name) return;
      if (const auto* const* found = std::get_if<Value*>(&field))
        place = **found;
      else if constexpr (std::is_same_v<Value, std::string>)
        place = std::get<NamedChoice*>(field)->name();
    });
  });
}

DecodingSettings settings_of(const DecodingOptions& options) {
  DecodingSettings settings;
  for_each_option(options, [&](const char* name, const auto& value) {
    if (value) settings.emplace_back(name, text_of(*value));
  });
  if (options.sampling.value_or(false) && !options.beam_size) settings.emplace_back("beam_size", "1");
  return settings;
}

nmt::Config with_settings(nmt::Config config, const DecodingSettings& settings) {
  if (settings.empty()) return config;
  std::vector<std::string> changed;
  for (const auto& [name, value] : settings) {
    assign(config, named_option(name), value);
    changed.push_back(name);
  }
  follow_changes(config.decoding, changed);
  check_consistency(config, "options");
  return config;
}

}  // namespace nmt::api
