#include "server/http/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "server/http/http_connection.h"
#include "server/http/transport.h"

namespace nmt {
namespace {

using net::ip::tcp;

/// Connections beyond the limit, to say that it is reached and for what is always answered.
constexpr int64_t kReserve = 64;

/// Raises the limit to as many files as the connections need, where the system lets us.
void raise_file_limit(int64_t connections, Logger& log) {
  rlimit limit{};
  const auto wanted = static_cast<rlim_t>(connections + kReserve + 256);
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < wanted)
    log.warn("the system allows {} open files (ulimit -n): fewer than {} connections fit", limit.rlim_cur, connections);
}

}  // namespace

class HttpServer::Implementation {
 public:
  Implementation(HttpHandler handler, HttpServerOptions options, Logger& log)
      : log_(log),
        tls_((options.validate(), options.tls.wanted() ? make_tls_context(options.tls) : nullptr)),
        address_(options.address),
        hub_(std::move(handler), std::move(options)),
        acceptor_(io_),
        pause_(io_),
        end_(io_) {
    raise_file_limit(hub_.options.limits.connections, log_);
    listen();
    accept();
    thread_ = start_thread([this] { run(); });
  }

  ~Implementation() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    net::post(io_, [this] { begin_to_stop(); });
    thread_.join();
  }

  TlsContext read_certificate() const {
    return hub_.options.tls.wanted() ? make_tls_context(hub_.options.tls) : nullptr;
  }
  void use_certificate(TlsContext fresh) noexcept {
    const std::lock_guard lock(tls_mutex_);
    tls_.swap(fresh);
  }

  int port() const { return address_.port; }
  std::string url() const { return address_.url(hub_.options.tls.wanted() ? "https" : "http"); }

 private:
  void listen() {
    NetError error;
    tcp::resolver resolver(io_);
    const auto found = resolver.resolve(address_.host, std::to_string(address_.port), tcp::resolver::passive, error);
    if (!error) {
      const tcp::endpoint place = *found.begin();
      acceptor_.open(place.protocol(), error);
      if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
      if (!error) acceptor_.bind(place, error);
      if (!error) acceptor_.listen(1024, error);
    }
    if (error)
      throw Error(fmt::format("{}: cannot listen there ({}); choose another host or port", url(), error.message()));
    address_.port = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept([this](NetError error, tcp::socket socket) {
      if (hub_.stopping || error == net::error::operation_aborted) return;
      if (error) return recover(error);
      add(std::move(socket));
      accept();
    });
  }

  /// Lack of files or memory, or a client that has gone: the service continues.
  void recover(const NetError& error) {
    if (!std::exchange(short_of_files_, true)) log_.warn("a connection was not accepted: {}", error.message());
    close_longest_waiting();
    pause_.expires_after(std::chrono::milliseconds(50));
    pause_.async_wait([this](NetError cancelled) {
      if (cancelled) return;
      short_of_files_ = false;
      accept();
    });
  }

  void add(tcp::socket socket) {
    const int64_t limit = hub_.options.limits.connections;
    while (hub_.open >= limit && close_longest_waiting()) {
    }
    if (hub_.open >= limit + kReserve) return;  // closes it
    NetError error;
    const auto peer = socket.remote_endpoint(error);
    if (error) return;  // it has gone
    std::make_shared<HttpConnection>(hub_, io_, std::make_unique<Transport>(std::move(socket), tls()),
                                     peer.address().to_string(), hub_.open >= limit)
        ->start();
  }

  /// False where none waits for its client.
  bool close_longest_waiting() {
    if (hub_.waiting.empty()) return false;
    hub_.waiting.front()->close();
    return true;
  }

  TlsContext tls() const {
    const std::lock_guard lock(tls_mutex_);
    return tls_;
  }

  void begin_to_stop() {
    hub_.stopping = true;
    NetError ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    hub_.on_last_gone = [this] { end_.cancel(); };
    // stop() may take a connection out of the set, or an answer that is due may: so from a copy.
    const std::vector<HttpConnection*> all(hub_.connections.begin(), hub_.connections.end());
    for (HttpConnection* connection : all) connection->stop();
    if (!hub_.connections.empty()) {
      end_.expires_after(hub_.options.limits.stopping);
      end_.async_wait([this](NetError cancelled) {
        if (cancelled) return;
        const std::vector<HttpConnection*> rest(hub_.connections.begin(), hub_.connections.end());
        log_.warn("{} requests are not answered: the time for stopping is over", rest.size());
        for (HttpConnection* connection : rest) connection->close();
      });
    }
    guard_.reset();
  }

  void run() {
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {  // lack of memory: what was under way is lost, the rest continues
        log_.error("serving: {}", error.what());
      }
    }
  }

  Logger& log_;
  net::io_context io_{1};
  net::executor_work_guard<net::io_context::executor_type> guard_{io_.get_executor()};
  mutable std::mutex tls_mutex_;
  TlsContext tls_;  // with tls_mutex_
  Address address_;
  HttpHub hub_;
  tcp::acceptor acceptor_;
  net::steady_timer pause_, end_;
  bool short_of_files_ = false;
  std::thread thread_;
};

void HttpLimits::validate() const {
  const auto at_least_one = [](const char* what, int64_t value) {
    if (value < 1) throw Error(fmt::format("{} {}: use 1 or more", what, value));
  };
  at_least_one("bytes of headers", header_bytes);
  at_least_one("--max-body", body_bytes);
  for (const auto& [path, bytes] : body_bytes_of) at_least_one("--max-file", bytes);
  at_least_one("bytes of all requests", all_body_bytes);
  at_least_one("--connections", connections);
  for (const auto time : {idle, request, answer, sending, lingering, stopping})
    at_least_one("milliseconds of a time limit", time.count());
}

HttpServer::HttpServer(HttpHandler handler, HttpServerOptions options, Logger& log)
    : implementation_(std::make_unique<Implementation>(std::move(handler), std::move(options), log)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return implementation_->port(); }
std::string HttpServer::url() const { return implementation_->url(); }
void HttpServer::stop() { implementation_->stop(); }
TlsContext HttpServer::read_certificate() const { return implementation_->read_certificate(); }
void HttpServer::use_certificate(TlsContext fresh) noexcept { implementation_->use_certificate(std::move(fresh)); }

}  // namespace nmt
