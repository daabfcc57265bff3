#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace nmt {

/// Options whose value differs, as "section.key: OLD -> NEW" with their section.key.
struct ConfigDifference {
  std::string key, before, after;
  bool may_change_on_resume;  ///< stopping, validation, logging and decoding options
};
std::vector<ConfigDifference> differences(const Config& before, const Config& after);

}  // namespace nmt
