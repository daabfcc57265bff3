#pragma once

#include "nn/decode/key_value_cache.h"

namespace nmt {

/// CacheForm::kStatic: keys and values [rows, key_value heads, capacity, head_dim] stay where they are; a step writes
/// one position, its slot, and looks at the positions that the slot shows. One token a row and step.
class StaticKeyValueCache final : public KeyValueCache {
 public:
  StaticKeyValueCache(std::shared_ptr<const StaticSlot> slot, const AttentionForm& form)
      : slot_(std::move(slot)), heads_(form.heads) {}
  void append(const torch::Tensor& keys_and_values) override;
  torch::Tensor attend(const torch::Tensor& q) override { return attention_step(q, kept_); }
  void select(const torch::Tensor& rows) override;
  void join(LayerCache& other, int64_t own_rows, int64_t other_rows) override;
  void continue_from(const LayerCache& from, const torch::Tensor& parents, int64_t steps) override;
  int64_t bytes() const override;

 private:
  std::shared_ptr<const StaticSlot> slot_;
  HeadCounts heads_;
  StaticKeyValues kept_;  // made at the first step, changed in place afterwards
};

/// Keys and values of encoder outputs in the places of the rows: [rows, key_value heads, capacity, head_dim].
class StaticSourceCache final : public SourceCache {
 public:
  explicit StaticSourceCache(StaticKeyValues of_rows) : of_rows_(std::move(of_rows)) {}
  torch::Tensor attend(const torch::Tensor& q, std::span<const SourcePlace> /*places*/) override {
    return attention_step(q, of_rows_);
  }

 private:
  StaticKeyValues of_rows_;
};

/// [batch, time, key_value heads * head_dim] -> [batch, key_value heads, time, head_dim], contiguous.
torch::Tensor heads_first(const torch::Tensor& x, HeadCounts heads);

}  // namespace nmt
