#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/memory_budget.h"

namespace nmt {

/// Names and values in the order in which they came or are sent.
using HttpFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = {};  ///< "GET"
  std::string path = {};    ///< as it was sent, without what follows a '?'
  std::string query = {};   ///< behind the '?'
  HttpFields fields = {};
  std::string body = {};
  std::string client = {};        ///< its IP address
  std::stop_token given_up = {};  ///< stops when nobody waits for the answer any more
  /// Of the body: who keeps what the body held beyond the request keeps this, too.
  std::shared_ptr<const MemoryBudget::Share> share = {};

  /// The first field of this name, whatever its case; empty where there is none.
  std::string_view field(std::string_view name) const;
};

class HttpStream;

struct HttpResponse {
  int status = 200;
  std::string content_type = {};
  std::string body = {};
  HttpFields fields = {};                   ///< further ones
  std::shared_ptr<HttpStream> stream = {};  ///< in place of the body: it is sent while it is made

  /// JSON: {"error": message}; with 503 and 429 the header Retry-After, at least a second.
  static HttpResponse error(int status, std::string_view message, int64_t retry_after = 0);
};

/// True where both are equal but for the case of ASCII letters.
bool same_ignoring_case(std::string_view a, std::string_view b);

}  // namespace nmt
