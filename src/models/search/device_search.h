#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "models/search/search_operations.h"
#include "models/search/search_weights.h"
#include "models/search/torch_step.h"
#include "search/search.h"

namespace nmt {

/// Greedy and beam search of a Transformer of which nothing leaves its device between steps: a step is recorded once
/// for each number of rows, replayed some times, and then the host looks which sentences are done and gives their
/// places to others. The rules and results are those of search(); log-probabilities are those of logits in the model's
/// type.
class DeviceSearch {
 public:
  static constexpr int64_t kSourceWords = 128, kTargetWords = 256;  ///< of a sentence at most
  static constexpr int64_t kSteps = 8;                              ///< between two looks of the host

  /// Borrows the model, which stays as it is.
  DeviceSearch(const SearchModel& model, std::shared_ptr<const SearchWeights> weights,
               std::unique_ptr<SearchOperations> operations);
  ~DeviceSearch();

  /// Whether it knows all that the options ask for.
  static bool supports(const SearchOptions& options);
  /// Does what search() does. Sentences that ask for more than it knows, or are too long, are left to `others`, which
  /// is called with a queue of them. Any number of threads.
  void search(SearchQueue& queue, int64_t batch_size, const SearchOptions& options,
              const std::function<void(SearchQueue&)>& others);

 private:
  class Memory;
  class Run;

  bool takes(const SearchInput& input, const SearchOptions& options) const;
  void step(Memory& memory, int64_t sentences) const;

  const SearchModel& model_;
  std::shared_ptr<const SearchWeights> weights_;
  std::unique_ptr<SearchOperations> operations_;
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Memory>> free_;
};

}  // namespace nmt
