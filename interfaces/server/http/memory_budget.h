#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace nmt {

/// Bytes that many requests may hold together. Any thread may take and give back.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : left_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// What one request holds; gives it back in the end.
  class Share {
   public:
    Share() = default;
    explicit Share(MemoryBudget& budget) : budget_(&budget) {}
    ~Share() { release(); }
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      if (this == &other) return *this;
      release();
      budget_ = std::exchange(other.budget_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    /// False, and nothing is taken, where so many bytes are not left. A share of no budget takes what it likes.
    bool take(int64_t bytes) {
      if (!budget_) return true;
      if (budget_->left_.fetch_sub(bytes) < bytes) {
        budget_->left_.fetch_add(bytes);
        return false;
      }
      bytes_ += bytes;
      return true;
    }

   private:
    void release() {
      if (budget_) budget_->left_.fetch_add(bytes_);
    }

    MemoryBudget* budget_ = nullptr;
    int64_t bytes_ = 0;
  };

  int64_t left() const { return left_; }

 private:
  std::atomic<int64_t> left_;
};

}  // namespace nmt
