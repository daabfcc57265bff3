#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace nmt {

/// Why a client gets no translation: the HTTP status, and what() one line for its {"error": ...}.
class RequestError : public std::runtime_error {
 public:
  /// retry_after: seconds after which it may be tried again; 0 says nothing about that.
  RequestError(int status, const std::string& message, int64_t retry_after = 0)
      : std::runtime_error(message), status_(status), retry_after_(retry_after) {}
  int status() const { return status_; }
  int64_t retry_after() const { return retry_after_; }

 private:
  int status_;
  int64_t retry_after_;
};

}  // namespace nmt
