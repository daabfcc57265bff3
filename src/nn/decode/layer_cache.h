#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nn/inference/weights.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// What a part of a decoder, or a whole model, can do in a search. A model can do what all its parts can.
struct DecodingCapabilities {
  /// The rows of a step may stand at different positions: sentences join a search that is under way (continuous
  /// batching).
  bool ragged_positions = false;
  /// n tokens that are fed at once leave the bits of n single steps.
  bool exact_prefill = false;
  /// How many positions a static cache can hold (CacheForm::kStatic); 0: there is none.
  int64_t static_positions = 0;

  friend DecodingCapabilities operator&(const DecodingCapabilities& a, const DecodingCapabilities& b) {
    return {.ragged_positions = a.ragged_positions && b.ragged_positions,
            .exact_prefill = a.exact_prefill && b.exact_prefill,
            .static_positions = std::min(a.static_positions, b.static_positions)};
  }
};

/// Where the tokens of a decoding step stand in their translations: the position of the first one of each row. Rows
/// differ where sentences have joined a search that was under way (ragged positions).
class RowPositions {
 public:
  RowPositions(int64_t common) : common_(common) {}  // NOLINT: most steps have one position for all rows
  explicit RowPositions(std::vector<int64_t> of_rows) : of_rows_(std::move(of_rows)) {
    if (!of_rows_.empty()) common_ = of_rows_.front();
    if (std::ranges::all_of(of_rows_, [&](int64_t position) { return position == common_; })) of_rows_.clear();
  }

  bool are_equal() const { return of_rows_.empty(); }
  /// The position of all rows, which must be equal.
  int64_t common() const {
    TORCH_CHECK(are_equal(), "a step whose rows stand at different positions");
    return common_;
  }
  /// int64 [rows] on the CPU.
  torch::Tensor tensor(int64_t rows) const {
    return are_equal() ? torch::full({rows}, common_, torch::kInt64) : torch::tensor(of_rows_, torch::kInt64);
  }

  /// Neighbours that stand at one position.
  struct Run {
    int64_t first_row = 0, rows = 0, position = 0;
  };
  std::vector<Run> runs(int64_t rows) const {
    if (are_equal()) return {{0, rows, common_}};
    std::vector<Run> runs;
    for (int64_t row = 0; row < rows; ++row) {
      if (runs.empty() || runs.back().position != of_rows_[row]) runs.push_back({row, 0, of_rows_[row]});
      ++runs.back().rows;
    }
    return runs;
  }

 private:
  int64_t common_ = 0;
  std::vector<int64_t> of_rows_;  // empty: all at common_
};

/// How a search keeps what its decoder has to remember. Chosen once, when the search starts: docs/decoding_state.md.
enum class CacheForm {
  kPlain,   ///< tensors that move with their rows: any device, type and score; what the others are tested against
  kCpu,     ///< keys and values stay where they were made, for the CPU kernels; plain where these do not fit
  kStatic,  ///< tensors keep their shapes and their memory: a GPU records a step and replays it
};

/// The position of a step with static caches. Nothing in it comes from the host: a device can record such a step.
struct StaticSlot {
  int64_t rows = 0;        ///< rows that fit
  int64_t capacity = 0;    ///< positions that fit
  torch::Tensor position;  ///< int64 [1] on the device, less than the capacity
  torch::Tensor visible;   ///< bool [capacity] on the device: positions up to this one
};

/// What a layer needs to know to make its cache.
struct CacheOptions {
  CacheForm form = CacheForm::kPlain;
  std::shared_ptr<const StaticSlot> slot = nullptr;  ///< of kStatic
};

/// What one layer of a decoder remembers of the rows of a search, a row for each hypothesis. A layer makes its cache
/// when a search starts and gets it back in each step.
class LayerCache {
 public:
  virtual ~LayerCache() = default;
  /// New row r continues old row rows[r]: int64 [new rows], on the CPU. Rows may be repeated, reordered or dropped.
  virtual void select(const torch::Tensor& rows) = 0;
  /// Adds the rows of another cache of the same layer behind its own ones. Both counts of rows are given: a cache that
  /// has made no step does not know its own. The other cache is not used afterwards.
  virtual void join(LayerCache& other, int64_t own_rows, int64_t other_rows) = 0;
  /// Static caches: row r continues row parents[r] of `from`, int64 on the device, which has `steps` positions.
  virtual void continue_from(const LayerCache& /*from*/, const torch::Tensor& /*parents*/, int64_t /*steps*/) {
    TORCH_CHECK(false, "this cache has no fixed shape");
  }
  virtual int64_t bytes() const { return 0; }  ///< of static caches
};

/// The state of a layer that keeps one tensor a row, such as a recurrent unit.
class RowState final : public LayerCache {
 public:
  torch::Tensor value;  ///< [rows, ...]; undefined before the first step, which stands for zeros

  void select(const torch::Tensor& rows) override;
  void join(LayerCache& other, int64_t own_rows, int64_t other_rows) override;
};

/// How a decoder block tells a position about those before it: causal self-attention, or a layer in its place.
class Mixer : public torch::nn::Module {
 public:
  /// Position t of x [batch, time, model] sees positions 0..t. lengths int64 [batch] on the CPU: rows beyond are
  /// padding, their result is undefined. Returns [batch, time, model].
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& lengths, ForwardContext& pass) = 0;
  /// The cache for a search that starts; step() gets it back. By default one tensor a row.
  virtual std::unique_ptr<LayerCache> start(const CacheOptions& /*options*/) const {
    return std::make_unique<RowState>();
  }
  /// forward() for n more positions of each row: x [rows, n, model], of which the first ones stand at `positions`; the
  /// cache holds what earlier steps left. Plus `residual`, of x's shape (undefined: nothing). Returns x's shape.
  virtual torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const RowPositions& positions,
                             const torch::Tensor& residual) = 0;
  virtual DecodingCapabilities capabilities() const { return {.ragged_positions = true, .exact_prefill = true}; }
  /// The layer for searches without LibTorch. Throws inference::Unsupported.
  virtual inference::MixerWeights inference_weights() {
    throw inference::Unsupported("a decoder layer of another kind than attention, average attention or SSRU");
  }
};

}  // namespace nmt
