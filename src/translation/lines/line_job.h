#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "search/beams/hypothesis.h"
#include "search/rules/search_input.h"
#include "search/rules/search_options.h"
#include "text/codec/codec.h"
#include "translation/lines/term_plan.h"
#include "translation/lines/translation.h"

namespace nmt {

struct LineJob;

/// A line, or a part of one that was too long, on its way through the search.
struct LinePart {
  LineJob* line = nullptr;
  SearchInput input = {};
  int64_t repeated = 0;        ///< SourcePart::repeated
  bool misses_a_wish = false;  ///< a phrase or prefix that only <unk> writes, a prefix beyond the length limit
  std::vector<Hypothesis> hypotheses = {};
};

/// A line on its way from text to translation. Its parts point at it: it stays where it is while they are searched.
struct LineJob {
  TranslationRequest request = {};
  int64_t number = 0;             ///< samples are keyed by it
  int64_t id = 0;                 ///< of the queue that it comes from
  std::stop_token given_up = {};  ///< the same
  /// Nobody waits for it any more: asked while it is cut into parts, see encode_in_parts().
  std::function<bool()> stopped = {};
  TermPlan plan = {};    ///< of its terms and placeholders
  bool cut_all = false;  ///< terms, too: some that were to appear have not
  Translation result = {};
  std::vector<LinePart> parts = {};
  int64_t parts_left = 0;   ///< that are not searched yet
  bool is_dropped = false;  ///< it was given up while a part was searched: there is nothing to make of the others
};

/// Makes the translation of what was found for the parts. aligns: the model has attention, by which what was cut out is
/// put back.
void compose(LineJob& job, const TextCodec& codec, const SearchOptions& options, bool aligns);

/// What a search found, as text.
Alternative to_alternative(const TextCodec& codec, const std::vector<int32_t>& source, Hypothesis hypothesis);

}  // namespace nmt
