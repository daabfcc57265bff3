#pragma once

#include <functional>
#include <string>

#include "nmt/export.h"

NMT_API_BEGIN

/// How much a line matters.
enum class LogLevel { kInfo, kWarning, kError };

/// Takes what long work has to say, a line of UTF-8 without its line end at a time; one thread at a time, but not
/// always the one that began the work. Empty: nothing is said; the library itself never prints. It must not throw: what
/// it throws is dropped.
using LogSink = std::function<void(LogLevel level, const std::string& line)>;

NMT_API_END
