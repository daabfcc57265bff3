#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace nmt {

/// What one client, and all of them together, may ask of an HttpServer. Each limit holds before memory is taken.
struct HttpLimits {
  int64_t header_bytes = 16 << 10;                    ///< request line and headers, else 431
  int64_t body_bytes = 1 << 20;                       ///< of one request, else 413
  std::map<std::string, int64_t> body_bytes_of = {};  ///< paths with another limit
  int64_t all_body_bytes = 256 << 20;                 ///< of all requests that are read or answered, else 503
  int64_t connections = 4096;                         ///< at the same time; idle ones make room, else 503
  std::chrono::milliseconds idle{60'000};             ///< without a request, then the connection is closed
  std::chrono::milliseconds request{15'000};          ///< from the first byte of a request to its last, else 408
  std::chrono::milliseconds answer{30'000};           ///< from the last byte of a request to its answer, else 504
  std::chrono::milliseconds sending{
      60'000};  ///< of an answer to a client that reads slowly; then the connection is closed
  std::chrono::milliseconds lingering{2'000};  ///< how long what a refused client still sends is read and dropped
  std::chrono::milliseconds stopping{4'000};   ///< of stop(): requests that have come in are answered for so long
  void validate() const;                       ///< throws Error
};

}  // namespace nmt
