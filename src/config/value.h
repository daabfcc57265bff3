#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/option_table.h"

namespace nmt {

/// Reads a YAML value into the option's place in config. `where` ("FILE:LINE") starts every message.
/// Throws Error for a wrong type, a number that is not finite or out of range, a word that is not among the choices.
void assign_value(Config& config, const Option& option, const YAML::Node& value, const std::string& where);

/// The value as it is written in YAML, on one line: numbers as short as they read back the same, texts quoted where
/// they need it, lists as [a, b], an unset option as null.
std::string format_value(const Option& option, const Config& config);

/// "whole number", "list of texts", ...
std::string type_name(const Option& option);

/// The words that the option chooses among; empty for any other option.
std::span<const std::string_view> choices_of(const Option& option);

/// "at least 0 and below 1", "one of post, pre"; empty where everything is allowed.
std::string describe_limits(const Option& option);

/// Text from a file in a message: cut to a bearable length, control characters as question marks, so that a message
/// stays one line.
std::string shown(const std::string& text);

/// true, false or neither, as YAML spells them (true, no, On, ...).
std::optional<bool> parse_truth(const YAML::Node& value);

}  // namespace nmt
