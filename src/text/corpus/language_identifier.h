#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// Tells languages apart, for the rule `language` of data.clean. The core has none: a program hands one in.
class LanguageIdentifier {
 public:
  virtual ~LanguageIdentifier() = default;
  /// The share of a text, from 0 to 1, that is surely in other languages than `language` (a code such as de); 0 where
  /// it is too short to tell. `other` is the language that the text is in if it is not in `language`, most likely: the
  /// one of the pair's other side. Any number of threads may call it.
  virtual double share_of_others(std::string_view text, const std::string& language,
                                 const std::string& other) const = 0;
};

}  // namespace nmt
