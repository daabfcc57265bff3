#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/line_reader.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/shard.h"
#include "base/unicode.h"
#include "command_line.h"
#include "config/loading/initial_model.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "data/preparation/clean_corpus.h"
#include "data/preparation/piece_lines.h"
#include "data/preparation/preprocess.h"
#include "data/prepared_data.h"
#include "observers.h"
#include "text/corpus/language_identifier.h"
#include "text/corpus/text_reader.h"
#include "text/moses/moses_detokenizer.h"
#include "text/moses/moses_tokenizer.h"
#ifdef NMT_WITH_LANGUAGE
#include "language/language_detector.h"
#endif

namespace {

using namespace nmt;

struct Arguments {
  std::string config;
  std::vector<std::string> settings;
  std::optional<std::string> from_model;
  bool overwrite = false;
  std::string print_config;
  std::string tokenize, detokenize;  // languages
  bool split_dashes = false, no_escape = false;
  std::string encode, decode;  // folders
  std::string side = "source";
  bool ids = false;
  std::vector<std::string> clean;  // input, output
  Shard shard;
  std::string find_option;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", program_version("nmt-prepro"));
  app.get_formatter()->column_width(36);
  app.add_option("-c,--config", arguments.config, "configuration file (YAML)")->type_name("CONFIG");
  app.add_option("--set", arguments.settings, "sets one option, over the file; as often as wanted")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--from-model", arguments.from_model,
                 "model directory whose vocabulary is taken: training.init_from of the configuration")
      ->type_name("DIR");
  app.add_flag("--overwrite", arguments.overwrite, "replaces prepared data that was made of other files or options");
  add_print_config(app, arguments.print_config);
  app.add_option("--find-option", arguments.find_option,
                 "prints the options of a configuration whose name or help has this word, and ends; the same as nmt "
                 "help options WORD")
      ->excludes("--config")
      ->type_name("WORD");
  app.add_option("--tokenize", arguments.tokenize,
                 "only cuts standard input into tokens, line by line, as the Moses tokenizer does, to standard output")
      ->excludes("--config")
      ->type_name("de|en|fr");
  app.add_option("--detokenize", arguments.detokenize, "only joins the tokens of standard input as Moses does")
      ->excludes("--config")
      ->excludes("--tokenize")
      ->type_name("de|en|fr");
  app.add_option(
         "--encode", arguments.encode,
         "only cuts standard input into pieces, line by line, with the tokenizer of DIR: prepared data or a model")
      ->excludes("--config")
      ->excludes("--tokenize")
      ->excludes("--detokenize")
      ->type_name("DIR");
  app.add_option("--decode", arguments.decode, "only joins the pieces of standard input")
      ->excludes("--config")
      ->excludes("--tokenize")
      ->excludes("--detokenize")
      ->excludes("--encode")
      ->type_name("DIR");
  app.add_option("--clean", arguments.clean,
                 "only cleans a corpus with both sides in the first FILE by the rules of the section data, and writes "
                 "the pairs that are kept as TSV; what is dropped and why stands beside it")
      ->excludes("--tokenize")
      ->excludes("--detokenize")
      ->excludes("--encode")
      ->excludes("--decode")
      ->expected(2)
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--shard", [&](const std::string& text) { arguments.shard = parse_shard(text); },
         "--clean: only part I of N; lines begin with the number of the pair, by which all parts are merged")
      ->needs("--clean")
      ->type_name("I/N");
  app.add_option("--side", arguments.side, "--encode, --decode: whose tokenizer")
      ->check(CLI::IsMember({"source", "target"}))
      ->capture_default_str();
  app.add_flag("--ids", arguments.ids, "--encode, --decode: ids instead of pieces");
  app.add_flag("--split-dashes", arguments.split_dashes, "--tokenize: cuts \"foo-bar\" into \"foo @-@ bar\"")
      ->needs("--tokenize");
  app.add_flag("--no-escape", arguments.no_escape, "--tokenize, --detokenize: leaves & < > ' \" [ ] | as they are");
}

/// For the rule language of data.clean; null in a build without a detector.
std::unique_ptr<LanguageIdentifier> language_identifier() {
#ifdef NMT_WITH_LANGUAGE
  return make_language_identifier();
#else
  return nullptr;
#endif
}

/// Throws Error for an option that what is asked for does not read.
void check_use(const CLI::App& app) {
  const auto given = [&app](const char* name) { return app.count(name) > 0; };
  for (const char* name : {"--config", "--tokenize", "--detokenize", "--encode", "--decode"})
    if (given(name) && app[name]->as<std::string>().empty())
      throw Error(fmt::format("{}: is empty; see nmt-prepro --help", name));
  const auto refuse = [&](const char* name, const char* reader) {
    if (given(name)) throw Error(fmt::format("{}: goes with {}; see nmt-prepro --help", name, reader));
  };
  const bool words = given("--tokenize") || given("--detokenize"), pieces = given("--encode") || given("--decode");
  if (words || pieces) {
    for (const char* name : {"--set", "--from-model", "--overwrite", "--print-config"}) refuse(name, "--config");
  }
  if (!pieces) {
    for (const char* name : {"--side", "--ids"}) refuse(name, "--encode or --decode");
  }
  if (!words) refuse("--no-escape", "--tokenize or --detokenize");
  if (given("--clean")) {
    for (const char* name : {"--from-model", "--overwrite", "--print-config"}) refuse(name, "--config alone");
  }
}

