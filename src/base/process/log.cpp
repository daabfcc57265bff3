#include "base/process/log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Pulse::Pulse(Clock clock, double seconds)
    : clock_(std::move(clock)), seconds_(seconds), start_(clock_()), last_(start_) {}

bool Pulse::is_due() {
  if (clock_() - last_ < seconds_) return false;
  said();
  return true;
}

namespace {

constexpr double kSecondsBetweenDraws = 0.1;
constexpr int64_t kLongestBar = 30, kShortestBar = 5, kUsualWidth = 80;
constexpr std::string_view kClearLine = "\r\033[K";

thread_local int t_no_bars = 0;

int64_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

std::string format_speed(double per_second) {
  if (per_second >= 10) return with_commas(std::llround(per_second)) + "/s";
  return fmt::format("{:.{}f}/s", per_second, per_second >= 1 ? 1 : 2);
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

bool standard_error_is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && !(kind && std::string_view(kind) == "dumb");
}

ProgressBar::ProgressBar(std::string label, int64_t total, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(t_no_bars == 0 && standard_error_is_terminal()) {}

NoProgressBars::NoProgressBars() { ++t_no_bars; }
NoProgressBars::~NoProgressBars() { --t_no_bars; }

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::update(int64_t done, const std::string& note) {
  if (!terminal_) return;
  const double time = steady_seconds();
  if (first_ < 0) {
    first_ = done;
    start_ = time;
  }
  if (time - last_drawn_ < kSecondsBetweenDraws) return;
  last_drawn_ = time;
  drawn_ = true;
  const double speed = time > start_ ? static_cast<double>(done - first_) / (time - start_) : 0;
  const ProgressLine line{
      .label = label_, .unit = unit_, .note = note, .done = done, .total = total_, .per_second = speed};
  // The last column stays free: some terminals continue on the next line there.
  print(std::string(kClearLine) + format_progress(line, terminal_width() - 1));
}

void ProgressBar::clear() {
  if (drawn_) print(kClearLine);
  drawn_ = false;
  last_drawn_ = 0;
}

std::string format_progress(const ProgressLine& line, int64_t width) {
  std::string behind;
  double share = 0;
  if (line.total > 0) {
    share = std::clamp(static_cast<double>(line.done) / static_cast<double>(line.total), 0.0, 1.0);
    behind = fmt::format("{}% {}/", static_cast<int>(share * 100), with_commas(line.done)) + with_commas(line.total);
  } else {
    behind = with_commas(line.done);
  }
  behind += " " + line.unit;
  if (line.per_second > 0) {
    behind += " " + format_speed(line.per_second);
    if (line.total > 0) {
      const auto left = static_cast<double>(std::max<int64_t>(0, line.total - line.done));
      behind += " " + format_duration(left / line.per_second) + " left";
    }
  }
  if (!line.note.empty()) behind += "  " + line.note;

  std::u32string text = to_code_points(line.label) + U"  ";
  const std::u32string rest = to_code_points(behind);
  const int64_t room = width - static_cast<int64_t>(text.size() + rest.size()) - 3;  // "[", "] "
  if (line.total > 0 && room >= kShortestBar) {
    const int64_t bar = std::min(room, kLongestBar);
    const auto full = static_cast<int64_t>(share * static_cast<double>(bar));
    text += U"[" + std::u32string(full, U'#') + std::u32string(bar - full, U' ') + U"] ";
  }
  text += rest;
  if (static_cast<int64_t>(text.size()) > width) text.resize(std::max<int64_t>(0, width));
  return to_utf8(text);
}

std::string format_duration(double seconds) {
  constexpr double kLongest = 1e9;  // about 30 years; also what is not a number
  if (!(seconds < kLongest)) return "?";
  const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  const int64_t first_digit = number < 0 ? 1 : 0;
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > first_digit; i -= 3) digits.insert(i, ",");
  return digits;
}

namespace {

/// Says the level where it is not the usual one: "warning: ".
class LevelPrefix final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string_view prefix = of(message.level);
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelPrefix>(); }

 private:
  static std::string_view of(spdlog::level::level_enum level) {
    switch (level) {
      case spdlog::level::trace:
      case spdlog::level::debug:
        return "debug: ";
      case spdlog::level::warn:
        return "warning: ";
      case spdlog::level::err:
      case spdlog::level::critical:
        return "error: ";
      default:
        return "";
    }
  }
};

std::unique_ptr<spdlog::formatter> line_format(const std::string& time) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelPrefix>('*').set_pattern(time + " %*%v");
  return formatter;
}

}  // namespace

std::shared_ptr<Logger> make_logger(const std::string& name) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  // A progress bar may stand in the line where the cursor is.
  sink->set_formatter(line_format(standard_error_is_terminal() ? "\r\033[K%H:%M:%S" : "%H:%M:%S"));
  auto logger = std::make_shared<Logger>(name, std::move(sink));
  logger->flush_on(spdlog::level::trace);
  return logger;
}

void add_log_file(Logger& logger, const std::filesystem::path& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    sink->set_formatter(line_format("%Y-%m-%d %H:%M:%S"));
    logger.sinks().push_back(std::move(sink));
  } catch (const spdlog::spdlog_ex&) {
    throw MachineError(fmt::format("{}: cannot be opened to append to", path.string()));
  }
}

}  // namespace nmt
