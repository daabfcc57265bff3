#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nmt {

/// The option reference in Markdown (docs/options.md is exactly this; a test compares).
std::string option_reference();

/// The same table as JSON, for manual pages and completions (packaging/manual): {sections: [{name, help}],
/// options: [{section, name, help, type, default, limits, choices, is_text, may_change}]}.
nlohmann::json options_json();

}  // namespace nmt
