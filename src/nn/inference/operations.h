#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/threads.h"
#include "nn/inference/weights.h"

namespace nmt::inference {

/// Memory of what a step computes on its way, taken and given back in the order of a stack, and kept for the next step.
class Arena {
 public:
  /// `count` elements, uninitialised, at a multiple of 64 bytes, until the scope ends in which they are taken.
  template <typename T>
  T* take(int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T)));
  }

  /// What is taken while it lives is given back at its end.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), block_(arena.block_), used_(arena.used_) {}
    ~Scope() {
      arena_.block_ = block_;
      arena_.used_ = used_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    size_t block_, used_;
  };

 private:
  static constexpr size_t kAlignment = 64, kFirstBlock = 1 << 18;
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{kAlignment}); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    size_t bytes;
  };

  void* take_bytes(size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].bytes) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) {
      const size_t size = std::max(bytes, blocks_.empty() ? kFirstBlock : 2 * blocks_.back().bytes);
      auto* memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}));
      blocks_.push_back({.memory = std::unique_ptr<std::byte, Free>(memory), .bytes = size});
    }
    void* taken = blocks_[block_].memory.get() + used_;
    used_ += bytes;
    return taken;
  }

  std::vector<Block> blocks_;
  size_t block_ = 0, used_ = 0;  // where the next bytes stand
};

/// What the operations of a search work with; one thread at a time.
struct Workspace {
  Arena arena;
  ThreadPool* threads = nullptr;  ///< that help; none: the caller does all
};

/// body(begin, end) for pieces of at least `grain` that make up [0, count). body must be noexcept.
template <typename Body>
void share(ThreadPool* threads, int64_t count, int64_t grain, const Body& body) {
  const int64_t pieces = count / std::max<int64_t>(1, grain);
  if (pieces <= 1 || !threads) return body(0, count);
  threads->run(pieces, [&](int64_t i) noexcept { body(count * i / pieces, count * (i + 1) / pieces); });
}

/// Some outputs of a map, in this order.
Map gather(const Map& all, std::span<const int32_t> outputs, ThreadPool* threads);

/// What follows a map: activation(x weightᵀ + bias) + residual.
struct Epilogue {
  Activation activation = Activation::kNone;
  const float* residual = nullptr;  ///< [rows, out], or none; may be y
};

/// x [rows, in] -> y [rows, out]. A row's result does not depend on the number of rows.
void multiply(const Map& map, const float* x, int64_t rows, float* y, Workspace& work, const Epilogue& epilogue = {});

/// Neighbouring rows of x that have a map of their own.
struct RowsOfMap {
  const Map* map = nullptr;
  int64_t first_row = 0, rows = 0;
  float* y = nullptr;  ///< [rows, out]
};
/// x [rows, in], in parts whose maps have one format and as many inputs. The same bits as multiply().
void multiply_parts(std::span<const RowsOfMap> parts, const float* x, int64_t rows, Workspace& work);

/// x [rows, size] -> y; y may be x.
void normalise(const NormWeights& norm, const float* x, int64_t rows, int64_t size, float* y, Workspace& work);

/// x [rows, model] -> y + what y holds.
void add_feed_forward(const FeedForwardWeights& weights, const float* x, int64_t rows, float* y, Workspace& work);
/// x [rows, model] -> y.
void feed_forward(const FeedForwardWeights& weights, const float* x, int64_t rows, float* y, Workspace& work);

/// Embeddings times sqrt(model) at their positions: y [ids, model]. Throws std::out_of_range.
void embed(const EmbeddingWeights& weights, int64_t model, std::span<const int64_t> ids,
           std::span<const int64_t> positions, float* y);

/// Transforms queries and keys by rotary positions: x [positions, row_stride], of which the first heads * head_dim
/// numbers are turned.
void rotate(PositionRows& rotation, std::span<const int64_t> positions, int64_t heads, int64_t head_dim, float* x,
            int64_t row_stride);

/// A residual sub-layer: body(y, x) adds to x [rows, model] what it makes of y, which may be x.
template <typename Body>
void sublayer(const BlockWeights& block, const NormWeights& norm, float* x, int64_t rows, int64_t model,
              Workspace& work, const Body& body) {
  const Arena::Scope scope(work.arena);
  const float* y = x;
  if (block.pre_norm || block.residual_weight != 1) {
    float* entering = work.arena.take<float>(rows * model);
    if (block.pre_norm)
      normalise(norm, x, rows, model, entering, work);
    else
      std::copy_n(x, rows * model, entering);
    y = entering;
  }
  if (block.residual_weight != 1)
    for (int64_t i = 0; i < rows * model; ++i) x[i] *= block.residual_weight;
  body(y, x);
  if (!block.pre_norm) normalise(norm, x, rows, model, x, work);
}

}  // namespace nmt::inference
