#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/kinds.h"
#include "text/corpus/language_identifier.h"
#include "text/corpus/text_profile.h"

namespace nmt {

/// A rule of data.clean that looks at one pair alone. Any number of threads may ask it.
class ContentRule {
 public:
  virtual ~ContentRule() = default;
  /// From 0 (nothing is wrong) up.
  virtual double score(const TextProfile& source, const TextProfile& target) const = 0;
  CleaningRule rule() const { return rule_; }
  double threshold() const { return threshold_; }  ///< a pair whose score is higher is dropped
  double usual() const { return usual_; }          ///< scores are mostly below: where a histogram ends

 protected:
  ContentRule(CleaningRule rule, double threshold, double usual) : rule_(rule), threshold_(threshold), usual_(usual) {}

 private:
  CleaningRule rule_;
  double threshold_, usual_;
};

/// What finds a text again, however it is written: without case, signs, digits and spaces.
struct Spelling {
  uint64_t hash = 0;     ///< of the letters; 0: there is none
  bool is_long = false;  ///< 20 letters or more: no phrase that stands in many texts
};

/// What the rules find in one pair.
struct ContentFinding {
  std::optional<CleaningRule> rule = {};  ///< the first one that drops it
  std::vector<float> scores = {};         ///< of all of ContentRules::rules()
  double score = 0;                       ///< of `rule`
  Spelling source = {}, target = {};
};

/// The rules that data.clean chooses.
class ContentRules {
 public:
  /// languages: codes of source and target. identifier: for the rule `language`, must outlive this; null: there is
  /// none. Throws Error where `language` is chosen and there is none.
  ContentRules(const Choices<CleaningRule>& chosen, const std::string& source_language,
               const std::string& target_language, const LanguageIdentifier* identifier);

  ContentFinding judge(std::string_view source, std::string_view target) const;
  Spelling source_spelling(std::string_view text) const;
  Spelling target_spelling(std::string_view text) const;
  bool contains(CleaningRule rule) const;
  /// The rules that have a score, in the order in which they are asked.
  const std::vector<std::unique_ptr<const ContentRule>>& rules() const { return rules_; }

 private:
  std::vector<std::unique_ptr<const ContentRule>> rules_;
  Choices<CleaningRule> chosen_;
  LanguageScripts source_scripts_, target_scripts_;
};

}  // namespace nmt
