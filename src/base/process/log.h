#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace nmt {

/// Seconds since a moment that stays the same; never backwards.
using Clock = std::function<double()>;
double steady_seconds();

/// Tells when so many seconds have passed: what takes long says something at least so often.
class Pulse {
 public:
  explicit Pulse(Clock clock = steady_seconds, double seconds = 30);
  /// Whether they have passed since the last time, or since said(); then the next ones begin.
  bool is_due();
  void said() { last_ = clock_(); }
  double since_start() const { return clock_() - start_; }  ///< seconds

 private:
  Clock clock_;
  double seconds_, start_, last_;
};

/// A progress bar on standard error where that is a terminal; elsewhere nothing is drawn.
/// Redrawn at most ten times a second; log lines may come between (call clear() before writing one).
class ProgressBar {
 public:
  /// total 0: unknown, only a count is shown. unit: "sentences", "updates", ...
  ProgressBar(std::string label, int64_t total, std::string unit);
  ~ProgressBar();  ///< clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// done: so far, of total. The first call starts the clock: work done before it (a resumed run) is not in the speed.
  /// note: shown behind the bar, for example "loss 3.21  4,210 tok/s".
  void update(int64_t done, const std::string& note = "");
  void clear();
  bool on_terminal() const { return terminal_; }  ///< false: nothing is ever drawn

 private:
  std::string label_, unit_;
  int64_t total_;
  double start_ = 0, last_drawn_ = 0;  // seconds
  int64_t first_ = -1;
  bool terminal_, drawn_ = false;
};

/// While it lives no progress bar is drawn that this thread makes: a library draws none on the screen of a program.
class NoProgressBars {
 public:
  NoProgressBars();
  ~NoProgressBars();
  NoProgressBars(const NoProgressBars&) = delete;
  NoProgressBars& operator=(const NoProgressBars&) = delete;
};

/// Whether a progress bar can be drawn there.
bool standard_error_is_terminal();

/// What a progress bar shows.
struct ProgressLine {
  std::string label = "", unit = "", note = "";
  int64_t done = 0, total = 0;  // total 0: unknown
  double per_second = 0;        // 0: not known yet
};

/// "prepro  [####      ] 42% 1,234/3,000 sentences 812/s 0:03 left  loss 3.2", cut at `width` columns.
std::string format_progress(const ProgressLine& line, int64_t width);

/// "1:02:03" or "2:03", of seconds.
std::string format_duration(double seconds);
/// 1234567 -> "1,234,567".
std::string with_commas(int64_t number);

/// Where programs and long-running library calls tell what they do: handed down, never global.
using Logger = spdlog::logger;

/// A logger to standard error ("12:03:44 message"; warnings and errors say so).
std::shared_ptr<Logger> make_logger(const std::string& name);

/// Adds a file, appended to, flushed at every line: the log.txt of a run directory. Throws MachineError if it can't be
/// opened.
void add_log_file(Logger& logger, const std::filesystem::path& path);

}  // namespace nmt
