#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.h"

namespace nmt {

/// Where a server listens.
struct Address {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0: any that is free

  /// "HOST:PORT", "[IPv6]:PORT", ":PORT" or "PORT"; without a host 127.0.0.1, which no other machine can reach.
  /// Throws Error for anything else.
  static Address parse(const std::string& text);
  bool is_local() const;  ///< by its name: 127.*.*.*, ::1 or localhost
  /// "http://127.0.0.1:8080"
  std::string url(const std::string& scheme = "http") const;
};

struct AccessOptions {
  std::vector<std::string> allowed_hosts = {};  ///< names by which a local address may be reached; "*" any
  std::string allowed_origin = {};  ///< of web pages that may use the service (CORS); "*" any, empty our own

  /// Throws Error for an empty name, and for what no page can have as its origin.
  void validate() const;
};

/// Decides who may use a server, by the headers Host and Origin. A server on a local address is meant for this machine
/// alone, but a page of any web site, open in a browser here, can send requests to it: under a name of its own that
/// leads here (DNS rebinding), or as a form. So a local address is reached by local names only, unless others are
/// allowed, and pages of other origins only read where they are allowed to.
class AccessRules {
 public:
  AccessRules(AccessOptions options, const Address& address);

  /// Why a request is refused.
  std::optional<HttpResponse> refusal(const HttpRequest& request) const;
  /// The headers of CORS, for every answer.
  HttpFields fields() const;

 private:
  bool known_host(std::string_view host) const;

  AccessOptions options_;
  bool local_;
};

}  // namespace nmt

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
  TlsFiles tls = {};  ///< none: plain HTTP
  /// What stands before each path where a proxy passes it on: "/mt". A request without it is taken as well.
  std::string path_prefix = {};
  HttpFields fields = {};                                 ///< sent with every answer
  std::vector<std::string> always_answered = {};          ///< paths that are served when all connections are taken
  std::function<void(const HttpExchange&)> observe = {};  ///< called before an answer is sent, on the serving thread
  void validate() const;                                  ///< throws Error
};

}  // namespace nmt
