#include "translation/line_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "translation/lines/source_parts.h"
#include "translation/reranking.h"

namespace nmt {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// How often a wait for input asks whether to stop, and how long the lines of a pipe may be apart to count as one
/// block.
constexpr int kAskMilliseconds = 200, kGatherMilliseconds = 10;

int milliseconds_since(SteadyClock::time_point start) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start).count());
}

/// A cut may have halved a character.
std::string_view without_last_of_several_bytes(std::string_view text) {
  if (text.empty() || static_cast<unsigned char>(text.back()) < 0x80) return text;
  while (!text.empty() && is_continuation_byte(text.back())) text.remove_suffix(1);
  text.remove_suffix(std::min<size_t>(1, text.size()));
  return text;
}

std::string name_of(const LineReader& reader) {
  return reader.path() == "-" ? "standard input" : reader.path().string();
}

/// Writes lines to all sinks; false if nobody wants more. first_line: those before them.
bool write_lines(const std::vector<Request>& requests, const std::vector<Translation>& translations, int64_t first_line,
                 const TextCodec& codec, const LineStreamCalls& calls) {
  std::vector<std::string> outputs(calls.sinks.size());
  for (size_t i = 0; i < translations.size(); ++i) {
    const OutputItem item{.number = first_line + static_cast<int64_t>(i) + 1,
                          .source = requests[i].source,
                          .translation = translations[i]};
    if (calls.on_line) calls.on_line(item);
    for (size_t sink = 0; sink < outputs.size(); ++sink) {
      const auto& [options, write, format] = calls.sinks[sink];
      outputs[sink] += format ? format(item) : format_item(item, codec, options);
    }
  }
  bool wanted = true;
  for (size_t sink = 0; sink < outputs.size(); ++sink) wanted = calls.sinks[sink].write(outputs[sink]) && wanted;
  return wanted;
}

std::vector<Translation> translated(const std::vector<Request>& requests, const Translator& translator,
                                    const LineStreamOptions& options, const TranslationCalls& calls,
                                    int64_t first_line) {
  auto translations = translator.translate(requests, calls, first_line);
  if (!options.reranker) return translations;
  std::vector<std::string> sources;
  for (const auto& request : requests) sources.push_back(request.source);
  options.reranker->rank(sources, translations, options.n_best, calls);
  return translations;
}

}  // namespace

void LineWarnings::add(const std::string& message) {
  constexpr int64_t kNamed = 10;
  if (++count_ <= kNamed) log_.warn("{}", message);
  if (count_ == kNamed + 1) log_.warn("further lines of this kind are counted, not named");
}

namespace {

/// A translation that was given and scored.
Translation to_translation(Alternative scored) {
  Translation translation{.text = scored.text, .alternatives = {}, .target_tokens = scored.tokens};
  for (const auto& part : scored.parts) translation.source_tokens += std::ssize(part.source);
  if (!scored.parts.empty()) translation.alternatives.push_back(std::move(scored));
  return translation;
}

class LineStream {
 public:
  /// targets: translations to score; nullptr: translate.
  LineStream(LineReader& sources, LineReader* targets, const Translator& translator, const LineStreamCalls& calls,
             Logger& log, const LineStreamOptions& options)
      : sources_(sources),
        targets_(targets),
        translator_(translator),
        calls_(calls),
        options_(options),
        repaired_(log),
        split_(log),
        cut_(log),
        shortened_(log),
        tags_(translator.codec()),
        untagged_(log) {}

  LineStreamStatistics run() {
    try {
      bool wanted = true;
      pass_done_lines();
      while (wanted && read_block()) wanted = write(targets_ ? score_block() : translate_block());
      if (wanted && failure_) std::rethrow_exception(failure_);
      if (wanted && targets_ && lines_done() < options_.most_lines && targets_->next())
        fail_on_lengths(*targets_, sources_);
    } catch (const TranslationStopped&) {
      statistics_.stopped = true;
    }
    statistics_.repaired = repaired_.count();
    statistics_.split = split_.count();
    return statistics_;
  }

