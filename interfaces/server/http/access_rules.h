#pragma once

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
