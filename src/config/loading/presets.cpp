#include "config/loading/presets.h"

#include <algorithm>

namespace nmt {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{{"small_text", "up to 40,000 pairs", small_text_preset()},
                                       {"medium_text", "up to a million pairs", medium_text_preset()},
                                       {"large_text", "millions of pairs", large_text_preset()}};
  return all;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace nmt
