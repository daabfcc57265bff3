#include "server/queue/fair_pool.h"

#include <utility>

#include "base/threads.h"

namespace nmt {

/// Work that waits for a thread.
class FairPool::Job {
 public:
  Job(std::function<void()> work, std::stop_token cancelled)
      : work_(std::move(work)), on_cancel_(std::move(cancelled), [this] { take(); }) {}

  /// Called once; nothing where it was cancelled.
  std::function<void()> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(work_, nullptr);
  }
  bool is_cancelled() {
    const std::lock_guard lock(mutex_);
    return !work_;
  }

 private:
  std::mutex mutex_;
  std::function<void()> work_;  // with mutex_
  std::stop_callback<std::function<void()>> on_cancel_;
};

FairPool::FairPool(int threads, int per_client) : per_client_(per_client) {
  for (int i = 0; i < threads; ++i)
    threads_.push_back(start_thread<std::jthread>([this](const std::stop_token& stop) { run(stop); }));
}

FairPool::~FairPool() = default;

void FairPool::submit(const std::string& client, std::stop_token cancelled, std::function<void()> work) {
  auto job = std::make_shared<Job>(std::move(work), std::move(cancelled));
  const std::lock_guard lock(mutex_);
  auto& jobs = clients_[client].jobs;
  while (!jobs.empty() && jobs.front()->is_cancelled()) jobs.pop_front();
  jobs.push_back(std::move(job));
  changed_.notify_one();
}

FairPool::Clients::iterator FairPool::next() {
  auto next = clients_.end();
  for (auto one = clients_.begin(); one != clients_.end(); ++one) {
    const auto& [jobs, running, turn] = one->second;
    if (!jobs.empty() && running < per_client_ && (next == clients_.end() || turn < next->second.turn)) next = one;
  }
  return next;
}

void FairPool::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    auto client = clients_.end();
    if (!changed_.wait(lock, stop, [&] { return (client = next()) != clients_.end(); })) return;
    const auto job = std::move(client->second.jobs.front());
    client->second.jobs.pop_front();
    client->second.turn = ++turns_;
    ++client->second.running;
    lock.unlock();
    if (const auto work = job->take()) work();
    lock.lock();
    if (--client->second.running == 0 && client->second.jobs.empty()) clients_.erase(client);
    changed_.notify_one();  // the client may have had all threads that it may have
  }
}

}  // namespace nmt
