#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "search/search.h"
#include "search/search_options.h"
#include "text/codec/codec.h"
#include "translation/lines/term_plan.h"
#include "translation/lines/translation.h"

namespace nmt {

struct LineJob;

/// A line, or a part of one that was too long, on its way through the search.
struct LinePart {
  LineJob* line = nullptr;
  SearchInput input = {};
  int64_t repeated = 0;              ///< SourcePart::repeated
  bool misses_a_constraint = false;  ///< a phrase or prefix that only <unk> writes, a prefix beyond the length limit
  std::vector<Hypothesis> hypotheses = {};
};

/// A line on its way from text to translation. Its parts point at it: it stays where it is while they are searched.
struct LineJob {
  TranslationRequest request = {};
  int64_t number = 0;              ///< samples are keyed by it
  int64_t id = 0;                  ///< of the queue that it comes from
  std::stop_token cancelled = {};  ///< the same
  /// Nobody waits for it any more: asked while it is cut into parts, see encode_in_parts().
  std::function<bool()> stopped = {};
  TermPlan plan = {};    ///< of its terms and placeholders
  bool cut_all = false;  ///< terms, too: some that were to appear have not
  Translation result = {};
  std::vector<LinePart> parts = {};
  int64_t parts_left = 0;   ///< that are not searched yet
  bool is_dropped = false;  ///< it was cancelled while a part was searched: there is nothing to make of the others
};

/// Makes the translation of what was found for the parts. aligns: there is attention, by which words belong together
/// and what was cut out is put back.
void compose(LineJob& job, const TextCodec& codec, const SearchOptions& options, bool aligns);

/// What a search found, as text.
Alternative to_alternative(const TextCodec& codec, const std::vector<int32_t>& source, Hypothesis hypothesis);

/// The parts of lines that are all there, for searches in several threads: the longest first, so that sentences that
/// are searched together have little padding, and what needs most memory comes first.
class SortedParts final : public SearchQueue {
 public:
  /// Borrows both. Lines without parts are done already.
  SortedParts(std::span<LineJob> lines, const TranslationCalls& calls);

  std::vector<Item> take(int64_t count) override;
  void finish(int64_t id, std::vector<Hypothesis> hypotheses) override;
  bool stopped() override;  ///< throws TranslationStopped
  void close();             ///< from now on there is nothing to take
  int64_t size() const { return std::ssize(parts_); }

 private:
  const TranslationCalls& calls_;
  std::vector<LinePart*> parts_;
  std::mutex mutex_;  // of what follows
  size_t next_ = 0;
  int64_t lines_done_ = 0;
};

/// The parts of lines that come in while others are searched.
class LiveParts final : public SearchQueue {
 public:
  /// What a translator does with a line.
  struct Steps {
    std::function<void(LineJob&)> begin;   ///< makes the parts
    std::function<bool(LineJob&)> finish;  ///< makes the result of what was found; false: begin it again
  };
  /// Borrows lines. threads: that search, at most.
  LiveParts(TranslationQueue& lines, int64_t threads, Steps steps)
      : lines_(lines), threads_(threads), steps_(std::move(steps)) {}

  std::vector<Item> take(int64_t count) override;
  bool wait() override;
  void finish(int64_t id, std::vector<Hypothesis> hypotheses) override;
  bool is_cancelled(int64_t id) override;
  void close();

 private:
  void begin(TranslationQueue::Item item);
  void add_parts(LineJob& line);
  std::list<LineJob> taken_out(const LineJob& line);

  TranslationQueue& lines_;
  const int64_t threads_;
  Steps steps_;
  std::mutex mutex_;  // of what follows
  std::list<LineJob> under_way_;
  std::deque<LinePart*> ready_;
  bool closed_ = false;
};

}  // namespace nmt
