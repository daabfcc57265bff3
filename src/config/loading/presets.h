#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// A configuration for a user's own text or a student: configs/NAME.yaml when the toolkit was built. A file names it as
/// its `base:` wherever it stands.
struct Preset {
  std::string_view name;  ///< "small_text"
  const std::string& yaml;
};

const std::vector<Preset>& presets();              ///< the smallest first
const Preset* find_preset(std::string_view name);  ///< null: there is none

// What CMake embeds.
const std::string& student_preset();
const std::string& small_text_preset();
const std::string& medium_text_preset();
const std::string& large_text_preset();

}  // namespace nmt
