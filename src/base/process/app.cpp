#include "base/process/app.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/strict_json.h"
#include "base/unicode.h"

namespace nmt {
namespace {

// Messages name what stands in files of strangers: one line it stays, and nothing in it commands a terminal.
int report(std::string_view name, std::string message, int exit_code) {
  const std::string line = fmt::format("{}: {}\n", name, printable_line(std::move(message)));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code;
}

/// True if standard output is a pipe that nobody reads any more: `nmt-translate ... | head`.
bool reader_is_gone() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

/// The exit code of the body, or 1 where its output did not get through.
int finish_output(std::string_view name, int exit_code) {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && !std::ferror(stdout) && std::cout) return exit_code;
  if (exit_code != kDone || reason == EPIPE || reader_is_gone()) return exit_code;
  return report(name, fmt::format("standard output: cannot write ({})", reason ? system_message(reason) : "data lost"),
                kMachineFailed);
}

/// The exit code of the body; what std::filesystem and the library of JSON throw as errors of ours.
int run_with_own_errors(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::filesystem::filesystem_error& error) {
    throw_path_error(error);
  } catch (const nlohmann::json::exception& error) {
    throw Error(json_error_line(error));
  }
}

int run_body(std::string_view name, const std::function<int()>& body) {
  try {
    return run_with_own_errors(body);
  } catch (const Error& error) {
    return report(name, error.what(), kUserMustChange);
  } catch (const MachineError& error) {
    return report(name, error.what(), kMachineFailed);
  } catch (const std::bad_alloc&) {
    return report(name, "out of memory", kMachineFailed);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe && reader_is_gone()) return kDone;
    return report(name, error.what(), kMachineFailed);
  } catch (const std::exception& error) {
    return report(name, first_line(error), kMachineFailed);
  } catch (...) {
    return report(name, "an unknown error", kMachineFailed);
  }
}

}  // namespace

int run_app(std::string_view name, const std::function<int()>& body) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as EPIPE
  std::signal(SIGXFSZ, SIG_IGN);
  return finish_output(name, run_body(name, body));
}

namespace {

// What a signal handler may touch has to be global.
volatile std::sig_atomic_t g_stop_signal = 0, g_hangup = 0;

void on_closed_terminal(int) {  // launchers send another signal behind it: that one does not kill yet
  if (g_stop_signal == 0) g_stop_signal = SIGTERM;
}

void on_stop(int signal) {
  if (g_stop_signal == 0) g_stop_signal = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void on_hangup(int) { g_hangup = 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;  // reads and writes under way continue
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup {};  // nohup has it ignored
  action.sa_handler = on_closed_terminal;
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void catch_hangup() {
  struct sigaction action {};
  action.sa_handler = on_hangup;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGHUP, &action, nullptr);
}

bool take_hangup() {
  if (g_hangup == 0) return false;
  g_hangup = 0;
  return true;
}

int stop_signal() { return g_stop_signal; }

int exit_code_of(int signal) {
  if (signal == SIGINT) return kInterrupted;
  if (signal == SIGTERM) return kTerminated;
  return kDone;
}

}  // namespace nmt
