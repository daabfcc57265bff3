#pragma once

#include "base/strict_json.h"
#include "config/config.h"

namespace nmt {

/// Every option as {section: {name: value}}, null where an optional one is not set. JSON is YAML: parse_config() reads
/// it back.
nlohmann::ordered_json to_json(const Config& config);

}  // namespace nmt