 private:
  void ask_whether_to_stop() const {
    if (calls_.stop && calls_.stop()) throw TranslationStopped();
  }

  void pass_done_lines() {
    for (int64_t i = 0; i < options_.skipped_lines + options_.done_lines; ++i) {
      sources_.next();
      if (targets_) targets_->next();
    }
  }

  void wait_for_input() const {
    if (calls_.before_waiting && !sources_.ready(0)) calls_.before_waiting();
    do {
      ask_whether_to_stop();
    } while (!sources_.ready(kAskMilliseconds));
  }

  /// Fills requests_ with the lines that are there, at least one; false at the end, and at a line that cannot be read.
  bool read_block() {
    requests_.clear();
    given_.clear();
    const int64_t most = std::min(options_.block_lines, options_.most_lines - lines_done());
    if (failure_ || most <= 0) return false;
    wait_for_input();
    const auto start = SteadyClock::now();
    int64_t bytes = 0;
    while (std::ssize(requests_) < most && bytes < options_.block_bytes) {
      if (!requests_.empty() && !sources_.ready(0)) {
        const int left = kGatherMilliseconds - milliseconds_since(start);
        if (left <= 0 || !sources_.ready(left)) break;
      }
      try {
        const auto line = sources_.next();
        if (!line) break;
        bytes += std::ssize(*line);
        auto request = read_request(*line);
        if (targets_) given_.push_back(read_target());
        requests_.push_back(std::move(request));
      } catch (const std::exception&) {  // the lines before it are answered first
        failure_ = std::current_exception();
        break;
      }
    }
    return !requests_.empty();
  }

  Request read_request(std::string_view line) {
    const auto text = clean(line, sources_);
    try {
      if (sources_.is_cut() && options_.input != InputFormat::kText)
        throw Error(fmt::format("more than {} MiB, the longest line of this format", line.size() >> 20));
      auto request = with_common(parse_request(text, options_.input), options_.common);
      if (const auto problem = tags_.problem_of(request.source))
        untagged_.add(fmt::format("{}:{}: {}", name_of(sources_), sources_.line_number(), *problem));
      return request;
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", name_of(sources_), sources_.line_number(), error.what()));
    }
  }

  std::string read_target() {
    const auto line = targets_->next();
    if (!line) fail_on_lengths(sources_, *targets_);
    return clean(*line, *targets_);
  }

  [[noreturn]] static void fail_on_lengths(const LineReader& longer, const LineReader& shorter) {
    throw Error(fmt::format("{}: ends after line {}, {} has more; align the files", name_of(shorter),
                            shorter.line_number(), name_of(longer)));
  }

  std::string clean(std::string_view line, const LineReader& reader) {
    if (reader.line_number() == 1) line = without_byte_order_mark(line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (reader.is_cut()) {
      cut_.add(fmt::format("{}:{}: more than {} MiB: only its beginning is translated", name_of(reader),
                           reader.line_number(), line.size() >> 20));
      line = without_last_of_several_bytes(line);
    }
    const auto invalid = find_invalid_utf8(line);
    if (!invalid) return std::string(line);
    repaired_.add(fmt::format("{}:{}: byte {} is not UTF-8: such bytes are replaced by U+FFFD", name_of(reader),
                              reader.line_number(), *invalid + 1));
    return repair_utf8(line);
  }

  std::vector<Translation> translate_block() {
    const auto start = SteadyClock::now();
    auto translations =
        translated(requests_, translator_, options_, translation_calls(), options_.first_line + line_number());
    statistics_.seconds += seconds_since(start);
    return translations;
  }

  std::vector<Translation> score_block() {
    const auto start = SteadyClock::now();
    std::vector<TextPair> pairs;
    for (size_t i = 0; i < requests_.size(); ++i) pairs.push_back({requests_[i].source, given_[i]});
    std::vector<Translation> scored;
    for (auto& result : translator_.score(pairs, translation_calls()))
      scored.push_back(to_translation(std::move(result)));
    statistics_.seconds += seconds_since(start);
    return scored;
  }

  static double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
  }

