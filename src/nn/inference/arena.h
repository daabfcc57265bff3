#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

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

}  // namespace nmt::inference
