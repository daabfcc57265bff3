#include "server/http/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <string_view>

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

}  // namespace nmt
