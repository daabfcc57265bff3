#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "models/search/torch_step.h"
#include "search/search.h"

namespace nmt {

/// Searches of tests with models of LibTorch.
inline void search(std::span<const SearchModel> models, SearchQueue& queue, int64_t batch_size,
                   const SearchOptions& options) {
  TorchModels together(models);
  search(together, queue, batch_size, options);
}

/// A batch of sentences and for each its n_best hypotheses.
inline std::vector<std::vector<Hypothesis>> search(std::span<const SearchModel> models,
                                                   std::span<const SearchInput> inputs, const SearchOptions& options) {
  ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
  search(models, queue, std::max<int64_t>(1, std::ssize(inputs)), options);
  std::vector<std::vector<Hypothesis>> results;
  for (auto& found : queue.results()) results.push_back(std::move(found.value()));
  return results;
}

/// With one model, whose sources end with </s>.
inline std::vector<std::vector<Hypothesis>> search(TranslationModel& model,
                                                   const std::vector<std::vector<int32_t>>& sources,
                                                   const SearchOptions& options) {
  std::vector<SearchInput> inputs;
  for (const auto& source : sources) inputs.push_back({.sources = {source}});
  const SearchModel only{.model = &model};
  return search(std::span(&only, 1), inputs, options);
}

}  // namespace nmt
