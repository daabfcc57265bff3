#include "base/process/signals.h"

#include <csignal>

#include "base/process/app.h"

namespace nmt {
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
  action.sa_flags = SA_RESTART;  // reads and writes under way go on
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
