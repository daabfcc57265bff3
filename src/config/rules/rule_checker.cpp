#include "config/rules/rule_checker.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/option_listing.h"

namespace nmt {

void RuleChecker::refuse(std::initializer_list<const char*> keys, const std::string& why) const {
  std::string place = name;
  for (const char* key : keys) {
    if (const auto found = origins.find(key); found != origins.end()) {
      place = found->second;
      break;
    }
  }
  throw Error(fmt::format("{}: {}: {}", place, *keys.begin(), why));
}

void RuleChecker::refuse_changed(std::initializer_list<const char*> keys, const std::string& why) const {
  static const Config kDefaults;
  for (const auto& difference : differences(kDefaults, config))
    for (const char* key : keys)
      if (difference.key == key) refuse({key}, why);
}

}  // namespace nmt
