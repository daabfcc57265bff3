#pragma once

#include <cstdint>
#include <vector>

#include "search/search_options.h"
#include "text/sentence_queue.h"

namespace nmt {

/// A DecodingModel that can search on its own, such as one whose state never leaves a card.
class SearchesByItself {
 public:
  virtual ~SearchesByItself() = default;
  /// All that search() does; false: it knows less than the options ask for, and search() has to.
  virtual bool search_by_itself(SentenceQueue<SearchInput, std::vector<Hypothesis>>& queue, int64_t batch_size,
                                const SearchOptions& options) = 0;
};

}  // namespace nmt
