#pragma once

#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

#include "base/process/log.h"

namespace nmt::test {

/// A logger whose lines ("warning: message") can be read.
class CapturedLog {
 public:
  CapturedLog() : log_("test", std::make_shared<spdlog::sinks::ostream_sink_st>(stream_)) {
    log_.set_level(spdlog::level::trace);
    log_.set_pattern("%l: %v");
  }
  Logger& log() { return log_; }
  std::string text() const { return stream_.str(); }

 private:
  std::ostringstream stream_;
  Logger log_;
};

}  // namespace nmt::test
