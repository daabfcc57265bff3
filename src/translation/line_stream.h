#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/line_reader.h"
#include "base/process/log.h"
#include "translation/line_formats.h"
#include "translation/translator.h"

namespace nmt {

/// How nmt-translate opens its input: memory is bounded, whatever one line holds.
constexpr LongestLine kLongestLineToTranslate = {.bytes = 8 << 20, .beyond = LongestLine::Beyond::kLeaveOut};

class Reranker;

struct LineStreamOptions {
  InputFormat input = InputFormat::kText;
  /// For every line: the prefix where a line has none of its own, the phrases beside its own, all else as it stands.
  Request common = {};
  int64_t first_line = 0;     ///< how many lines of the text stand before the input, for samples
  int64_t skipped_lines = 0;  ///< of the input, from its first: they are another part's
  int64_t done_lines = 0;     ///< behind these: their output is there
  int64_t most_lines = std::numeric_limits<int64_t>::max();  ///< behind the skipped ones; the rest is not read
  int64_t block_lines = 2048;     ///< read ahead where the input has so many; sorted by length and translated together
  int64_t block_bytes = 8 << 20;  ///< nor more than about so much text
  const Reranker* reranker = nullptr;  ///< chooses among the translations that the translator finds
  int64_t n_best = 1;                  ///< that it leaves of a line
};

/// Warnings of one kind: the first ones name their line, then one says that there are more.
class LineWarnings {
 public:
  explicit LineWarnings(Logger& log) : log_(log) {}
  void add(const std::string& message);
  int64_t count() const { return count_; }

 private:
  Logger& log_;
  int64_t count_ = 0;
};

/// One way of writing translations.
struct LineSink {
  OutputOptions options = {};
  /// Takes whole output lines; false: nobody wants more (a closed pipe), which ends the work.
  std::function<bool(std::string_view)> write;
  /// Makes the lines of an item in place of format_item(); may be empty. Called in the order of the items.
  std::function<std::string(const OutputItem&)> format = {};
};

/// Where lines go and who may stop the work. All but the sinks may be empty.
struct LineStreamCalls {
  std::vector<LineSink> sinks;
  std::function<void(const OutputItem&)> on_line;  ///< called for each line, in order, before it is written
  std::function<void()> before_waiting;            ///< called when there is no input yet and there may be more
  std::function<bool()> stop;                      ///< asked often, by several threads at once; true ends the work
  std::function<void(int64_t)> progress;           ///< called with the number of lines done so far
};

struct LineStreamStatistics {
  int64_t lines = 0;      ///< written, without those that were done before
  int64_t sentences = 0;  ///< that were searched one by one: the parts of all lines
  int64_t empty = 0, repaired = 0, split = 0;
  int64_t cut = 0;        ///< translations that reached the length limit
  int64_t loops = 0;      ///< translations that have lost their way (Translation::loop)
  int64_t unmet = 0;      ///< translations that lack a phrase which must appear, or their prefix
  int64_t shortened = 0;  ///< pairs scored of which the model takes only the beginning
  int64_t source_tokens = 0, target_tokens = 0;
  double seconds = 0;    ///< of translating, without waiting for input
  bool stopped = false;  ///< because stop() said so
};

/// Translates line by line: for every input line its output, in order. An empty line gives an empty one; \r before \n
/// is dropped, and so is a byte order mark before the first line; what is not UTF-8 is repaired, a line that is too
/// long is split, and what the reader leaves out of a line is missing, each with a warning that names the line.
///
/// Reads what is there and writes its translation before it waits for more: from a file in large blocks, from a pipe or
/// terminal as lines come. Throws what reader, translator and sinks throw, and Error "FILE:LINE: ..." for a line that
/// is not of the input format, or that is cut in one of several fields; what stands before such a line, or before one
/// that cannot be read, is written first.
LineStreamStatistics translate_lines(LineReader& reader, const Translator& translator, const LineStreamCalls& calls,
                                     Logger& log, const LineStreamOptions& options = {});

/// The same with the translations given, line by line: they are scored. Throws Error where one file has fewer lines.
LineStreamStatistics score_lines(LineReader& sources, LineReader& targets, const Translator& translator,
                                 const LineStreamCalls& calls, Logger& log, const LineStreamOptions& options = {});

/// Texts that are all there: one "line" each, whatever they hold. Returns what it wrote. Throws Error "--text: ..." for
/// a text that is not of the input format, TranslationStopped where calls.stop says so.
std::vector<Translation> translate_texts(std::span<const std::string> texts, const Translator& translator,
                                         const LineStreamCalls& calls, const LineStreamOptions& options);

/// The same with the translations given, one for each text: they are scored.
std::vector<Translation> score_texts(std::span<const TextPair> texts, const Translator& translator,
                                     const LineStreamCalls& calls);

}  // namespace nmt
