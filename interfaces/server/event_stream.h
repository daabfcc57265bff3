#pragma once

#include <memory>
#include <string_view>

#include "base/strict_json.h"
#include "server/http/http_reply.h"
#include "server/http/http_stream.h"

namespace nmt {

/// An answer in server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), each of which has
/// a name and JSON. The answer begins with the first event; an error before it is an answer of its own status. Any
/// thread may call it.
class EventStream {
 public:
  explicit EventStream(HttpReply reply) : reply_(std::move(reply)) {}

  void send(std::string_view name, const nlohmann::ordered_json& data);
  /// The last event.
  void end(const nlohmann::ordered_json& data);
  /// The last event, or the answer where there was none before.
  void fail(const HttpResponse& error);

 private:
  const HttpReply reply_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<HttpStream> stream_;
};

}  // namespace nmt
