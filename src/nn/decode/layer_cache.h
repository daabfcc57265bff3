#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>

namespace nmt {

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

}  // namespace nmt
