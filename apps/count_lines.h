#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "base/files/line_reader.h"
#include "base/process/app.h"
#include "translation/line_stream.h"

namespace nmt {

/// Lines of a file; nullopt where that cannot be told: a pipe, a terminal. Throws Error for a file that cannot be read.
inline std::optional<int64_t> count_lines(const std::string& input) {
  const std::filesystem::path path = input == "-" ? "/dev/stdin" : input;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  LineReader reader(path, kLongestLineToTranslate);
  while (reader.next() && stop_signal() == 0) {
  }
  return reader.line_number();
}

}  // namespace nmt
