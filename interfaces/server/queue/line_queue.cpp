#include "server/queue/line_queue.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace nmt {

LineTranslator in_batches(TranslateFunction translate) {
  return [translate = std::move(translate)](LineQueue& lines) {
    auto taken = lines.take(std::numeric_limits<int64_t>::max());
    if (taken.empty()) return;
    std::vector<ServiceRequest> questions;
    for (auto& line : taken) questions.push_back(std::move(line.question));
    // Lines that were cancelled are taken off then; the rest is answered.
    std::vector<bool> gone(taken.size());
    const auto stopped = [&] {
      for (size_t i = 0; i < taken.size(); ++i) gone[i] = gone[i] || lines.is_cancelled(taken[i].id);
      return std::ranges::find(gone, false) == gone.end();
    };
    auto answers = translate(questions, stopped);
    if (stopped()) return;
    if (answers.size() != taken.size()) throw std::logic_error("not an answer for each line");
    for (size_t i = 0; i < taken.size(); ++i)
      if (!gone[i]) lines.answer(taken[i].id, std::move(answers[i]));
  };
}

}  // namespace nmt
