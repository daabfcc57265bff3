#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The configurations that a file may name as its `base:` without their own files being there: for a user's own text.
struct Preset {
  std::string_view name;     ///< "small_text"
  std::string_view summary;  ///< "up to 40,000 pairs"
  const std::string& yaml;   ///< that of configs/NAME.yaml when the toolkit was built
};

const std::vector<Preset>& presets();
const Preset* find_preset(std::string_view name);  ///< null: there is none

// Of configs/, embedded by CMake.
const std::string& small_text_preset();
const std::string& medium_text_preset();
const std::string& large_text_preset();

}  // namespace nmt
