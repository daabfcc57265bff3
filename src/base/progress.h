#pragma once

#include <cstdint>
#include <string>

namespace nmt {

/// A progress bar on standard error where that is a terminal; elsewhere nothing is drawn.
/// Redrawn at most ten times a second; log lines may come between (call clear() before writing one).
class ProgressBar {
 public:
  /// total 0: unknown, only a count is shown. unit: "sentences", "updates", ...
  ProgressBar(std::string label, int64_t total, std::string unit);
  ~ProgressBar();  ///< clears the line
  /// note: shown behind the bar, for example "loss 3.21  4,210 tok/s".
  void update(int64_t done, const std::string& note = "");
  void clear();

 private:
  std::string label_, unit_;
  int64_t total_;
  double start_, last_drawn_ = 0;
  int64_t first_ = -1;
  bool terminal_, drawn_ = false;
};

/// "1:02:03" or "2:03", of seconds.
std::string format_duration(double seconds);
/// 1234567 -> "1,234,567".
std::string with_commas(int64_t number);

}  // namespace nmt
