#pragma once

#include "nn/decode/key_value_cache.h"

namespace nmt {

/// CacheForm::kPlain: keys and values are tensors [rows, capacity, features] that move with their rows. All rows stand
/// at one position. A step of n tokens makes the sums of n single steps.
class PlainKeyValueCache final : public KeyValueCache {
 public:
  explicit PlainKeyValueCache(const AttentionForm& form) : form_(form) {}
  void append(const torch::Tensor& keys_and_values) override;
  torch::Tensor attend(const torch::Tensor& q) override;
  void select(const torch::Tensor& rows) override;
  void join(LayerCache& other, int64_t own_rows, int64_t other_rows) override;

 private:
  AttentionForm form_;
  torch::Tensor keys_, values_;  // undefined before the first step
  int64_t length_ = 0;           // positions that count
};

/// The same for encoder outputs: each step gathers those of its rows.
class PlainSourceCache final : public SourceCache {
 public:
  PlainSourceCache(const torch::Tensor& keys_and_values, const AttentionForm& form);
  torch::Tensor attend(const torch::Tensor& q, std::span<const SourcePlace> places) override;

 private:
  AttentionForm form_;
  KeyValues sentences_;
};

}  // namespace nmt
