// A library to load before all others (LD_PRELOAD): every file system looks like NFS without its lock service. Names
// cannot be exchanged, nothing can be locked, no file can be without a name. Two variables of the environment end the
// process as a kill would:
//   NMT_TEST_KILL_BEFORE_RENAME=N   before its rename number N, from 1
//   NMT_TEST_KILL_AFTER_ASIDE=1     as soon as a folder has been moved out of its place
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string_view>

namespace {

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void end_as_by_a_kill() { kill(getpid(), SIGKILL); }

int refuse(int reason) {
  errno = reason;
  return -1;
}

bool needs_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace

extern "C" {

int flock(int, int) noexcept { return refuse(ENOLCK); }

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (flags != 0) return refuse(EINVAL);
  return next<decltype(&renameat)>("renameat")(from_folder, from, to_folder, to);
}

int rename(const char* from, const char* to) noexcept {
  static std::atomic<long> count = 0;
  const char* last = std::getenv("NMT_TEST_KILL_BEFORE_RENAME");
  if (++count == (last ? std::atol(last) : 0)) end_as_by_a_kill();
  const int done = next<decltype(&rename)>("rename")(from, to);
  if (std::getenv("NMT_TEST_KILL_AFTER_ASIDE") && std::string_view(to).ends_with(".partial/old")) end_as_by_a_kill();
  return done;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = needs_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_TMPFILE) == O_TMPFILE) return refuse(EOPNOTSUPP);
  return next<decltype(&open)>("open")(path, flags, mode);
}

}  // extern "C"
