#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/strict_json.h"
#include "config/config.h"

namespace nmt {

/// Options whose value differs, as "section.key: OLD -> NEW" with their section.key.
struct ConfigDifference {
  std::string key, before, after;
  bool may_change_on_resume;  ///< stopping, validation, logging and decoding options
};
std::vector<ConfigDifference> differences(const Config& before, const Config& after);

/// The options of a section with their values, as format_value() writes them.
std::map<std::string, std::string> section_values(const Config& config, std::string_view section);

/// Every option as {section: {name: value}}, null where an optional one is not set. JSON is YAML: parse_config() reads
/// it back.
nlohmann::ordered_json to_json(const Config& config);

/// The option reference in Markdown (docs/options.md is exactly this; a test compares).
std::string option_reference();

/// The options whose name or help has this word, in any case: a line "section.name: default (type, limits)" each, and
/// one with its help. Empty: none has.
std::string options_about(std::string_view word);

/// The same table as JSON, for manual pages and completions (packaging/manual): {sections: [{name, help}],
/// options: [{section, name, help, type, default, limits, choices, is_text, may_change}]}.
nlohmann::json options_json();

}  // namespace nmt
