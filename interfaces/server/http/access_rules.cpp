#include "server/http/access_rules.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace nmt {

Address Address::parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool named = colon != std::string::npos;
  const std::string_view digits = std::string_view(text).substr(named ? colon + 1 : 0);
  Address address;
  if (named && colon > 0) address.host = text.substr(0, colon);
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || address.port < 0 || address.port > 65535 ||
      address.host.empty() || (!bracketed && address.host.find(':') != std::string::npos)) {
    throw Error(fmt::format("'{}' is no address: use HOST:PORT, [IPv6]:PORT or PORT, such as localhost:8080", text));
  }
  return address;
}

bool Address::is_local() const {
  in_addr numbers{};  // "127.evil.example" is no number
  if (::inet_pton(AF_INET, host.c_str(), &numbers) == 1) return host.starts_with("127.");
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost" || host == "localhost." || host.ends_with(".localhost");
}

std::string Address::url(const std::string& scheme) const {
  return host.find(':') == std::string::npos ? fmt::format("{}://{}:{}", scheme, host, port)
                                             : fmt::format("{}://[{}]:{}", scheme, host, port);
}

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

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_of_address(char c) { return is_alphanumeric(c) || c == '.' || c == ':'; }

/// Whether a header could name it: a name or an address, and perhaps a port.
bool is_host(std::string_view host) {
  const auto is_of_name = [](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '_'; };
  const std::string_view name = without_port(host);
  std::string_view port = host;
  if (host.starts_with('[')) {
    if (host.find(']') == std::string_view::npos || !std::ranges::all_of(name, is_of_address)) return false;
    port.remove_prefix(name.size() + 2);
  } else {
    if (!std::ranges::all_of(name, is_of_name)) return false;
    port.remove_prefix(name.size());
  }
  if (name.empty() || port.empty()) return !name.empty();
  int number = 0;
  const auto read = std::from_chars(port.data() + 1, port.data() + port.size(), number);
  return port.front() == ':' && read.ec == std::errc() && read.ptr == port.data() + port.size() && number > 0 &&
         number < 65536;
}

/// An origin as browsers send it: in lower case, without the port that its scheme has anyway. Throws Error.
std::string normal_origin(const std::string& text) {
  if (text.empty() || text == "*" || text == "null") return text;  // that of a page that is a file
  std::string origin;
  for (const char c : text) origin += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto host = host_of_origin(origin);
  if (origin.starts_with("://") || !is_host(host))
    throw Error(fmt::format(
        "--allow-origin {}: is no origin, which is a scheme, a name and perhaps a port: https://example.org; * for all",
        text));
  for (const auto& [scheme, port] : {std::pair("http://", ":80"), {"https://", ":443"}})
    if (origin.starts_with(scheme) && origin.ends_with(port)) origin.resize(origin.size() - std::strlen(port));
  return origin;
}

}  // namespace

void AccessOptions::validate() const {
  for (const auto& host : allowed_hosts) {
    if (host.empty()) throw Error("--allow-host: is empty; give a name, or * for all");
    const bool is_ipv6 = std::ranges::count(host, ':') > 1 && std::ranges::all_of(host, is_of_address);
    if (host != "*" && !is_ipv6 && !is_host(host))
      throw Error(
          fmt::format("--allow-host {}: is no name of a host; write it as example.org, or example.org:8080", host));
  }
  normal_origin(allowed_origin);
}

AccessRules::AccessRules(AccessOptions options, const Address& address)
    : options_(std::move(options)), local_(address.is_local()) {
  options_.allowed_origin = normal_origin(options_.allowed_origin);
}

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
