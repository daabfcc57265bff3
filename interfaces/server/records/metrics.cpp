#include "server/records/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

void Metrics::add_translation(int64_t source_tokens, int64_t target_tokens) {
  const std::lock_guard lock(mutex_);
  ++sentences_;
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
  single(out, "nmt_source_tokens_total", "counter", "Pieces of these lines.", source_tokens_);
  single(out, "nmt_target_tokens_total", "counter", "Pieces of their best translations.", target_tokens_);
  return out;
}

}  // namespace nmt
