#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/files/file_descriptor.h"
#include "server/http/http_options.h"

namespace nmt {

/// What GET /metrics tells: counters since the start and a histogram of the time that requests took. Any thread may
/// call anything.
class Metrics {
 public:
  void add_request(const std::string& route, int status);
  /// Adds the time of a request for translation, whatever came of it; pair as in "de-en", "none" where none was asked
  /// for.
  void add_latency(const std::string& pair, double seconds);
  void add_batch(int64_t lines, double seconds);
  /// loop: Translation::loop.
  void add_translation(int64_t source_tokens, int64_t target_tokens, bool loop = false);

  /// All of it in Prometheus' text format 0.0.4; `waiting` are the lines in the queue now.
  std::string text(int64_t waiting) const;

 private:
  /// Upper bounds of the buckets, seconds.
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0};

  struct Histogram {
    std::array<int64_t, kBounds.size() + 1> counts{};  // a bucket's own; the last one beyond all bounds
    double sum = 0;                                    // seconds
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, int64_t> requests_;  // route and status -> count
  std::map<std::string, Histogram> latencies_;               // of each pair
  double batch_seconds_ = 0;
  int64_t batches_ = 0, batch_lines_ = 0, sentences_ = 0, loops_ = 0, source_tokens_ = 0, target_tokens_ = 0;
};

/// Measures from its beginning to the answer, whatever that is.
class LatencyTimer {
 public:
  explicit LatencyTimer(Metrics& metrics) : metrics_(metrics) {}
  ~LatencyTimer() { stop(); }
  LatencyTimer(const LatencyTimer&) = delete;
  LatencyTimer& operator=(const LatencyTimer&) = delete;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void set_pair(const std::string& pair) { pair_ = pair; }
  /// Before the answer is given: who has it finds it counted.
  void stop() {
    if (!std::exchange(counted_, true)) metrics_.add_latency(pair_, seconds());
  }

 private:
  using Clock = std::chrono::steady_clock;
  Metrics& metrics_;
  const Clock::time_point start_ = Clock::now();
  std::string pair_ = "none";
  bool counted_ = false;
};

/// A line of JSON for each request, without texts and keys: {"time", "client", "method", "path", "status", "received",
/// "sent", "seconds"}; received and sent are bytes of the bodies.
class AccessLog {
 public:
  /// Adds to the file; "-" is standard error, no path no log. Throws Error where it cannot be written.
  explicit AccessLog(std::string path);

  /// What cannot be written is left out: a full disk stops no answer. Any thread may call it.
  void add(const HttpExchange& exchange);
  /// Opens the file again, which may have been moved away. Throws Error.
  FileDescriptor open() const;
  /// From now on lines go there.
  void use(FileDescriptor file) noexcept;

 private:
  const std::string path_;
  std::mutex mutex_;
  FileDescriptor file_;
};

}  // namespace nmt
