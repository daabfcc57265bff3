#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/access_rules.h"
#include "server/http/address.h"
#include "server/http/http_limits.h"
#include "server/http/http_message.h"
#include "server/http/tls_context.h"

namespace nmt {

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
