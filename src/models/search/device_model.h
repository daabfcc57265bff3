#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/search/device_search.h"
#include "models/search/torch_step.h"
#include "search/searches_by_itself.h"

namespace nmt {

/// A model that DeviceSearch searches where it can, and TorchModels everywhere else. Borrows both.
class DeviceModel final : public DecodingModel, public SearchesByItself {
 public:
  DeviceModel(std::span<const SearchModel> models, DeviceSearch& own) : plain_(models), own_(own) {}
  bool search_by_itself(SearchQueue& queue, int64_t batch_size, const SearchOptions& options) override;

  std::unique_ptr<DecodingStep> start(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                                      const LogitsRules& rules) override {
    return plain_.start(sentences, options, rules);
  }
  bool joins() const override { return plain_.joins(); }
  bool exact_blocks() const override { return plain_.exact_blocks(); }
  int64_t target_vocabulary() const override { return plain_.target_vocabulary(); }
  void add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                     std::vector<std::vector<Hypothesis>>& results) override {
    plain_.add_attention(sentences, options, results);
  }

 private:
  TorchModels plain_;
  DeviceSearch& own_;
};

/// Null unless these are one Transformer in bfloat16 on a card, of sizes that its kernels compute
/// (kernel_search_operations), and the kernels are right on that card (checked_search_operations). Borrows the models.
std::unique_ptr<DeviceSearch> make_device_search(std::span<const SearchModel> models);

}  // namespace nmt
