#include "base/files/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace nmt {

FileLock::FileLock(FileDescriptor file) : file_(std::move(file)) {
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  busy_ = reason == EWOULDBLOCK;
  if (!busy_) problem_ = system_message(reason);
}

}  // namespace nmt
