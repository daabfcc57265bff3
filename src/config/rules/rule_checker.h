#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include "config/config.h"

namespace nmt {

/// Where each option was set ("FILE:LINE" or "--set ..."), by section.key; options that are not there have their
/// default.
using Origins = std::map<std::string, std::string>;

/// A configuration under test, and how its contradictions are reported.
struct RuleChecker {
  const Config& config;
  const std::string& name;  ///< the place of a contradiction in which no option was set
  const Origins& origins;

  /// Throws Error. Its place is that of the first of `keys` that was set; its message starts with the first key.
  [[noreturn]] void refuse(std::initializer_list<const char*> keys, const std::string& why) const;

  /// Throws Error where one of `keys` is not at its default. Options without meaning here may stand at their defaults,
  /// as they do in a complete configuration.
  void refuse_changed(std::initializer_list<const char*> keys, const std::string& why) const;

  bool has_validation_text() const {
    return (!config.data.eval1.empty() && !config.data.eval2.empty()) || !config.data.eval.empty();
  }
};

}  // namespace nmt
