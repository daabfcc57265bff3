#pragma once

#include <vector>

#include "nn/decode/key_value_cache.h"
#include "nn/decode/step_history.h"

namespace nmt {

/// CacheForm::kCpu: no key and no value moves when hypotheses do. Rows may stand at different positions.
class CpuKeyValueCache final : public KeyValueCache {
 public:
  explicit CpuKeyValueCache(const AttentionForm& form) : form_(form) {}
  void append(const torch::Tensor& keys_and_values) override;
  torch::Tensor attend(const torch::Tensor& q) override;
  void select(const torch::Tensor& rows) override { history_.select(rows); }
  void join(LayerCache& other, int64_t own_rows, int64_t other_rows) override;

 private:
  AttentionForm form_;
  StepHistory history_;
};

/// The same for encoder outputs, in groups of sentences that started together.
class CpuSourceCache final : public SourceCache {
 public:
  CpuSourceCache(const torch::Tensor& keys_and_values, const AttentionForm& form);
  torch::Tensor attend(const torch::Tensor& q, std::span<const SourcePlace> places) override;
  void join(SourceCache& other) override;
  void keep(std::span<const int64_t> groups) override;

 private:
  AttentionForm form_;
  std::vector<KeyValues> groups_;
};

}  // namespace nmt
