#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace nmt {

/// Shares of the training pairs that an epoch sees changed: training.augment_upper and its neighbours.
struct AugmentationRates {
  double upper = 0, title = 0, typos = 0, no_end_mark = 0, joined = 0;
  bool any() const { return upper + title + typos + no_end_mark + joined > 0; }
};

/// What is changed of a pair, in this order.
struct TextChanges {
  bool joined = false;                ///< the pair that follows stands behind it, on both sides
  bool no_end_mark = false;           ///< each side loses the mark at its end
  bool upper = false, title = false;  ///< case of both sides; at most one of them
  bool typos = false;                 ///< of the source alone
  bool any() const { return joined || no_end_mark || upper || title || typos; }
};

/// Each change at its rate, whatever the others are; upper and title case exclude each other.
TextChanges draw_changes(const AugmentationRates& rates, CounterRandom& random);

/// The tags that a text begins with, with the spaces behind them: ">>fr<< ", "<BT> ". They tell a model what to do and
/// are never changed.
std::string_view leading_tags(std::string_view text);

/// A side of a pair with the changes but for typos. next: that side of the pair that follows, whose tags are left out;
/// empty: there is none. Throws Error if text is not UTF-8.
std::string changed_text(std::string_view text, std::string_view next, const TextChanges& changes);

/// A typo for every 25 letters, one at least: two letters of a word change places, one is left out, doubled or replaced
/// by another letter of the text.
std::string with_typos(std::string_view text, CounterRandom& random);

}  // namespace nmt
