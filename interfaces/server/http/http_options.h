#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/access_rules.h"
#include "server/http/http_message.h"

namespace boost::asio::ssl {
class context;
}

namespace nmt {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// PEM files: the certificate with those that vouch for it, and its private key (without a pass phrase).
struct TlsFiles {
  std::filesystem::path certificate = {}, key = {};
  bool wanted() const { return !certificate.empty() || !key.empty(); }
};

/// TLS 1.2 and 1.3 for a server of HTTP/1.1. Throws Error where a file cannot be used, or the two are no pair.
TlsContext make_tls_context(const TlsFiles& files);

/// A request and what became of it, for metrics and the access log. The views hold during the call.
struct HttpExchange {
  std::string_view client, method, path;  ///< method and path are empty where no request could be read
  int status = 0;
  int64_t received_bytes = 0, sent_bytes = 0;  ///< of the bodies
  std::chrono::duration<double> time{};        ///< from the first byte of the request to its answer
};

struct HttpServerOptions {
  Address address = {};
  HttpLimits limits = {};
  AccessOptions access = {};
  TlsFiles tls = {};                                      ///< none: plain HTTP
  HttpFields fields = {};                                 ///< sent with every answer
  std::vector<std::string> always_answered = {};          ///< paths that are served when all connections are taken
  std::function<void(const HttpExchange&)> observe = {};  ///< called before an answer is sent, on the serving thread
};

}  // namespace nmt
