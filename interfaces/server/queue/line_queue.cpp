#include "server/queue/line_queue.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace nmt {

LineTranslator in_batches(TranslateFunction translate) {
  return [translate = std::move(translate)](const LanguagePair& pair, TranslationQueue& lines) {
    auto taken = lines.take(std::numeric_limits<int64_t>::max());
    if (taken.empty()) return;
    std::vector<Request> requests;
    for (const auto& line : taken) requests.push_back(line.request());
    const auto stopped = [&] { return std::ranges::all_of(taken, &TranslationQueue::Handle::cancelled); };
    auto results = translate(pair, requests, stopped);
    if (stopped()) return;
    if (results.size() != taken.size()) throw std::logic_error("not an answer for each line");
    for (size_t i = 0; i < taken.size(); ++i)
      if (!taken[i].cancelled()) taken[i].finish(std::move(results[i]));
  };
}

}  // namespace nmt
