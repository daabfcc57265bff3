#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/address.h"
#include "server/http/http_message.h"

namespace nmt {

struct AccessOptions {
  std::vector<std::string> allowed_hosts = {};  ///< names by which a local address may be reached; "*" any
  std::string allowed_origin = {};  ///< of web pages that may use the service (CORS); "*" any, empty our own

  /// Throws Error for an empty name, and for what no page can have as its origin.
  void validate() const;
};

/// Who may use a server, by the headers Host and Origin. A server on a local address is meant for this machine alone,
/// but a page of any web site, open in a browser here, can send requests to it: under a name of its own that leads
/// here (DNS rebinding), or as a form. So a local address is reached by local names only, unless others are allowed,
/// and pages of other origins only read where they are allowed to.
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
