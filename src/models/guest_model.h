#pragma once

#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "search/searchable_model.h"

namespace nmt {

/// While it lives, the calling thread's torch.no_grad() and torch.autocast() do not hold for it.
class OwnTorchSettings {
  const c10::AutoGradMode with_gradients_{true};
  const c10::impl::ExcludeDispatchKeyGuard without_autocast_{c10::autocast_dispatch_keyset};
};

/// Throws Error where the process has loaded another minor version of LibTorch than the toolkit was built with: one
/// that the program itself or another library brought along.
void require_matching_torch();

/// A model of LibTorch in a process whose LibTorch others use, too: whatever they have set, its searches have so many
/// threads, and none of their other settings.
class GuestModel final : public SearchableModel {
 public:
  GuestModel(std::shared_ptr<SearchableModel> model, int threads) : model_(std::move(model)), threads_(threads) {}

  LengthLimits limits() const override { return model_->limits(); }
  bool is_on_cpu() const override { return model_->is_on_cpu(); }
  std::unique_ptr<SearchGroup> group(std::span<const SearchMember> members) override;
  std::vector<AttentionLayer> attention_layers(std::span<const int64_t> source,
                                               std::span<const int64_t> target_in) override;

 private:
  std::shared_ptr<SearchableModel> model_;
  int threads_;
};

}  // namespace nmt
