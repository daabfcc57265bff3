#include "base/files/faked_file_system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <utility>

namespace {

struct Calls {
  nmt::test::FakedFileSystem::Happens happens = {};
  int count = 0;

  void look(const char* path) {
    if (happens) happens(count++, path);
  }
};

struct Fake {
  bool exchange = true, nameless = true;
  int lock_refusal = 0;
  Calls renames = {}, unlinks = {};
};

/// Not a global object: what makes a FakedFileSystem may be one.
Fake& fake() {
  static Fake instance;
  return instance;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The program's own definitions come before the C library's.
extern "C" {

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (flags != 0 && !fake().exchange) {
    errno = EINVAL;
    return -1;
  }
  return next<decltype(&renameat2)>("renameat2")(from_folder, from, to_folder, to, flags);
}

int rename(const char* from, const char* to) noexcept {
  fake().renames.look(from);
  return next<decltype(&rename)>("rename")(from, to);
}

int unlink(const char* path) noexcept {
  fake().unlinks.look(path);
  return next<decltype(&unlink)>("unlink")(path);
}

int flock(int descriptor, int operation) noexcept {
  if (fake().lock_refusal != 0) {
    errno = fake().lock_refusal;
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
  if ((flags & O_TMPFILE) == O_TMPFILE && !fake().nameless) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return next<decltype(&open)>("open")(path, flags, mode);
}

}  // extern "C"

namespace nmt::test {

FakedFileSystem::FakedFileSystem() { fake() = {}; }
FakedFileSystem::~FakedFileSystem() { fake() = {}; }
void FakedFileSystem::refuse_exchange() { fake().exchange = false; }
void FakedFileSystem::refuse_locks(int reason) { fake().lock_refusal = reason; }
void FakedFileSystem::refuse_nameless_files() { fake().nameless = false; }
void FakedFileSystem::before_rename(Happens happens) { fake().renames = {std::move(happens)}; }
void FakedFileSystem::before_unlink(Happens happens) { fake().unlinks = {std::move(happens)}; }

}  // namespace nmt::test
