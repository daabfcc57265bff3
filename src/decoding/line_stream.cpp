#include "decoding/line_stream.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "base/unicode.h"

namespace nmt {
namespace {

using Clock = std::chrono::steady_clock;

/// How often a wait for input asks whether to stop, and how long the lines of a pipe may be apart to count as one
/// block.
constexpr int kAskMilliseconds = 200, kGatherMilliseconds = 10;

struct StopRequest {};

int milliseconds_since(Clock::time_point start) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
}

/// Warnings of one kind: the first ones name their line, then one says that there are more.
class LineWarnings {
 public:
  explicit LineWarnings(Logger& log) : log_(log) {}
  void add(const std::string& message) {
    constexpr int64_t kNamed = 10;
    if (++count_ <= kNamed) log_.warn("{}", message);
    if (count_ == kNamed + 1) log_.warn("further lines of this kind are counted, not named");
  }
  int64_t count() const { return count_; }

 private:
  Logger& log_;
  int64_t count_ = 0;
};

class LineStream {
 public:
  LineStream(LineReader& reader, const Translator& translator, const LineStreamCalls& calls, Logger& log,
             const LineStreamOptions& options)
      : reader_(reader), translator_(translator), calls_(calls), options_(options), repaired_(log), split_(log) {
    name_ = reader.path() == "-" ? "standard input" : reader.path().string();
  }

  LineStreamStatistics run() {
    try {
      while (read_block()) {
        if (!translate_block()) break;
      }
    } catch (const StopRequest&) {
      statistics_.stopped = true;
    }
    statistics_.repaired = repaired_.count();
    statistics_.split = split_.count();
    return statistics_;
  }

 private:
  void ask_whether_to_stop() const {
    if (calls_.stop && calls_.stop()) throw StopRequest();
  }

  /// Fills block_ with the lines that are there, at least one; false at the end.
  bool read_block() {
    block_.clear();
    do {
      ask_whether_to_stop();
    } while (!reader_.ready(kAskMilliseconds));
    const auto start = Clock::now();
    int64_t bytes = 0;
    while (std::ssize(block_) < options_.block_lines && bytes < options_.block_bytes) {
      if (!block_.empty() && !reader_.ready(0)) {
        const int left = kGatherMilliseconds - milliseconds_since(start);
        if (left <= 0 || !reader_.ready(left)) break;
      }
      const auto line = reader_.next();
      if (!line) break;
      bytes += std::ssize(*line);
      block_.push_back(clean(*line));
    }
    return !block_.empty();
  }

  std::string clean(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto invalid = find_invalid_utf8(line);
    if (!invalid) return std::string(line);
    repaired_.add(fmt::format("{}:{}: byte {} is not UTF-8: such bytes are replaced by U+FFFD", name_,
                              reader_.line_number(), *invalid + 1));
    return repair_utf8(line);
  }

  /// Translates and writes block_; false if nobody wants more.
  bool translate_block() {
    const auto start = Clock::now();
    const int64_t lines_before = statistics_.lines;
    const auto translations = translator_.translate(block_, [&](int64_t done) {
      if (calls_.progress) calls_.progress(lines_before + done);
      ask_whether_to_stop();
    });
    std::string output;
    for (const Translation& translation : translations) {
      ++statistics_.lines;
      count(translation);
      append_output(translation, output);
    }
    statistics_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    return calls_.write(output);
  }

  void count(const Translation& translation) {
    if (translation.split) {
      split_.add(fmt::format("{}:{}: {} pieces are too long: translated in parts", name_, statistics_.lines,
                             translation.source_tokens));
    }
    statistics_.source_tokens += translation.source_tokens;
    statistics_.target_tokens += translation.target_tokens;
    if (translation.alternatives.empty()) {
      ++statistics_.empty;
    } else if (!translation.alternatives.front().finished) {
      ++statistics_.cut;
    }
  }

  void append_output(const Translation& translation, std::string& output) const {
    const bool numbered = options_.format == OutputFormat::kNBest || options_.format == OutputFormat::kNBestWithScore;
    const bool scored =
        options_.format == OutputFormat::kTextWithScore || options_.format == OutputFormat::kNBestWithScore;
    const auto append = [&](const Alternative& alternative) {
      auto place = std::back_inserter(output);
      if (numbered) fmt::format_to(place, "{}\t", statistics_.lines);
      output += alternative.text;
      if (scored) fmt::format_to(place, "\t{:.6f}", alternative.score);
      output += '\n';
    };
    if (translation.alternatives.empty()) return append({});
    for (const auto& alternative : translation.alternatives) {
      append(alternative);
      if (!numbered) return;
    }
  }

  LineReader& reader_;
  const Translator& translator_;
  const LineStreamCalls& calls_;
  const LineStreamOptions& options_;
  std::string name_;
  LineWarnings repaired_, split_;
  std::vector<std::string> block_;
  LineStreamStatistics statistics_;
};

}  // namespace

LineStreamStatistics translate_lines(LineReader& reader, const Translator& translator, const LineStreamCalls& calls,
                                     Logger& log, const LineStreamOptions& options) {
  return LineStream(reader, translator, calls, log, options).run();
}

}  // namespace nmt
