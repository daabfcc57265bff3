// nmt-translate: raw text in, raw text out, with a model directory.
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/app.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/signals.h"
#include "command_line.h"
#include "decoding/line_stream.h"
#include "decoding_arguments.h"

namespace nmt {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Arguments {
  std::vector<std::string> models;
  std::string input = "-", output = "-", format = "text";
  std::vector<std::string> texts;
  int64_t n_best = 1;
  bool scores = false, quiet = false;
  LineStreamOptions stream;
  DecodingArguments decoding;

  void add_to(CLI::App& app) {
    app.add_option("-m,--model", models, "model directory")->required()->type_name("DIR");
    app.add_option("-i,--input", input, "source text, a sentence a line, plain or gzip; - = standard input")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("-o,--output", output, "translations, a line for each line; - = standard output")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("-t,--text", texts, "translate this instead of input; may be given several times")
        ->allow_extra_args(false)
        ->excludes("--input")
        ->type_name("TEXT");
    app.add_option("--format", format,
                   "of --text: text, a line each; json, a list of objects with the key translation_text")
        ->check(CLI::IsMember({"text", "json"}))
        ->needs("--text")
        ->capture_default_str();
    app.add_option("--n-best", n_best,
                   "write so many translations of each line, as NUMBER <tab> TEXT; at most the beam size")
        ->capture_default_str();
    app.add_flag("--scores", scores, "add <tab> SCORE (log-probability / length penalty) to each line");
    app.add_option("--buffer-lines", stream.block_lines,
                   "lines read ahead, where the input has so many, to be sorted by length")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
        ->capture_default_str();
    app.add_flag("-q,--quiet", quiet, "no progress and no statistics, only warnings");
    decoding.add_to(app);
  }
};

/// Where translations go: a file that appears when it is complete, or standard output.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (path != "-") file_ = std::make_unique<AtomicFile>(path);
  }
  /// False if the reader of standard output is gone or the disk behind it full; run_app() tells these apart.
  bool write(std::string_view text) {
    if (file_) {
      file_->write(text);
      return true;
    }
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

OutputFormat format_of(const Arguments& arguments) {
  if (arguments.n_best > 1) return arguments.scores ? OutputFormat::kNBestWithScore : OutputFormat::kNBest;
  return arguments.scores ? OutputFormat::kTextWithScore : OutputFormat::kText;
}

void report(const LineStreamStatistics& s, double load_seconds, Logger& log) {
  const double seconds = std::max(s.seconds, 1e-9);
  log.info("{} lines in {:.2f} s: {:.1f} lines/s, {:.0f} target tokens/s; model loaded in {:.2f} s",
           with_commas(s.lines), s.seconds, static_cast<double>(s.lines) / seconds,
           static_cast<double>(s.target_tokens) / seconds, load_seconds);
  std::string notes;
  const auto note = [&](int64_t count, const char* what) {
    if (count > 0) notes += fmt::format("{}{} {}", notes.empty() ? "" : ", ", with_commas(count), what);
  };
  note(s.empty, "empty");
  note(s.repaired, "not UTF-8 and repaired");
  note(s.split, "too long and translated in parts");
  note(s.cut, "cut at the length limit (--max-length-ratio, --max-length-offset)");
  if (!notes.empty()) log.info("of these {}", notes);
}

int translate_stream(Arguments& arguments, const Translator& translator, double load_seconds, Logger& log) {
  LineReader reader(arguments.input);
  Output output(arguments.output);
  std::unique_ptr<ProgressBar> bar;
  const bool on_screen = arguments.output == "-" && ::isatty(STDOUT_FILENO);
  if (!arguments.quiet && !on_screen) bar = std::make_unique<ProgressBar>("translate", 0, "lines");
  const auto statistics = translate_lines(reader, translator,
                                          {.write = [&](std::string_view text) { return output.write(text); },
                                           .stop = [] { return stop_signal() != 0; },
                                           .progress =
                                               [&](int64_t done) {
                                                 if (bar) bar->update(done);
                                               }},
                                          log, arguments.stream);
  bar.reset();
  if (statistics.stopped) return stop_exit_code();
  output.commit();
  if (!arguments.quiet) report(statistics, load_seconds, log);
  return kDone;
}

int translate_texts(const Arguments& arguments, const Translator& translator) {
  Output output(arguments.output);
  auto list = nlohmann::json::array();
  for (const Translation& translation : translator.translate(arguments.texts)) {
    if (arguments.format == "json")
      list.push_back({{"translation_text", translation.text}});
    else
      output.write(translation.text + "\n");
  }
  if (arguments.format == "json") output.write(list.dump() + "\n");
  output.commit();
  return kDone;
}

int run(int argc, char** argv) {
  CLI::App app("Translates text with a trained model: a line of output for each line of input.", "nmt-translate");
  app.set_version_flag("--version", program_version("nmt-translate", "LibTorch " TORCH_VERSION));
  Arguments arguments;
  arguments.add_to(app);
  if (!parse_command_line(app, argc, argv)) return kDone;
  if (arguments.models.size() > 1)
    throw Error("-m: give one model directory; ensembles of several are not supported yet");

  catch_stop_signals();
  const auto log = make_logger("nmt-translate");
  arguments.decoding.set_threads();
  const auto start = Clock::now();
  const LoadedModel loaded = arguments.decoding.load(arguments.models.front());
  TranslatorOptions options = arguments.decoding.options_for(loaded.config);
  options.search.n_best = arguments.n_best;
  const Translator translator(*loaded.model, loaded.codec, options);
  const double load_seconds = seconds_since(start);
  if (!arguments.texts.empty()) return translate_texts(arguments, translator);
  arguments.stream.format = format_of(arguments);
  return translate_stream(arguments, translator, load_seconds, *log);
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app("nmt-translate", [&] { return nmt::run(argc, argv); });
}
