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
class RuleChecker {
 public:
  /// The arguments must outlive the checker; `name` is the place of a contradiction in which no option was set.
  RuleChecker(const Config& config, const std::string& name, const Origins& origins)
      : config_(config), name_(name), origins_(origins) {}

  /// Throws Error. Its place is that of the first of `keys` that was set; its message starts with the first key.
  [[noreturn]] void refuse(std::initializer_list<const char*> keys, const std::string& why) const;

  /// Throws Error where one of `keys` is not at its default. Options without meaning here may stand at their defaults,
  /// as they do in a complete configuration.
  void refuse_changed(std::initializer_list<const char*> keys, const std::string& why) const;

 protected:
  bool has_validation_text() const {
    return (!config_.data.eval1.empty() && !config_.data.eval2.empty()) || !config_.data.eval.empty();
  }

  const Config& config_;

 private:
  const std::string& name_;
  const Origins& origins_;
};

}  // namespace nmt
