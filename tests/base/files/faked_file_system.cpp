#include "base/files/faked_file_system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace {

struct {
  bool exchange = true, nameless = true;
  int lock_refusal = 0, renames_left = -1;
} fake;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The program's own definitions come before the C library's.
extern "C" {

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (flags != 0 && !fake.exchange) {
    errno = EINVAL;
    return -1;
  }
  return next<decltype(&renameat2)>("renameat2")(from_folder, from, to_folder, to, flags);
}

int rename(const char* from, const char* to) noexcept {
  if (fake.renames_left == 0) _exit(0);
  if (fake.renames_left > 0) --fake.renames_left;
  return next<decltype(&rename)>("rename")(from, to);
}

int flock(int descriptor, int operation) noexcept {
  if (fake.lock_refusal != 0) {
    errno = fake.lock_refusal;
    return -1;
  }
  return next<decltype(&flock)>("flock")(descriptor, operation);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const bool needs_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = needs_mode ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_TMPFILE) == O_TMPFILE && !fake.nameless) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return next<decltype(&open)>("open")(path, flags, mode);
}

}  // extern "C"

namespace nmt::test {

FakedFileSystem::FakedFileSystem() { fake = {}; }
FakedFileSystem::~FakedFileSystem() { fake = {}; }
void FakedFileSystem::refuse_exchange() { fake.exchange = false; }
void FakedFileSystem::refuse_locks(int reason) { fake.lock_refusal = reason; }
void FakedFileSystem::refuse_nameless_files() { fake.nameless = false; }
void FakedFileSystem::end_process_before_rename(int number) { fake.renames_left = number; }

}  // namespace nmt::test
