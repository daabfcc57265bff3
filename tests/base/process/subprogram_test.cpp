#include "base/process/subprogram.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, SaysWhatItTook) {
  const ProgramCost cost = run_program("/bin/sh", {"-c", "sleep 0.1"});
  EXPECT_GE(cost.seconds, 0.1);
  EXPECT_GT(cost.peak_memory, 100'000);
  EXPECT_LT(cost.peak_memory, 1'000'000'000);
}

TEST(RunProgram, ExitCodesAreThrown) {
  try {
    run_program("/bin/sh", {"-c", "exit 2"});
    FAIL();
  } catch (const ProgramFailed& failed) {
    EXPECT_EQ(failed.exit_code, 2);
  }
  EXPECT_THROW(run_program("/nowhere/program", {}), MachineError);
}

TEST(RunProgram, HasNoInput) { EXPECT_NO_THROW(run_program("/bin/sh", {"-c", "! read line"})); }

// Where nmt-distill is killed, what it has started would hold its files.
TEST(RunProgram, EndsWithItsCaller) {
  const test::TemporaryDirectory folder;
  const std::string file = (folder.path() / "pid").string();
  const pid_t caller = ::fork();
  if (caller == 0) {
    run_program("/bin/sh", {"-c", "echo $$ > " + file + ".new && mv " + file + ".new " + file + " && exec sleep 60"});
    ::_exit(0);
  }
  for (int i = 0; i < 500 && !std::filesystem::exists(file); ++i) std::this_thread::sleep_for(10ms);
  const pid_t started = std::stoi(read_file(file));
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  bool ended = false;
  for (int i = 0; i < 500 && !ended; ++i) {
    std::this_thread::sleep_for(10ms);
    // A process without a parent that waits for it may stay as a zombie.
    const std::string stat = std::filesystem::exists("/proc/" + std::to_string(started) + "/stat")
                                 ? read_file("/proc/" + std::to_string(started) + "/stat")
                                 : ") Z";
    ended = stat.find(") Z") != std::string::npos;
  }
  EXPECT_TRUE(ended);
}

// A training that is interrupted saves its state; the end of its caller would be a second signal, which kills it.
TEST(RunProgram, LetsAnInterruptedProgramFinish) {
  const test::TemporaryDirectory folder;
  const std::string file = (folder.path() / "begun").string();
  const pid_t caller = ::fork();
  if (caller == 0) {
    ::setpgid(0, 0);
    try {
      run_program("/bin/sh", {"-c", "trap 'sleep 0.2; exit 7' INT; touch " + file + "; while :; do sleep 0.05; done"});
    } catch (const ProgramFailed& failed) {
      ::_exit(failed.exit_code);
    }
    ::_exit(0);
  }
  for (int i = 0; i < 500 && !std::filesystem::exists(file); ++i) std::this_thread::sleep_for(10ms);
  ::kill(-caller, SIGINT);
  int status = 0;
  ::waitpid(caller, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

}  // namespace
}  // namespace nmt
