#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "server/http/http_message.h"

namespace nmt {

/// Where the answer to one request goes: any thread may give it, at any time; what comes after the first one is
/// dropped, as is an answer that nobody waits for any more. A request whose last copy goes away without an answer gets
/// status 500.
class HttpReply {
 public:
  using Send = std::function<void(HttpResponse)>;

  explicit HttpReply(Send send) : state_(std::make_shared<State>(std::move(send))) {}

  void operator()(HttpResponse response) const {
    if (!state_->sent.exchange(true)) state_->send(std::move(response));
  }

 private:
  struct State {
    explicit State(Send s) : send(std::move(s)) {}
    ~State() {
      if (!sent) send(HttpResponse::error(500, "the request was dropped; the server's log says why"));
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const Send send;
    std::atomic<bool> sent = false;
  };
  std::shared_ptr<State> state_;
};

/// What answers requests. It is called on the thread that serves all connections: work goes to other threads.
using HttpHandler = std::function<void(HttpRequest request, HttpReply reply)>;

}  // namespace nmt
