#include "translation/lines/loops.h"

#include <algorithm>

namespace nmt {

bool repeats_itself(std::span<const int32_t> tokens) {
  constexpr int64_t kTimes = 4, kTokens = 8;
  const int64_t length = std::ssize(tokens);
  for (int64_t period = 1; period * kTimes <= length; ++period) {
    const int64_t wanted = std::max(period * kTimes, kTokens) - period;  // tokens that equal the one a period before
    int64_t equal = 0;
    for (int64_t i = period; i < length; ++i) {
      equal = tokens[i] == tokens[i - period] ? equal + 1 : 0;
      if (equal >= wanted) return true;
    }
  }
  return false;
}

bool is_loop(const Alternative& alternative) {
  return std::ranges::any_of(alternative.parts, [](const AlternativePart& part) {
    const bool is_far_longer = !part.finished && std::ssize(part.target) >= 2 * std::ssize(part.source) + 20;
    return is_far_longer || (repeats_itself(part.target) && !repeats_itself(part.source));
  });
}

}  // namespace nmt
