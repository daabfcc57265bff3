#pragma once

#include <mutex>
#include <string>

#include "base/files/file_descriptor.h"
#include "server/http/http_options.h"

namespace nmt {

/// A line of JSON for each request, without texts and keys: {"time", "client", "method", "path", "status", "received",
/// "sent", "seconds"}; received and sent are bytes of the bodies.
class AccessLog {
 public:
  /// Adds to the file; "-" is standard error, no path no log. Throws Error where it cannot be written.
  explicit AccessLog(std::string path);

  /// What cannot be written is left out: a full disk stops no answer. Any thread may call it.
  void add(const HttpExchange& exchange);
  /// Opens the file anew, which may have been moved away. Throws Error.
  FileDescriptor open() const;
  /// From now on lines go there.
  void use(FileDescriptor file) noexcept;

 private:
  const std::string path_;
  std::mutex mutex_;
  FileDescriptor file_;
};

}  // namespace nmt
