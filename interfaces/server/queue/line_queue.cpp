#include "server/queue/line_queue.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace nmt {

LineTranslator in_batches(TranslateFunction translate) {
  return [translate = std::move(translate)](const LanguagePair&, LineQueue& lines) {
    auto taken = lines.take(std::numeric_limits<int64_t>::max());
    if (taken.empty()) return;
    std::vector<ServiceRequest> requests;
    for (const auto& line : taken) requests.push_back(line.request());
    const auto stopped = [&] { return std::ranges::all_of(taken, &LineQueue::Handle::cancelled); };
    auto results = translate(requests, stopped);
    if (stopped()) return;
    if (results.size() != taken.size()) throw std::logic_error("not an answer for each line");
    for (size_t i = 0; i < taken.size(); ++i)
      if (!taken[i].cancelled()) taken[i].finish(std::move(results[i]));
  };
}

}  // namespace nmt
