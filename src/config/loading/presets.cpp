#include "config/loading/presets.h"

#include <algorithm>

namespace nmt {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{{"student", student_preset()},
                                       {"small_text", small_text_preset()},
                                       {"medium_text", medium_text_preset()},
                                       {"large_text", large_text_preset()}};
  return all;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace nmt
