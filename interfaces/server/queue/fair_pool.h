#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace nmt {

/// Threads that work for many clients. What waits takes turns by client: next is a client who has had no turn yet, then
/// the one whose last turn is longest ago. However much one of them sends, the others wait for a turn of it at most.
/// Any thread may call it.
class FairPool {
 public:
  /// per_client: threads that one client may have at a time. Throws MachineError where the system gives no thread.
  FairPool(int threads, int per_client);
  /// Ends when all is done that was not cancelled.
  ~FairPool();

  /// `work` is called later, on a thread of the pool, and must not throw. If cancelled stops before, it is not called,
  /// and what it holds goes at once.
  void submit(const std::string& client, std::stop_token cancelled, std::function<void()> work);

 private:
  class Job;
  struct Client {
    std::deque<std::shared_ptr<Job>> jobs;  ///< that wait
    int running = 0;
    int64_t turn = 0;  ///< its last one
  };
  using Clients = std::map<std::string, Client>;
  void run(const std::stop_token& stop);
  Clients::iterator next();

  const int per_client_;
  std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  Clients clients_;
  int64_t turns_ = 0;
  std::vector<std::jthread> threads_;  // the last: they use the others
};

}  // namespace nmt
