#pragma once

#include <exception>
#include <string>

namespace nmt {

/// What `error` says, without the stack trace that libraries put behind the first line.
inline std::string first_line(const std::exception& error) {
  const std::string all = error.what();
  return all.substr(0, all.find('\n'));
}

}  // namespace nmt
