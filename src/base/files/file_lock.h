#pragma once

#include <string>

#include "base/files/file_descriptor.h"

namespace nmt {

/// A lock on an open file against other processes (flock), held as long as the object lives. It is tried once, without
/// waiting.
class FileLock {
 public:
  explicit FileLock(FileDescriptor file);
  bool is_busy() const { return busy_; }  ///< another process holds it
  /// Why there is no lock, where nobody else holds one: "No locks available" on a file system that has none (NFS
  /// without its lock service, Lustre without -o flock). Empty where the lock is held or busy.
  const std::string& problem() const { return problem_; }

 private:
  FileDescriptor file_;
  bool busy_ = false;
  std::string problem_;
};

}  // namespace nmt
