#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace nmt {

/// Where a search takes its sentences from, a translator its lines, and where their results go. The threads that work
/// may call it at the same time.
template <typename Request, typename Result>
class SentenceQueue {
 public:
  /// A sentence that was taken. It is finished once or dropped: destroyed unfinished, because it is cancelled or
  /// because the work has failed. After a failure the queue has nothing more to give.
  class Handle {
   public:
    /// Called once, with the result or, where the sentence is dropped, with none; throws nothing then. What it captures
    /// keeps the request alive.
    using Done = std::function<void(std::optional<Result>)>;

    Handle(const Request& request, std::stop_token stop, Done done)
        : request_(&request), stop_(std::move(stop)), done_(std::move(done)) {}
    Handle(Handle&& other) noexcept
        : request_(other.request_), stop_(std::move(other.stop_)), done_(std::exchange(other.done_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
      std::swap(request_, other.request_);
      stop_.swap(other.stop_);
      done_.swap(other.done_);
      return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
      if (done_) done_(std::nullopt);
    }

    const Request& request() const { return *request_; }  ///< stays where it is until it is finished or dropped
    const std::stop_token& stop() const { return stop_; }
    /// Nobody waits for the result any more: it is to be dropped soon.
    bool cancelled() const { return stop_.stop_requested(); }
    void finish(Result result) { std::exchange(done_, nullptr)(std::move(result)); }

   private:
    const Request* request_;
    std::stop_token stop_;
    Done done_;
  };

  virtual ~SentenceQueue() = default;
  /// The next sentences, `count` at most; fewer where there are no more, or no more for now: it is asked again soon.
  virtual std::vector<Handle> take(int64_t count) = 0;
  /// For a thread that has nothing to do. It may wait for more; false: the thread ends.
  virtual bool wait() { return false; }
  /// Sentences that may be taken now: several threads take an even share of them.
  virtual int64_t waiting() const { return 0; }
  /// Asked before each step of a search: true ends it, and what is under way is dropped.
  virtual bool stopped() { return false; }
};

/// Sentences that are there from the beginning.
template <typename Request, typename Result>
class ListQueue final : public SentenceQueue<Request, Result> {
 public:
  using Handle = typename SentenceQueue<Request, Result>::Handle;

  /// Borrows the requests. stop: cancels them all.
  explicit ListQueue(std::span<const Request> requests, std::stop_token stop = {})
      : requests_(requests), stop_(std::move(stop)), results_(requests.size()) {}

  std::vector<Handle> take(int64_t count) override {
    std::vector<Handle> taken;  // behind the lock where it fails
    const std::lock_guard lock(mutex_);
    for (const int64_t end = next_ + std::min(count, left()); next_ < end; ++next_)
      taken.emplace_back(requests_[next_], stop_, [this, place = next_](std::optional<Result> result) {
        const std::lock_guard done_lock(mutex_);
        if (!result) next_ = std::ssize(requests_);
        results_[place] = std::move(result);
      });
    return taken;
  }
  int64_t waiting() const override {
    const std::lock_guard lock(mutex_);
    return left();
  }

  /// In the order of the requests; none for what was dropped, or not taken.
  std::vector<std::optional<Result>>& results() { return results_; }

 private:
  int64_t left() const { return std::ssize(requests_) - next_; }

  const std::span<const Request> requests_;
  const std::stop_token stop_;
  mutable std::mutex mutex_;  // of what follows
  int64_t next_ = 0;
  std::vector<std::optional<Result>> results_;
};

}  // namespace nmt
