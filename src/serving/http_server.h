#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/process/log.h"
#include "serving/address.h"
#include "serving/translation_service.h"

namespace nmt {

struct ServerOptions {
  Address address = {};
  std::string allowed_origin = {};   ///< of web pages that may use the service (CORS); "*" any, empty none but our own
  int64_t max_body_bytes = 1 << 20;  ///< of a request
  int64_t connections = 256;         ///< served at the same time; more wait
  ServiceOptions service = {};
  void validate() const;  ///< throws Error
};

/// A TranslationService over HTTP: the routes of docs/serving.md. It listens from construction to stop().
class HttpServer {
 public:
  /// Borrows log. Throws Error for options out of range and where the address cannot be listened on.
  HttpServer(TranslateFunction translate, ServerOptions options, Logger& log);
  ~HttpServer();  ///< stop()

  int port() const;         ///< the one in use, where the options said 0
  std::string url() const;  ///< "http://127.0.0.1:8080"
  bool listening() const;   ///< false after stop(), or when the system took the socket away
  /// Takes no more connections, answers the requests that have come in, ends. Connections that are kept open without
  /// a request delay it by up to the 5 seconds after which they are closed.
  void stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nmt
