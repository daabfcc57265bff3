#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/attention/head_scores.h"
#include "nn/decode/attention_step.h"
#include "nn/decode/layer_cache.h"

namespace nmt {

/// How the queries of an attention layer meet its keys and values.
struct AttentionForm {
  HeadCounts heads;
  bool softmax = true;                           ///< false: the scores themselves are the weights
  std::shared_ptr<HeadScores> scores = nullptr;  ///< null: Q Kᵀ / sqrt(head_dim)
  at::ScalarType kept_type = torch::kFloat32;    ///< of what the CPU form keeps: float32 or bfloat16

  /// Whether the kernels of decoding compute it.
  bool fits_kernel() const { return softmax && !scores; }
};

/// The keys and values of a layer of causal self-attention (key-value cache).
class KeyValueCache : public LayerCache {
 public:
  /// Adds n positions to each row: [rows, n, 2 * key_value heads * head_dim], keys and values side by side.
  virtual void append(const torch::Tensor& keys_and_values) = 0;
  /// The queries of the n newest positions, [rows, n, query heads * head_dim], each of which sees its own position and
  /// those before it. Returns the context, of q's shape.
  virtual torch::Tensor attend(const torch::Tensor& q) = 0;
};

/// The keys and values of encoder outputs, for a layer of cross-attention. The rows of a sentence share them.
class SourceCache {
 public:
  virtual ~SourceCache() = default;
  /// q [rows, n, query heads * head_dim]; row r looks at the sentence that places[r] names. Returns q's shape.
  virtual torch::Tensor attend(const torch::Tensor& q, std::span<const SourcePlace> places) = 0;
  /// Where rows may stand at different positions: adds the groups of another cache of the same layer.
  virtual void join(SourceCache& other);
  /// Keeps these groups, ascending, and forgets the others.
  virtual void keep(std::span<const int64_t> groups);
};

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

/// The form of `options`; the plain one where a layer's attention does not fit the kernels.
std::unique_ptr<KeyValueCache> make_key_value_cache(const CacheOptions& options, const AttentionForm& form);

/// The cache of sentences that start together, keys and values side by side [sentences, source, features]: the first
/// group. Not for CacheForm::kStatic, whose caches are made for rows instead of sentences: StaticSourceCache.
std::unique_ptr<SourceCache> make_source_cache(CacheForm form, const torch::Tensor& keys_and_values,
                                               const AttentionForm& attention);

/// What one block of a decoder keeps.
struct BlockCache {
  std::unique_ptr<LayerCache> past;     ///< of its mixer, such as causal self-attention
  std::unique_ptr<SourceCache> source;  ///< of its cross-attention; null in a decoder without one
};

/// What all layers of a decoder keep during a search.
struct DecoderCache {
  std::unique_ptr<LayerCache> input;  ///< of positions that look back; null: they keep nothing
  std::vector<BlockCache> blocks;
};

/// Where the tokens of a step stand.
struct StepRows {
  RowPositions positions = 0;                 ///< of the first token of each row
  std::span<const SourcePlace> sources = {};  ///< where each row finds the encoder output of its sentence
};

}  // namespace nmt
