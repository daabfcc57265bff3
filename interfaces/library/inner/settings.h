#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "nmt/translator.h"

namespace nmt::api {

/// Options of the section `decoding`: names with values.
using DecodingSettings = std::vector<std::pair<std::string, std::string>>;

/// "beam_size=8" and the like. Throws nmt::Error for what has no name or no value.
DecodingSettings parse_settings(const std::vector<std::string>& settings);
/// What the options of a call say, the named ones and TranslateOptions::settings.
DecodingSettings settings_of(const TranslateOptions& options);

/// Whether the option has no effect where given translations are scored; false for one that is not known.
bool is_of_search_alone(std::string_view name);

/// A model's own configuration with these options. Throws nmt::Error for an option that is not known, a value out of
/// range, and options that contradict each other.
nmt::Config with_settings(nmt::Config config, const DecodingSettings& settings);

}  // namespace nmt::api
