#pragma once

#include <stdexcept>
#include <string>

namespace nmt {

/// Why a client gets no translation: the HTTP status, and what() one line for its {"error": ...}.
class RequestError : public std::runtime_error {
 public:
  RequestError(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

}  // namespace nmt
