#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "server/http/http_message.h"
#include "server/http/http_options.h"
#include "server/http/request_parser.h"
#include "server/http/transport.h"

namespace nmt {

class HttpConnection;

/// What all connections of a server share. Only its thread touches it.
struct HttpHub {
  HttpHub(HttpHandler handler, HttpServerOptions options);

  const HttpHandler handler;
  const HttpServerOptions options;
  const AccessRules access;
  const HttpFields fields;  ///< of every answer
  MemoryBudget budget;
  std::set<HttpConnection*> connections;  ///< those that are closed leave it when their operations have called back
  int64_t open = 0;                       ///< that are not closed
  std::list<HttpConnection*> waiting;     ///< for bytes of their clients, who waits longest first
  bool stopping = false;
  std::function<void()> on_last_gone = {};  ///< called when stopping and no connection is left
};

/// One client of a server. It reads a request, hands it to the handler, sends the answer, and so on:
///
///   idle -> reading -> answering -> sending (or streaming) -> idle
///                \-> refused: sending, then what the client still sends is dropped -> closed
///
/// It lives as long as something is under way for it. All of it runs on the server's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  /// crowded: all connections are taken; only what is always answered is, and the connection is closed after that.
  HttpConnection(HttpHub& hub, boost::asio::io_context& io, std::unique_ptr<Transport> transport, std::string client,
                 bool crowded);
  ~HttpConnection();

  void start();
  /// Closes it now, or when a request that has come in whole is answered.
  void stop();
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { kIdle, kReading, kAnswering, kSending, kStreaming, kLingering, kClosed };

  void wait_for_request();
  void read();
  void advance(RequestParser::State state);
  void on_head();
  void hand_over();
  void watch_client();
  void answer(int64_t number, HttpResponse response);
  void refuse(const HttpResponse& response);
  void send(const HttpResponse& response);
  void stream(const HttpResponse& response);
  void send_more();
  void observe(int status, int64_t sent_bytes) const;
  void on_sent();
  void linger();
  void drop_bytes();
  void set_deadline(std::chrono::milliseconds time, std::function<void()> action);
  void enter(State state);
  bool is_welcome_when_crowded() const;

  HttpHub& hub_;
  boost::asio::io_context& io_;
  std::unique_ptr<Transport> transport_;
  const std::string client_;
  const bool crowded_;
  State state_ = State::kIdle;
  RequestParser parser_;
  boost::asio::steady_timer timer_;
  int64_t deadline_ = 0;                        ///< counts set_deadline(): an older one that fires late does nothing
  std::list<HttpConnection*>::iterator place_;  ///< in hub_.waiting, or its end
  int64_t number_ = 0;                          ///< of the request that is answered
  std::stop_source cancelled_;
  bool watching_ = false, close_after_ = false, head_only_ = false;
  std::string method_, path_;
  int64_t received_bytes_ = 0;
  Clock::time_point began_;
  std::string head_, body_;  ///< being sent
  std::shared_ptr<HttpStream> stream_;
  bool is_writing_ = false;  ///< a part of stream_
  bool chunked_ = false;     ///< so is the answer
  int status_ = 0;
  int64_t streamed_bytes_ = 0;
};

}  // namespace nmt
