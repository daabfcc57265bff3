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

/// The options that are set. Samples are drawn without a beam: beam_size is 1 with them unless it is set.
DecodingSettings settings_of(const DecodingOptions& options);

/// A model's own configuration with these options. Throws nmt::Error for an option that is not known, a value out of
/// range, and options that contradict each other.
nmt::Config with_settings(nmt::Config config, const DecodingSettings& settings);

}  // namespace nmt::api
