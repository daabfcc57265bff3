#pragma once

#include <memory>
#include <string>

#include "base/process/log.h"
#include "server/http/http_message.h"
#include "server/http/http_options.h"

namespace nmt {

/// HTTP/1.0 and 1.1 with persistent and pipelined requests, on one thread for all connections (Boost.Asio; requests are
/// parsed by Boost.Beast). It listens from construction to stop().
///
/// A client can cost no more than HttpLimits say, whatever it sends. Where all connections are taken, the one that has
/// been waiting for its client longest is closed for a new one.
class HttpServer {
 public:
  /// Borrows log. Throws Error for options out of range, where the address cannot be listened on, and for a certificate
  /// that cannot be used.
  HttpServer(HttpHandler handler, HttpServerOptions options, Logger& log);
  ~HttpServer();  ///< stop(); every copy of an HttpReply must be gone or used

  int port() const;         ///< the one in use, where the options said 0
  std::string url() const;  ///< "http://127.0.0.1:8080"
  /// Takes no more connections, answers the requests that have come in whole, and ends: within limits.stopping,
  /// whatever the clients do. The handler is not called after that.
  void stop();
  /// Reads certificate and key again; null where the options have none. Throws Error where they cannot be used.
  TlsContext read_certificate() const;
  /// They are those of connections that come from now on.
  void use_certificate(TlsContext fresh) noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nmt
