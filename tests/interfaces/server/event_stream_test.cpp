#include <gtest/gtest.h>

#include <optional>

#include "server/answer_json.h"
#include "server/http/http_message.h"

namespace nmt::event_stream_test {
namespace {

class EventStreamTest : public testing::Test {
 protected:
  std::optional<HttpResponse> response_;
  EventStream events_{HttpReply([this](HttpResponse response) { response_ = std::move(response); })};
};

TEST_F(EventStreamTest, BeginsWithTheFirstEvent) {
  EXPECT_FALSE(response_);
  events_.send("line", {{"text", "two\nlines"}});
  ASSERT_TRUE(response_ && response_->stream);
  EXPECT_EQ(response_->status, 200);
  EXPECT_EQ(response_->stream->take(),
            std::pair(std::string("event: line\ndata: {\"text\":\"two\\nlines\"}\n\n"), false));
  events_.end({{"seconds", 1}});
  EXPECT_EQ(response_->stream->take(), std::pair(std::string("event: end\ndata: {\"seconds\":1}\n\n"), true));
}

TEST_F(EventStreamTest, AnErrorBeforeItIsAnAnswerOfItsOwnStatus) {
  events_.fail(HttpResponse::error(500, "no"));
  ASSERT_TRUE(response_);
  EXPECT_FALSE(response_->stream);
  EXPECT_EQ(response_->status, 500);
}

TEST_F(EventStreamTest, AnErrorLaterIsTheLastEvent) {
  events_.send("line", {{"n", 1}});
  events_.fail(HttpResponse::error(500, "no"));
  const auto [bytes, ended] = response_->stream->take();
  EXPECT_TRUE(bytes.ends_with("event: error\ndata: {\"error\":\"no\"}\n\n")) << bytes;
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace nmt::event_stream_test