  /// The calls for a block. One line may take as long as thousands of others: the search asks before each step.
  TranslationCalls translation_calls() const {
    TranslationCalls calls{.progress = {}, .stopped = calls_.stop};
    if (calls_.progress)
      calls.progress = [this, before = lines_done()](int64_t done) { calls_.progress(before + done); };
    return calls;
  }

  /// Writes the block's lines to all sinks; false if nobody wants more.
  bool write(const std::vector<Translation>& translations) {
    for (const auto& translation : translations) count(translation);
    return write_lines(requests_, translations, line_number() - std::ssize(translations), translator_.codec(), calls_);
  }

  int64_t lines_done() const { return options_.done_lines + statistics_.lines; }
  int64_t line_number() const { return options_.skipped_lines + lines_done(); }  // in the input, of the last one done

  void count(const Translation& translation) {
    ++statistics_.lines;
    if (translation.split) {
      split_.add(fmt::format("{}:{}: {} pieces are too long: translated in parts", name_of(sources_), line_number(),
                             translation.source_tokens));
    }
    statistics_.source_tokens += translation.source_tokens;
    statistics_.target_tokens += translation.target_tokens;
    if (translation.alternatives.empty()) {
      ++statistics_.empty;
      return;
    }
    const auto& best = translation.alternatives.front();
    statistics_.sentences += std::ssize(best.parts);
    if (best.shortened) {
      ++statistics_.shortened;
      shortened_.add(
          fmt::format("{}:{}: longer than the model takes: its beginning is scored", name_of(sources_), line_number()));
    }
    if (!best.finished) ++statistics_.cut;
    if (translation.loop) ++statistics_.loops;
    if (!best.meets_constraints) ++statistics_.unmet;
  }

  LineReader& sources_;
  LineReader* targets_;
  const Translator& translator_;
  const LineStreamCalls& calls_;
  const LineStreamOptions& options_;
  LineWarnings repaired_, split_, cut_, shortened_;
  const TagCheck tags_;
  LineWarnings untagged_;
  std::vector<Request> requests_;
  std::vector<std::string> given_;  // with targets_: a translation for each request
  std::exception_ptr failure_;      // of the line behind the last block
  LineStreamStatistics statistics_;
};

}  // namespace

LineStreamStatistics translate_lines(LineReader& reader, const Translator& translator, const LineStreamCalls& calls,
                                     Logger& log, const LineStreamOptions& options) {
  return LineStream(reader, nullptr, translator, calls, log, options).run();
}

LineStreamStatistics score_lines(LineReader& sources, LineReader& targets, const Translator& translator,
                                 const LineStreamCalls& calls, Logger& log, const LineStreamOptions& options) {
  return LineStream(sources, &targets, translator, calls, log, options).run();
}

std::vector<Translation> translate_texts(std::span<const std::string> texts, const Translator& translator,
                                         const LineStreamCalls& calls, const LineStreamOptions& options) {
  std::vector<Request> requests;
  for (const auto& text : texts) {
    try {
      requests.push_back(with_common(parse_request(repair_utf8(text), options.input), options.common));
    } catch (const Error& error) {
      throw Error(fmt::format("--text: {}", error.what()));
    }
  }
  auto translations = translated(requests, translator, options, {.progress = {}, .stopped = calls.stop}, 0);
  write_lines(requests, translations, 0, translator.codec(), calls);
  return translations;
}

std::vector<Translation> score_texts(std::span<const TextPair> texts, const Translator& translator,
                                     const LineStreamCalls& calls) {
  std::vector<TextPair> pairs;
  std::vector<Request> requests;
  for (const auto& [source, target] : texts) {
    pairs.push_back({repair_utf8(source), repair_utf8(target)});
    requests.push_back({.source = pairs.back().source});
  }
  std::vector<Translation> scored;
  for (auto& result : translator.score(pairs, {.progress = {}, .stopped = calls.stop}))
    scored.push_back(to_translation(std::move(result)));
  write_lines(requests, scored, 0, translator.codec(), calls);
  return scored;
}

}  // namespace nmt
