#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/process/app.h"
#include "support.h"

namespace nmt::signals_test {
namespace {

// Every case runs in a process of its own: a signal's effect stays.

TEST(StopSignals, NoneIsZero) {
  EXPECT_EXIT(
      {
        catch_stop_signals();
        std::_Exit(stop_signal() == 0 ? stop_exit_code() : 99);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignals, TheFirstOnlyRaisesAFlag) {
  for (const auto& [signal, exit_code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    EXPECT_EXIT(
        {
          catch_stop_signals();
          raise(signal);
          std::_Exit(stop_signal() == signal ? stop_exit_code() : 99);
        },
        testing::ExitedWithCode(exit_code), "");
  }
}

TEST(StopSignals, TheSecondKills) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      EXPECT_EXIT(
          {
            catch_stop_signals();
            raise(first);
            raise(second);
            std::_Exit(99);
          },
          testing::KilledBySignal(second), "");
    }
  }
}

TEST(StopSignals, AClosedTerminalStopsAsSigterm) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_DFL);
        catch_stop_signals();
        raise(SIGHUP);
        raise(SIGHUP);   // the shell sends one, the terminal too
        raise(SIGTERM);  // and launchers this one behind it
        std::_Exit(stop_signal() == SIGTERM ? stop_exit_code() : 99);
      },
      testing::ExitedWithCode(143), "");
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);  // as nohup does
        catch_stop_signals();
        raise(SIGHUP);
        std::_Exit(stop_signal() == 0 ? 0 : 99);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignals, AClosedPipeIsAWriteError) {
  EXPECT_EXIT(
      {
        std::signal(SIGPIPE, SIG_DFL);  // another case may have it ignored already
        catch_stop_signals();
        int ends[2];
        if (pipe(ends) != 0) std::_Exit(98);
        close(ends[0]);
        std::_Exit(write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 99);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nmt::signals_test
