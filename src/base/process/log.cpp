#include "base/process/log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/error.h"
#include "base/process/progress.h"

namespace nmt {
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
