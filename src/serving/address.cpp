#include "serving/address.h"

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

bool Address::is_local() const { return host.starts_with("127.") || host == "::1" || host == "localhost"; }

std::string Address::url() const {
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}", host, port)
                                             : fmt::format("http://[{}]:{}", host, port);
}

}  // namespace nmt
