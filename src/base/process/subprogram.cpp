#include "base/process/subprogram.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/error.h"

namespace nmt {
namespace {

/// A signal that a terminal sends to this program and the one it runs. This one waits: the other saves its state first,
/// and a second signal, from PR_SET_PDEATHSIG, would keep it from that.
class LeftToTheProgram {
 public:
  explicit LeftToTheProgram(int signal) : signal_(signal), before_(std::signal(signal, SIG_IGN)) {}
  ~LeftToTheProgram() { restore(); }
  LeftToTheProgram(const LeftToTheProgram&) = delete;
  void restore() const { std::signal(signal_, before_); }

 private:
  int signal_;
  void (*before_)(int);
};

}  // namespace

ProgramCost run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  const std::string path = program.string();
  std::vector<char*> words{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const LeftToTheProgram interrupt(SIGINT), hangup(SIGHUP);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) throw MachineError(fmt::format("{}: {}", path, std::strerror(errno)));
  if (child == 0) {
    interrupt.restore(), hangup.restore();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);  // it was killed before the line above
    if (const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::execv(path.c_str(), words.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR) throw MachineError(fmt::format("{}: {}", path, std::strerror(errno)));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code == 127) throw MachineError(fmt::format("{}: cannot be started; install it beside this program", path));
  if (code != 0) throw ProgramFailed(program.filename().string(), code);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), usage.ru_maxrss * 1024};
}

}  // namespace nmt
