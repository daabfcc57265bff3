#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "search/search.h"
#include "search/search_options.h"
#include "text/codec/codec.h"
#include "translation/lines/request.h"
#include "translation/lines/term_plan.h"

namespace nmt {

/// A line, or a part of one that was too long, on its way through the search.
struct LinePart {
  SearchInput input = {};
  int64_t repeated = 0;              ///< SourcePart::repeated
  bool misses_a_constraint = false;  ///< a phrase or prefix that only <unk> writes, a prefix beyond the length limit
  std::vector<Hypothesis> hypotheses = {};
};

/// A line on its way from text to translation.
struct LineJob {
  Request request = {};
  int64_t number = 0;  ///< samples are keyed by it
  /// Nobody waits for it any more: asked while it is cut into parts, see encode_in_parts().
  std::function<bool()> stopped = {};
  TermPlan plan = {};    ///< of its terms and placeholders
  bool cut_all = false;  ///< terms, too: some that were to appear have not
  bool by_risk = false;  ///< rank_by_risk(): of all that is found, request.n_best stay
  bool retried = false;  ///< it was a loop and is searched once more
  Translation result = {};
  std::vector<LinePart> parts = {};
};

/// Makes the translation of what was found for the parts. aligns: there is attention, by which words belong together
/// and what was cut out is put back.
void compose(LineJob& job, const TextCodec& codec, const SearchOptions& options, bool aligns);

/// What a search found, as text.
Alternative to_alternative(const TextCodec& codec, const std::vector<int32_t>& source, Hypothesis hypothesis);

/// The parts of lines: what a search takes. A line is finished with its last part, and begun again where its terms ask
/// for a second attempt.
class PartQueue final : public SearchQueue {
 public:
  /// What a translator does with a line.
  struct Steps {
    std::function<void(LineJob&)> begin;   ///< makes the parts
    std::function<bool(LineJob&)> finish;  ///< makes the result of what was found; false: it was begun again
  };
  /// Borrows lines and calls. lines: more of them, taken as the search has space for their parts; null: there are none
  /// but those of add(). threads: that search, at most.
  PartQueue(TranslationQueue* lines, int64_t threads, Steps steps, const TranslationCalls& calls)
      : lines_(lines), threads_(threads), steps_(std::move(steps)), calls_(calls) {}

  /// Begins lines. first_number: LineJob::number of the first, the others' follow. threads: that do so where there are
  /// many.
  void add(std::vector<TranslationQueue::Handle> handles, int64_t first_number = 0, int64_t threads = 1);
  /// The parts that are there, the longest first, so that sentences that are searched together have little padding, and
  /// what needs most memory comes first.
  void sort();

  std::vector<Handle> take(int64_t count) override;
  bool wait() override;
  int64_t waiting() const override;  ///< parts
  bool stopped() override;           ///< throws TranslationStopped

 private:
  struct Line {
    TranslationQueue::Handle handle;
    LineJob job;
    int64_t parts_left = 0;  // that are not searched yet
  };
  struct Part {
    std::shared_ptr<Line> line;
    LinePart* part;
  };
  /// Null where it is cancelled.
  std::shared_ptr<Line> begun(TranslationQueue::Handle handle, int64_t number);
  void add_parts(const std::shared_ptr<Line>& line);
  void found(const Part& part, std::vector<Hypothesis> hypotheses);
  void finish(const std::shared_ptr<Line>& line);
  void close();

  TranslationQueue* const lines_;
  const int64_t threads_;
  const Steps steps_;
  const TranslationCalls& calls_;
  mutable std::mutex mutex_;  // of what follows, and of Line::parts_left
  std::deque<Part> ready_;
  int64_t lines_done_ = 0;
  bool closed_ = false;  // a thread has failed
};

}  // namespace nmt
