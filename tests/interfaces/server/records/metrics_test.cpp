#include "server/records/metrics.h"

#include <gmock/gmock.h>

namespace nmt::metrics_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountRequestsByRouteAndStatus) {
  Metrics metrics;
  metrics.add_request("/translate", 200);
  metrics.add_request("/translate", 200);
  metrics.add_request("/translate", 503);
  const auto text = metrics.text(0);
  EXPECT_THAT(text, HasSubstr("# TYPE nmt_requests_total counter\n"
                              "nmt_requests_total{route=\"/translate\",status=\"200\"} 2\n"
                              "nmt_requests_total{route=\"/translate\",status=\"503\"} 1\n"));
}

TEST(Metrics, TheHistogramIsCumulative) {
  Metrics metrics;
  for (const double seconds : {0.001, 0.005, 0.02, 0.25, 100.0}) metrics.add_latency("de-en", seconds);
  metrics.add_latency("none", 1);
  const auto text = metrics.text(0);
  for (const char* line : {"le=\"0.005\"} 2\n", "le=\"0.01\"} 2\n", "le=\"0.025\"} 3\n", "le=\"0.1\"} 3\n",
                           "le=\"0.25\"} 4\n", "le=\"30\"} 4\n", "le=\"+Inf\"} 5\n"})
    EXPECT_THAT(text, HasSubstr(std::string("nmt_request_seconds_bucket{pair=\"de-en\",") + line));
  EXPECT_THAT(
      text,
      HasSubstr("nmt_request_seconds_sum{pair=\"de-en\"} 100.276\nnmt_request_seconds_count{pair=\"de-en\"} 5\n"));
}

TEST(Metrics, CountTheWork) {
  Metrics metrics;
  metrics.add_batch(3, 0.5);
  metrics.add_batch(1, 0.25);
  metrics.add_translation(7, 9);
  metrics.add_translation(1, 2, true);
  const auto text = metrics.text(5);
  for (const char* line : {"\nnmt_queue_lines 5\n", "\nnmt_batches_total 2\n", "\nnmt_batch_lines_total 4\n",
                           "\nnmt_batch_seconds_total 0.75\n", "\nnmt_sentences_total 2\n", "\nnmt_loops_total 1\n",
                           "\nnmt_source_tokens_total 8\n", "\nnmt_target_tokens_total 11\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("\n\n")));
}

}  // namespace
}  // namespace nmt::metrics_test
