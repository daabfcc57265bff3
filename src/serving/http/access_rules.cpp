#include "serving/http/access_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace nmt {
namespace {

/// "host:8080" -> "host", "[::1]:8080" -> "::1".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

/// "https://host:8080" -> "host:8080"; empty for what is none, such as "null".
std::string_view host_of_origin(std::string_view origin) {
  const size_t colon = origin.find("://");
  return colon == std::string_view::npos ? std::string_view() : origin.substr(colon + 3);
}

}  // namespace

void AccessOptions::validate() const {
  if (std::ranges::find(allowed_hosts, "") != allowed_hosts.end())
    throw Error("--allow-host: is empty; give a name, or * for all");
  const auto& origin = allowed_origin;
  if (origin.empty() || origin == "*" || origin == "null") return;  // that of a page that is a file
  const auto host = host_of_origin(origin);
  if (host.empty() || origin.starts_with("://") || host.find_first_of("/?# ") != std::string_view::npos)
    throw Error(fmt::format(
        "--allow-origin {}: is no origin, which is a scheme, a name and perhaps a port: https://example.org; * for all",
        origin));
}

AccessRules::AccessRules(AccessOptions options, const Address& address)
    : options_(std::move(options)), local_(address.is_local()) {}

bool AccessRules::known_host(std::string_view host) const {
  const std::string name(without_port(host));
  if (Address{.host = name}.is_local()) return true;
  return std::ranges::any_of(options_.allowed_hosts, [&](const std::string& allowed) {
    return allowed == "*" || same_ignoring_case(allowed, name) || same_ignoring_case(allowed, host);
  });
}

std::optional<HttpResponse> AccessRules::refusal(const HttpRequest& request) const {
  const std::string_view host = request.field("Host");
  if (local_ && !host.empty() && !known_host(host)) {
    return HttpResponse::error(
        421, fmt::format("this server is for its own machine: '{}' is no name for it (--allow-host adds one)", host));
  }
  const std::string_view origin = request.field("Origin");
  if (origin.empty() || request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS") return {};
  const bool own = same_ignoring_case(host_of_origin(origin), host);
  if (own || options_.allowed_origin == "*" || origin == options_.allowed_origin) return {};
  if (!local_ && options_.allowed_origin.empty()) return {};  // anybody can send such a request without a browser
  return HttpResponse::error(
      403, fmt::format("pages of '{}' may not use this server (--allow-origin allows an origin)", origin));
}

HttpFields AccessRules::fields() const {
  HttpFields fields = {{"X-Content-Type-Options", "nosniff"}};
  if (options_.allowed_origin.empty()) return fields;
  fields.emplace_back("Access-Control-Allow-Origin", options_.allowed_origin);
  fields.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
  fields.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  return fields;
}

}  // namespace nmt
