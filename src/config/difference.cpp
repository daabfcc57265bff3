#include "config/difference.h"

#include <utility>

#include "config/option_table.h"
#include "config/value.h"

namespace nmt {

std::vector<ConfigDifference> differences(const Config& before, const Config& after) {
  std::vector<ConfigDifference> result;
  for (const Option& option : options()) {
    std::string old_value = format_value(option, before), new_value = format_value(option, after);
    if (old_value == new_value) continue;
    result.push_back({.key = option.key(),
                      .before = std::move(old_value),
                      .after = std::move(new_value),
                      .may_change_on_resume = option.on_resume == OnResume::kMayChange});
  }
  return result;
}

}  // namespace nmt
