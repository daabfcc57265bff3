#include "base/ordered_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace nmt {
namespace {

void run_alone(const PipelineStages& stages) {
  while (stages.read(0)) {
    stages.transform(0, 0);
    if (!stages.write(0)) return;
  }
}

/// Items are numbered; item n lies in slot n % slots. Behind each other go: written, transformed or at work, read.
class Pipeline {
 public:
  Pipeline(const PipelineStages& stages, int64_t slots) : stages_(stages), slots_(slots), items_(slots) {}

  void run(int threads) {
    std::vector<std::jthread> helpers;  // joined at the end of the block, after they were told to stop
    const StopAtEnd stop{*this};
    for (int worker = 1; worker < threads; ++worker)
      helpers.push_back(start_thread<std::jthread>([this, worker] { help(worker); }));
    std::unique_lock lock(mutex_);
    while (!is_over()) {
      if (is_next_done()) {
        if (!write(lock)) return;
      } else if (!read_or_transform(lock, 0)) {
        changed_.wait(lock);
      }
    }
  }

 private:
  struct Item {
    bool done = false;
    std::exception_ptr error = nullptr;
  };
  struct StopAtEnd {
    Pipeline& pipeline;
    ~StopAtEnd() {
      const std::lock_guard lock(pipeline.mutex_);
      pipeline.stopped_ = true;
      pipeline.changed_.notify_all();
    }
  };

  Item& item(int64_t number) { return items_[static_cast<size_t>(number % slots_)]; }
  bool is_over() const { return read_ended_ && written_ == read_; }
  bool is_next_done() { return written_ < read_ && item(written_).done; }

  void help(int worker) {
    std::unique_lock lock(mutex_);
    while (!stopped_ && !is_over()) {
      if (!read_or_transform(lock, worker)) changed_.wait(lock);
    }
  }

  /// False if there is nothing to do at the moment. Reading comes first: all others would wait for it.
  bool read_or_transform(std::unique_lock<std::mutex>& lock, int worker) {
    if (!reading_ && !read_ended_ && read_ < written_ + slots_) {
      read(lock);
    } else if (claimed_ < read_) {
      transform(lock, worker);
    } else {
      return false;
    }
    changed_.notify_all();
    return true;
  }

  void read(std::unique_lock<std::mutex>& lock) {
    Item next;
    bool is_item = true;
    reading_ = true;
    lock.unlock();
    try {
      is_item = stages_.read(read_ % slots_);  // only the one who reads changes read_
    } catch (...) {
      next = {.done = true, .error = std::current_exception()};
    }
    lock.lock();
    reading_ = false;
    read_ended_ = !is_item || next.error;
    if (!is_item) return;
    item(read_++) = next;
  }

  void transform(std::unique_lock<std::mutex>& lock, int worker) {
    const int64_t number = claimed_++;
    if (item(number).done) return;  // its reading failed
    lock.unlock();
    std::exception_ptr error;
    try {
      stages_.transform(number % slots_, worker);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    item(number) = {.done = true, .error = error};
  }

  /// False to stop.
  bool write(std::unique_lock<std::mutex>& lock) {
    if (item(written_).error) std::rethrow_exception(item(written_).error);
    lock.unlock();
    const bool goes_on = stages_.write(written_ % slots_);  // only the calling thread changes written_
    lock.lock();
    ++written_;
    changed_.notify_all();
    return goes_on;
  }

  const PipelineStages& stages_;
  const int64_t slots_;
  std::vector<Item> items_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t read_ = 0, claimed_ = 0, written_ = 0;
  bool reading_ = false, read_ended_ = false, stopped_ = false;
};

}  // namespace

void run_ordered_pipeline(const PipelineStages& stages, int threads, int64_t slots) {
  if (threads <= 1) return run_alone(stages);
  Pipeline(stages, std::max<int64_t>(slots, 1)).run(threads);
}

}  // namespace nmt
