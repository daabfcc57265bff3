#include "server/event_stream.h"

#include <fmt/format.h>

#include "server/answer_json.h"

namespace nmt {

void EventStream::send(std::string_view name, const nlohmann::ordered_json& data) {
  const std::lock_guard lock(mutex_);
  if (!stream_) {
    stream_ = std::make_shared<HttpStream>();
    reply_({.content_type = "text/event-stream; charset=utf-8",
            .fields = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}},
            .stream = stream_});
  }
  stream_->add(fmt::format("event: {}\ndata: {}\n\n", name, json_text(data)));
}

void EventStream::end(const nlohmann::ordered_json& data) {
  send("end", data);
  stream_->end();
}

void EventStream::fail(const HttpResponse& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!stream_) return reply_(error);
    stream_->add(fmt::format("event: error\ndata: {}\n\n", error.body));
  }
  stream_->end();
}

}  // namespace nmt
