#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/kernels/types.h"

namespace nmt::inference {

inline int64_t bytes_of(kernels::Type type) { return type == kernels::Type::kFloat ? 4 : 2; }

/// from [count] float -> to, in `type`: bfloat16 is rounded to nearest, ties to even.
void store_as(kernels::Type type, const float* from, int64_t count, void* to);

/// The keys and values of self-attention in all layers, of the positions of hypotheses. A position has a slot, which
/// stays where it is and serves all hypotheses that continue it; a slot that no row has any more is used again.
class KeyValueStore {
 public:
  /// features: those that a position has in one layer. Rows have no positions at first.
  KeyValueStore(int64_t layers, int64_t features, kernels::Type type, int64_t rows);

  /// New row r continues old row rows[r].
  void select(std::span<const int64_t> rows);
  /// Adds the rows of another store of the same model behind its own ones.
  void join(KeyValueStore&& other);
  /// Adds n positions to each row; what they hold is for the caller to write.
  void append(int64_t n);

  int64_t length(int64_t row) const { return lengths_[row]; }
  /// What a position has in layer 0; layer l follows l * layer_stride() elements later.
  std::byte* at(int64_t row, int64_t position) const {
    const int32_t slot = slots_[row * capacity_ + position];
    return chunks_[slot / kChunk].get() + slot % kChunk * features_ * element_;
  }
  int64_t layer_stride() const { return kChunk * features_; }
  kernels::Type type() const { return type_; }

 private:
  static constexpr int32_t kChunk = 64;  // slots that are allocated together

  void free_unused();
  void add_chunk();

  int64_t layers_, features_, element_;
  kernels::Type type_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;  // [layers, kChunk, features]
  std::vector<int32_t> slots_;                        // [rows, capacity_]
  std::vector<int64_t> lengths_;                      // of each row
  int64_t capacity_ = 0;
  std::vector<int32_t> free_;  // the next one last
};

}  // namespace nmt::inference
