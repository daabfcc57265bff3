#pragma once

#include <string>

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

}  // namespace nmt
