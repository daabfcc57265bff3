#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace nmt {

/// Bytes that many requests may hold together: those of one client half of them, unless it is one request. Any thread
/// may take and give back.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : most_(bytes), left_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// What one request holds; gives it back in the end.
  class Share {
   public:
    Share() = default;
    explicit Share(MemoryBudget& budget, std::string client = {}) : budget_(&budget), client_(std::move(client)) {}
    ~Share() { release(); }
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          client_(std::move(other.client_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      if (this == &other) return *this;
      release();
      budget_ = std::exchange(other.budget_, nullptr);
      client_ = std::move(other.client_);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    /// False, and nothing is taken, where so many bytes are not left. A share of no budget takes what it likes.
    bool take(int64_t bytes) {
      if (!budget_ || bytes == 0) return true;
      if (!budget_->take(client_, bytes_, bytes)) return false;
      bytes_ += bytes;
      return true;
    }

   private:
    void release() {
      if (budget_ && bytes_ > 0) budget_->give_back(client_, bytes_);
    }

    MemoryBudget* budget_ = nullptr;
    std::string client_;
    int64_t bytes_ = 0;
  };

  int64_t left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  bool take(const std::string& client, int64_t of_share, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto known = of_clients_.find(client);
    const int64_t own = known == of_clients_.end() ? 0 : known->second;
    if (bytes > left_ || (own > of_share && own + bytes > most_ / 2)) return false;
    of_clients_[client] = own + bytes;
    left_ -= bytes;
    return true;
  }
  void give_back(const std::string& client, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    left_ += bytes;
    const auto own = of_clients_.find(client);
    if ((own->second -= bytes) == 0) of_clients_.erase(own);
  }

  const int64_t most_;
  mutable std::mutex mutex_;  // of what follows
  int64_t left_;
  std::map<std::string, int64_t> of_clients_;
};

}  // namespace nmt
