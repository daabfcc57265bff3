#pragma once

#include <string>

namespace nmt {

/// "de" -> "German", "zh-Hant" -> "Traditional Chinese"; a code that nobody knows is its own name.
std::string language_name(const std::string& code);

}  // namespace nmt