/// Each line of standard input, changed, to standard output.
int filter_lines(const std::function<std::string(std::string_view)>& change) {
  LineReader lines("-");
  while (auto line = lines.next()) {
    if (lines.line_number() == 1) line = without_byte_order_mark(*line);
    const std::string text = change(*line) + '\n';
    // A program that feeds us line by line waits for the answer.
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && (lines.ready(0) || std::fflush(stdout) == 0))
      continue;
    if (errno == EPIPE) break;
    throw MachineError(fmt::format("standard output: cannot write ({})", system_message(errno)));
  }
  return kDone;
}

int find_option(const std::string& word) {
  const std::string found = options_about(word);
  if (found.empty()) throw Error(fmt::format("no option has the word '{}'; docs/options.md lists all", word));
  std::cout << found;
  return kDone;
}

int tokenize(const Arguments& arguments) {
  const MosesTokenizer tokenizer(moses_language(arguments.tokenize),
                                 {.aggressive_dash_splits = arguments.split_dashes, .escape = !arguments.no_escape});
  return filter_lines([&](std::string_view line) { return tokenizer.tokenize(line); });
}

int detokenize(const Arguments& arguments) {
  const MosesDetokenizer detokenizer(moses_language(arguments.detokenize), {.unescape = !arguments.no_escape});
  return filter_lines([&](std::string_view line) { return detokenizer.detokenize(line); });
}

PieceLines piece_lines(const Arguments& arguments, const std::string& folder) {
  return {load_codec(folder), arguments.side == "source" ? TextSide::kSource : TextSide::kTarget,
          arguments.ids ? PieceForm::kIds : PieceForm::kPieces};
}

int encode(const Arguments& arguments) {
  const auto pieces = piece_lines(arguments, arguments.encode);
  return filter_lines([&](std::string_view line) { return pieces.encode(line); });
}

int decode(const Arguments& arguments) {
  const auto pieces = piece_lines(arguments, arguments.decode);
  int64_t number = 0;
  return filter_lines([&](std::string_view line) {
    ++number;
    try {
      return pieces.decode(line);
    } catch (const Error& error) {
      throw Error(fmt::format("standard input:{}: {}", number, error.what()));
    }
  });
}

int clean(const Arguments& arguments) {
  const LoadedConfig loaded = load_run_config(arguments.config, arguments.settings, {});
  const auto log = make_logger("nmt-prepro");
  for (const auto& notice : loaded.notices) log->info("{}", notice);
  catch_stop_signals();
  const auto languages = language_identifier();
  const CorpusCleaning cleaning{.input = arguments.clean[0],
                                .output = arguments.clean[1],
                                .shard = arguments.shard,
                                .languages = languages.get(),
                                .should_stop = [] { return stop_signal() != 0; }};
  const PreprocessResult result = clean_corpus(loaded.config, cleaning, *log);
  if (result.outcome == PrepareOutcome::kStopped) {
    log->warn("stopped; nothing was written");
    return stop_exit_code();
  }
  std::cout << result.table;
  return kDone;
}

int prepare(const Arguments& arguments) {
  std::vector<PlainSetting> plain;
  if (arguments.from_model) plain.push_back({"--from-model", "training.init_from", *arguments.from_model});
  const LoadedConfig loaded = load_run_config(arguments.config, arguments.settings, plain);
  const auto log = make_logger("nmt-prepro");
  for (const auto& notice : loaded.notices) log->info("{}", notice);
  if (!arguments.print_config.empty()) {
    print_config(loaded.config, arguments.print_config);
    return kDone;
  }
  catch_stop_signals();
  const auto observer = prepare_observer(loaded.config.data);
  const auto languages = language_identifier();
  const PreprocessOptions options{.overwrite = arguments.overwrite ? Overwrite::kReplace : Overwrite::kRefuse,
                                  .config_files = loaded.files,
                                  .should_stop = [] { return stop_signal() != 0; },
                                  .observer = observer.get(),
                                  .languages = languages.get()};
  const PreprocessResult result = prepare_data(loaded.config, options, *log);
  if (result.outcome == PrepareOutcome::kStopped) {
    log->warn("stopped; nothing was written");
    return stop_exit_code();
  }
  std::cout << result.table;
  if (result.outcome == PrepareOutcome::kUpToDate) {
    log->info("{} is up to date: nothing to do", loaded.config.data.dir);
  } else {
    log->info("{} is written", loaded.config.data.dir);
  }
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return run_app("nmt-prepro", [&] {
    CLI::App app("Reads and cleans parallel text, learns the vocabulary, writes the prepared data.", "nmt-prepro");
    Arguments arguments;
    declare(app, arguments);
    show_examples(app, {"nmt-prepro -c mine.yaml", "nmt-prepro -c mine.yaml --set data.vocab_size=8000 --print-config",
                        "nmt-prepro --clean web.tsv clean.tsv --set data.clean=all",
                        "nmt-prepro --encode runs/mine/best < new.de"});
    if (!parse_command_line(app, argc, argv)) return int{kDone};
    check_use(app);
    if (!arguments.find_option.empty()) return find_option(arguments.find_option);
    if (!arguments.tokenize.empty()) return tokenize(arguments);
    if (!arguments.detokenize.empty()) return detokenize(arguments);
    if (!arguments.encode.empty()) return encode(arguments);
    if (!arguments.decode.empty()) return decode(arguments);
    if (!arguments.clean.empty()) return clean(arguments);
    if (arguments.config.empty()) throw Error("--config is required; see nmt-prepro --help");
    return prepare(arguments);
  });
}
