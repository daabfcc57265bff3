#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "server/queue/question.h"

namespace nmt {

/// Lines of one pair of languages that wait for their translations, of many clients; more may come while a translator
/// works on those that it has. Its threads may call the queue at the same time.
class LineQueue {
 public:
  struct Line {
    int64_t id = 0;
    Question question = {};
    std::stop_token given_up = {};  ///< requested once nobody waits for the answer any more; see is_given_up()
  };
  virtual ~LineQueue() = default;

  virtual const LanguagePair& pair() const = 0;
  /// Lines that may be taken now.
  virtual int64_t waiting() const = 0;
  /// The next lines, `count` at most: of each client that waits an even share. None once another pair's turn has come.
  virtual std::vector<Line> take(int64_t count) = 0;
  /// For a thread that has nothing to do: true once there are lines to take, false when it is to end because all that
  /// were taken are answered.
  virtual bool wait() = 0;
  /// The answer to a line that was taken; each once, in any order.
  virtual void answer(int64_t id, Answer answer) = 0;
  /// True where nobody waits for the answer to a line any more: it is taken off, and need not be answered.
  virtual bool is_given_up(int64_t id) = 0;
  /// A thread has failed: wait() and take() have nothing more for the others.
  virtual void close() = 0;
};

/// The translator behind the service: takes lines and answers them until it is told to end. What it throws is logged;
/// the lines that it has not answered are given to it once more, one by one, and those at which it fails again are told
/// to their clients as status 500.
using LineTranslator = std::function<void(LineQueue& lines)>;

/// A translator of lists as one of lines: it is called once, with as many lines as there are.
LineTranslator in_batches(TranslateFunction translate);

}  // namespace nmt
