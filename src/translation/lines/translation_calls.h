#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace nmt {

/// What a caller hears of a translation under way, and may say to it. Each may be empty.
struct TranslationCalls {
  /// Called with the number of lines done so far whenever there are more, by one thread at a time; what it throws ends
  /// the translation.
  std::function<void(int64_t)> progress = {};
  /// Asked while long lines are cut into parts and before each step of the search, by several threads at once: true
  /// ends it with TranslationStopped.
  std::function<bool()> stopped = {};
};

/// A translation ended because its caller said so.
class TranslationStopped : public std::runtime_error {
 public:
  TranslationStopped() : std::runtime_error("the translation was stopped") {}
};

}  // namespace nmt
