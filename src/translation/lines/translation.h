#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "translation/request.h"

namespace nmt {

using TranslationRequest = Request;

/// Lines that may come in while others are translated, and what becomes of them. A translator's threads call it at the
/// same time.
class TranslationQueue {
 public:
  struct Item {
    int64_t id = 0;  ///< of the queue's own
    TranslationRequest request = {};
    /// Where it can be requested, is_cancelled() is asked only once it is: a look at it costs the others nothing.
    std::stop_token cancelled = {};
  };
  virtual ~TranslationQueue() = default;
  /// The next lines, `count` at most; fewer where there are no more, or no more for now: it is asked again soon.
  virtual std::vector<Item> take(int64_t count) = 0;
  /// Called by a thread that has nothing to do. It may wait for more; false: the thread ends.
  virtual bool wait() { return false; }
  virtual void finish(int64_t id, Translation translation) = 0;
  /// Asked of each line that was taken between the steps of its search: true drops it, and it is not finished.
  virtual bool is_cancelled(int64_t /*id*/) { return false; }
  /// Lines that may be taken now: the threads take an even share of them.
  virtual int64_t waiting() const = 0;
  /// A thread has failed: wait() and take() have nothing more for the others.
  virtual void close() {}
};

}  // namespace nmt
