#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/http/http_message.h"

namespace nmt {

/// Takes a client's bytes apart into requests, within limits. A request that is not understood for certain is refused,
/// and nothing behind it is looked at: where client and server disagree on its end, one client's bytes could become
/// another's request.
class RequestParser {
 public:
  enum class State {
    kEmpty,    ///< no byte of a request has come
    kHead,     ///< its head is not whole
    kBody,     ///< its head is whole: request() has all but the body
    kWhole,    ///< take() has it
    kRefused,  ///< refusal() says why; nothing more is read
  };

  /// Borrows limits and budget. client: whose share of it the bodies take. path_prefix: goes from each path that has
  /// it.
  RequestParser(const HttpLimits& limits, MemoryBudget& budget, std::string client = {}, std::string path_prefix = {});
  ~RequestParser();

  /// Where the next bytes of the client go.
  boost::asio::mutable_buffer place();
  /// Reads on after so many bytes have come there: up to the end of the head, or with read_body() of the request.
  State advance(std::size_t bytes);
  /// Call it when state() is kBody and the request is welcome.
  State read_body();
  State state() const { return state_; }

  const HttpRequest& request() const { return request_; }
  HttpRequest& request() { return request_; }
  bool keep_alive() const { return keep_alive_; }              ///< the client wants to send more
  bool takes_chunks() const { return takes_chunks_; }          ///< of an answer: HTTP/1.1
  bool expects_continue() const { return expects_continue_; }  ///< it waits for status 100 before the body
  const std::optional<HttpResponse>& refusal() const { return refusal_; }

  /// Forgets the request that was read and begins with the next, of which bytes may have come already.
  State next();

 private:
  struct Parts;
  State parse();
  void read_head();
  std::optional<HttpResponse> check_head() const;
  int64_t body_limit() const;
  State refuse(HttpResponse why);

  const HttpLimits& limits_;
  MemoryBudget& budget_;
  const std::string client_, path_prefix_;
  std::unique_ptr<Parts> parts_;
  State state_ = State::kEmpty;
  HttpRequest request_;
  bool keep_alive_ = false, expects_continue_ = false, takes_chunks_ = false;
  std::optional<HttpResponse> refusal_;
};

}  // namespace nmt
