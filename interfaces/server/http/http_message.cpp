#include "server/http/http_message.h"

#include <algorithm>

#include "base/files/strict_json.h"

namespace nmt {

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

std::string_view HttpRequest::field(std::string_view name) const {
  const auto found = std::ranges::find_if(fields, [&](const auto& one) { return same_ignoring_case(one.first, name); });
  return found == fields.end() ? std::string_view() : found->second;
}

HttpResponse HttpResponse::error(int status, std::string_view message, int64_t retry_after) {
  const nlohmann::ordered_json json = {{"error", message}};
  HttpResponse response{.status = status,
                        .content_type = "application/json; charset=utf-8",
                        .body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
  if (status == 503 || status == 429)
    response.fields.emplace_back("Retry-After", std::to_string(std::max<int64_t>(retry_after, 1)));
  return response;
}

}  // namespace nmt
