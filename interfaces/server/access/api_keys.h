#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "server/access/rate_limiter.h"

namespace nmt {

/// What a client must know to be served, and how much it may ask then.
struct ApiKey {
  std::string name;  ///< by which its client is known; never the key itself
  RateLimit limit = {};
};

/// The keys of a server. None means that everybody is served.
class ApiKeys {
 public:
  ApiKeys() = default;
  /// One key without limits. Throws Error where it is empty: that would let everybody in.
  static ApiKeys single(std::string_view key);
  /// A file with a line for each key: the key, requests a minute, characters a minute (- for as many as one likes),
  /// and a name, divided by white space; what is left out is not limited. Empty lines and those that begin with # do
  /// not count. Throws Error that names the line: also where two keys have one name.
  static ApiKeys from_file(const std::filesystem::path& file);

  bool empty() const { return keys_.empty(); }
  /// Null where there is no such key. Takes as long for one that is nearly right as for any other.
  const ApiKey* find(std::string_view key) const;

 private:
  void add(std::string_view key, ApiKey properties, std::string_view where);

  std::map<std::string, ApiKey> keys_;  // by the SHA-256 of the key
  std::set<std::string> names_;
};

}  // namespace nmt
