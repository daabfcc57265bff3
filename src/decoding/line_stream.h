#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/line_reader.h"
#include "base/log.h"
#include "decoding/translator.h"

namespace nmt {

/// What nmt-translate writes for a line.
enum class OutputFormat {
  kText,           ///< TEXT
  kTextWithScore,  ///< TEXT <tab> SCORE
  kNBest,          ///< for each alternative: LINE NUMBER <tab> TEXT
  kNBestWithScore  ///< for each alternative: LINE NUMBER <tab> TEXT <tab> SCORE
};

struct LineStreamOptions {
  OutputFormat format = OutputFormat::kText;
  int64_t block_lines = 2048;     ///< read ahead where the input has so many; sorted by length and translated together
  int64_t block_bytes = 8 << 20;  ///< nor more than about so much text
};

/// Where lines go and who may stop the work.
struct LineStreamCalls {
  /// Takes whole output lines; false: nobody wants more (a closed pipe), which ends the work.
  std::function<bool(std::string_view)> write;
  /// Asked often; true ends the work as soon as possible. May be empty.
  std::function<bool()> stop;
  /// Called with the number of lines done so far. May be empty.
  std::function<void(int64_t)> progress;
};

struct LineStreamStatistics {
  int64_t lines = 0;  ///< written
  int64_t empty = 0, repaired = 0, split = 0;
  int64_t cut = 0;  ///< translations that reached the length limit
  int64_t source_tokens = 0, target_tokens = 0;
  double seconds = 0;    ///< of translating, without waiting for input
  bool stopped = false;  ///< because stop() said so
};

/// Translates line by line: for every input line its output, in order. An empty line gives an empty one; \r before \n
/// is dropped; what is not UTF-8 is repaired and a line that is too long is split, each with a warning that names the
/// line.
///
/// Reads what is there and writes its translation before it waits for more: from a file in large blocks, from a pipe or
/// terminal as lines come. Throws what reader, translator and write throw.
LineStreamStatistics translate_lines(LineReader& reader, const Translator& translator, const LineStreamCalls& calls,
                                     Logger& log, const LineStreamOptions& options = {});

}  // namespace nmt
