#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "search/search.h"
#include "translation/lines/line_job.h"
#include "translation/lines/translation_calls.h"
#include "translation/lines/translation_queue.h"

namespace nmt {

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
  bool is_given_up(int64_t id) override;
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
