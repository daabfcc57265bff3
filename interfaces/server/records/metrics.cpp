#include "server/records/metrics.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/files/strict_json.h"

namespace nmt {
namespace {

void head(std::string& out, const char* name, const char* type, const char* help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

template <typename Number>
void single(std::string& out, const char* name, const char* type, const char* help, Number value) {
  head(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

}  // namespace

void Metrics::add_request(const std::string& route, int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
}

void Metrics::add_latency(const std::string& pair, double seconds) {
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  const std::lock_guard lock(mutex_);
  Histogram& histogram = latencies_[pair];
  ++histogram.counts[bucket];
  histogram.sum += seconds;
}

void Metrics::add_batch(int64_t lines, double seconds) {
  const std::lock_guard lock(mutex_);
  ++batches_;
  batch_lines_ += lines;
  batch_seconds_ += seconds;
}

void Metrics::add_translation(int64_t source_tokens, int64_t target_tokens, bool loop) {
  const std::lock_guard lock(mutex_);
  ++sentences_;
  if (loop) ++loops_;
  source_tokens_ += source_tokens;
  target_tokens_ += target_tokens;
}

std::string Metrics::text(int64_t waiting) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  head(out, "nmt_requests_total", "counter", "Requests by route and HTTP status.");
  for (const auto& [key, count] : requests_)
    fmt::format_to(std::back_inserter(out), "nmt_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first,
                   key.second, count);
  head(out, "nmt_request_seconds", "histogram", "Time from a request for translation to its answer.");
  for (const auto& [pair, histogram] : latencies_) {
    int64_t total = 0;
    for (size_t i = 0; i < kBounds.size(); ++i)
      fmt::format_to(std::back_inserter(out), "nmt_request_seconds_bucket{{pair=\"{}\",le=\"{}\"}} {}\n", pair,
                     kBounds[i], total += histogram.counts[i]);
    total += histogram.counts.back();
    fmt::format_to(std::back_inserter(out),
                   "nmt_request_seconds_bucket{{pair=\"{0}\",le=\"+Inf\"}} {1}\n"
                   "nmt_request_seconds_sum{{pair=\"{0}\"}} {2}\nnmt_request_seconds_count{{pair=\"{0}\"}} {1}\n",
                   pair, total, histogram.sum);
  }
  single(out, "nmt_queue_lines", "gauge", "Lines that wait for the translator.", waiting);
  single(out, "nmt_batches_total", "counter", "Batches handed to the translator.", batches_);
  single(out, "nmt_batch_lines_total", "counter", "Lines in these batches.", batch_lines_);
  single(out, "nmt_batch_seconds_total", "counter", "Time the translator spent on them.", batch_seconds_);
  single(out, "nmt_sentences_total", "counter", "Lines translated for a client.", sentences_);
  single(out, "nmt_loops_total", "counter", "Lines whose translation repeated itself or had no end.", loops_);
  single(out, "nmt_source_tokens_total", "counter", "Pieces of these lines.", source_tokens_);
  single(out, "nmt_target_tokens_total", "counter", "Pieces of their best translations.", target_tokens_);
  return out;
}

namespace {

constexpr size_t kLongestPath = 200;  // bytes

}  // namespace

AccessLog::AccessLog(std::string path) : path_(std::move(path)), file_(open()) {}

FileDescriptor AccessLog::open() const try {
  if (path_.empty()) return FileDescriptor(-1);
  if (path_ == "-") {
    FileDescriptor file(::dup(STDERR_FILENO));
    if (file.number() < 0) throw Error(fmt::format("-: {}", system_message(errno)));
    return file;
  }
  return open_regular_file(path_, O_WRONLY | O_APPEND | O_CREAT, 0640);
} catch (const Error& error) {
  throw Error(fmt::format("--access-log {}", error.what()));
}

void AccessLog::add(const HttpExchange& exchange) {
  if (path_.empty()) return;
  const nlohmann::ordered_json line = {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                                       {"client", exchange.client},
                                       {"method", exchange.method},
                                       {"path", exchange.path.substr(0, kLongestPath)},
                                       {"status", exchange.status},
                                       {"received", exchange.received_bytes},
                                       {"sent", exchange.sent_bytes},
                                       {"seconds", exchange.time.count()}};
  const std::string text = line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  const std::lock_guard lock(mutex_);
  [[maybe_unused]] const auto written = ::write(file_.number(), text.data(), text.size());
}

void AccessLog::use(FileDescriptor file) noexcept {
  const std::lock_guard lock(mutex_);
  file_ = std::move(file);  // the old one goes behind the lock
}

}  // namespace nmt
