// nmt-eval: translates a test set with one model or several and scores the translations.
#include <fmt/format.h>
#include <torch/version.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/progress.h"
#include "base/process/signals.h"
#include "command_line.h"
#include "config/json.h"
#include "config/loading/schema.h"
#include "decoding_arguments.h"
#include "evaluation/evaluation.h"
#include "nn/device/device.h"
#include "report/pictures/attention_picture.h"
#include "scoring/command/results_table.h"
#include "text/normalization.h"
#include "translation/attention_grids.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string config_file;
  std::vector<std::string> settings;
  std::vector<std::string> models;
  std::string split = "test", source;
  std::vector<std::string> references;
  std::vector<std::string> hypotheses_out, tokenized_bleu;
  std::string report, results_file, attention_out;
  std::vector<int64_t> attention_sentences = {1};
  std::vector<double> weights;
  int width = 2;
  bool ensemble = false;
  bool confidence = false, quiet = false, print_config = false;
  DecodingArguments decoding;

  void add_to(CLI::App& app) {
    app.add_option("-c,--config", config_file,
                   "configuration of a run: takes RUN/best, its test set and search options")
        ->type_name("FILE");
    app.add_option("--set", settings, "change the configuration: section.key=value; may be given several times")
        ->allow_extra_args(false)
        ->needs("--config")
        ->type_name("KEY=VALUE");
    app.add_flag("--print-config", print_config, "print the effective configuration and end")->needs("--config");
    app.add_option("-m,--model", models, "model directory; several are compared with the first")->type_name("DIR");
    app.add_flag("--ensemble", ensemble, "translate with all models of -m together instead of comparing them")
        ->needs("--model");
    app.add_option("--model-weights", weights, "of the models of --ensemble in their order (default: all the same)")
        ->needs("--ensemble")
        ->type_name("W...");
    app.add_option("--split", split,
                   "which of the configured sets: test (data.test1, test2), valid (data.eval1, eval2)")
        ->check(CLI::IsMember({"test", "valid"}))
        ->needs("--config")
        ->capture_default_str();
    app.add_option("--source", source, "text to translate: plain or gzip, IWSLT sgm/xml")->type_name("FILE");
    app.add_option("--reference", references, "its translation; may be given several times")
        ->type_name("FILE")
        ->needs("--source");
    app.add_option("--hypotheses-out", hypotheses_out, "write the translations; once for each model")
        ->type_name("FILE");
    app.add_option("--report", report, "write scores, speed and settings as JSON")->type_name("FILE");
    app.add_option("--results-file", results_file,
                   "write source, reference and translation of each sentence and the score")
        ->type_name("FILE");
    app.add_option("--attention-out", attention_out,
                   "folder for pictures (SVG) and numbers (JSON) of the attention in the sentences of "
                   "--attention-sentences")
        ->type_name("DIR");
    app.add_option("--attention-sentences", attention_sentences, "which ones, from 1")
        ->check(CLI::PositiveNumber)
        ->needs("--attention-out")
        ->type_name("N...")
        ->capture_default_str();
    app.add_option(
           "--tokenized-bleu", tokenized_bleu,
           "also BLEU of Moses tokens, cased or lower-cased: for comparison with published figures of that kind; "
           "over evaluation.tokenized_bleu of the configuration")
        ->check(
            CLI::IsMember(std::vector<std::string>(kNames<TokenizedBleuForm>.begin(), kNames<TokenizedBleuForm>.end())))
        ->type_name("FORM...");
    app.add_option("--width", width, "digits after the point of the scores")
        ->check(CLI::Range(0, 15))
        ->capture_default_str();
    app.add_flag("--confidence", confidence, "95 % intervals of the scores by 1000 bootstrap resamples");
    app.add_flag("-q,--quiet", quiet, "only the scores, and warnings");
    decoding.add_to(app);
  }

  Choices<TokenizedBleuForm> tokenized_bleu_forms() const {
    Choices<TokenizedBleuForm> forms;
    for (const auto& form : tokenized_bleu) forms.append(form);
    return forms;
  }

  void check() const {
    if (config_file.empty() && models.empty())
      throw Error("give -c CONFIG (a run) or -m DIR (a model directory); see nmt-eval --help");
    if (config_file.empty() && source.empty())
      throw Error("-m alone needs --source FILE and --reference FILE; see nmt-eval --help");
    if (!source.empty() && references.empty())
      throw Error(fmt::format("--source {}: has no reference; add --reference FILE", source));
    if (ensemble && models.size() < 2) throw Error("--ensemble: joins several models; give -m for each");
    if (!weights.empty() && weights.size() != models.size())
      throw Error(fmt::format("--model-weights: {} for {} models; give one for each", weights.size(), models.size()));
    const size_t systems = models.empty() || ensemble ? 1 : models.size();
    if (!hypotheses_out.empty() && hypotheses_out.size() != systems) {
      throw Error(
          fmt::format("--hypotheses-out: {} given for {} models; give one for each", hypotheses_out.size(), systems));
    }
    if (!attention_out.empty() && models.size() > 1)
      throw Error("--attention-out: is for one model; evaluate them one by one");
    if (!results_file.empty() && systems > 1) throw Error("--results-file: is for one model; evaluate them one by one");
  }

  void check(const TestSet& test_set) const {
    if (attention_out.empty()) return;
    for (const int64_t number : attention_sentences)
      if (number > std::ssize(test_set.sources))
        throw Error(fmt::format("--attention-sentences {}: the test set has {} sentences; give numbers up to that",
                                number, test_set.sources.size()));
  }
};

/// Thrown out of the search after SIGINT or SIGTERM.
struct StopRequested {};

/// A model to evaluate, or several that translate together, and how.
struct System {
  std::vector<fs::path> directories;
  std::optional<DecodingConfig> decoding;  // of the run's configuration; else the first model's own

  std::string name() const {
    std::string joined;
    for (const auto& directory : directories) joined += (joined.empty() ? "" : " + ") + directory.string();
    return joined;
  }
};

/// The scores and settings of one model.
struct Evaluated {
  SystemOutput output;
  std::vector<scoring::Score> scores;
  nlohmann::ordered_json report;
};

TestSet configured_test_set(const Arguments& arguments, const Config& config) {
  const bool test = arguments.split == "test";
  const std::string& source = test ? config.data.test1 : config.data.eval1;
  const std::string& reference = test ? config.data.test2 : config.data.eval2;
  const char* names = test ? "data.test1 and data.test2" : "data.eval1 and data.eval2";
  if (source.empty() || reference.empty()) {
    throw Error(
        fmt::format("{}: {} are not set; set them or give --source and --reference", arguments.config_file, names));
  }
  return read_test_set(source, {reference});
}

/// DIR/N.svg: the last layer where the target looks at the source; DIR/N.json: all layers.
void write_attention(const Arguments& arguments, const LoadedModel& loaded, const TestSet& test_set,
                     const std::vector<std::string>& hypotheses) {
  const fs::path directory = arguments.attention_out;
  fs::create_directories(directory);
  for (const int64_t number : arguments.attention_sentences) {
    const auto grids =
        attention_grids(*loaded.model, loaded.codec, loaded.codec.encode_source(test_set.sources[number - 1]),
                        loaded.codec.encode_target(hypotheses[number - 1]));
    const auto* picture = last_cross_attention(grids);
    if (!picture) throw Error(fmt::format("{}: this model has no attention to draw", loaded.directory.string()));
    write_file_atomically(directory / fmt::format("{}.svg", number), attention_svg(*picture));
    write_file_atomically(directory / fmt::format("{}.json", number), attention_json(grids).dump() + "\n");
  }
}

/// metrics: empty before the first model, whose target language they are for.
Evaluated evaluate(const System& system, const TestSet& test_set, const Arguments& arguments, Metrics& metrics,
                   Logger& log) {
  auto wanted = arguments.decoding.model_set(system.directories, arguments.weights);
  wanted.decoding = system.decoding;
  const ModelSet models(wanted);
  const LoadedModel& first = models.first();
  if (metrics.empty())
    metrics = evaluation_metrics(arguments.tokenized_bleu_forms(), first.codec.options().target_language);
  const Translator translator(models.members(), models.options());
  ProgressBar bar("translate", std::ssize(test_set.sources), "sentences");
  Evaluated result;
  result.output = translate_test_set(test_set, translator, system.name(), [&](int64_t done) {
    if (!arguments.quiet) bar.update(done);
    if (stop_signal() != 0) throw StopRequested();
  });
  bar.clear();
  constexpr int64_t kResamples = 1000;
  result.scores = score(result.output, test_set, arguments.confidence ? kResamples : 1, metrics);
  const auto& output = result.output;
  if (output.split > 0) log.warn("{} sentences were too long and were translated in parts", output.split);
  if (output.cut > 0) log.warn("{} translations were cut at the length limit", output.cut);
  if (!arguments.quiet) {
    log.info("{}: {} sentences in {:.2f} s: {:.1f} sentences/s, {:.0f} target tokens/s", output.name,
             with_commas(std::ssize(output.hypotheses)), output.seconds,
             static_cast<double>(output.hypotheses.size()) / std::max(output.seconds, 1e-9),
             static_cast<double>(output.target_tokens) / std::max(output.seconds, 1e-9));
  }
  result.report = report_of(output, result.scores);
  result.report["search"] = report_of(translator.options().search);
  if (const auto& options = translator.options(); options.shortlist > 0)
    result.report["shortlist"] = {{"candidates", options.shortlist}, {"frequent", options.shortlist_frequent}};
  result.report["precision"] = first.precision;
  if (!arguments.attention_out.empty()) write_attention(arguments, first, test_set, output.hypotheses);
  return result;
}

/// Sources and references as the model is given them: so the program of 2017 prints and scores them.
TranslatedText normalised(TranslatedText text, const DataConfig& data) {
  const Normalization rules{
      .nfkc = data.nfkc, .lowercase = data.lowercase, .latin_only = data.characters == CharacterSet::kLatin};
  for (auto* lines : {&text.sources, &text.references})
    for (auto& line : *lines) line = normalize(line, rules);
  return text;
}

/// The files of a run whose run.naming is that of an original program.
void write_original_results(const Config& run, const System& system, const TranslatedText& text, Logger& log) {
  const auto name = original_model_name(system.directories.front());
  const fs::path directory = run.run.dir;
  fs::path written;
  if (run.run.naming == RunNaming::kKyubyong2019) {
    fs::create_directories(directory / "test");
    written = write_kyubyong2019_results(directory / "test", name, text);
  } else if (run.run.naming == RunNaming::kKyubyong2017) {
    fs::create_directories(directory / "results");
    written = write_kyubyong2017_results(directory / "results", name, normalised(text, run.data));
  }
  if (!written.empty()) log.info("{} is written", written.string());
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

void write_files(const Arguments& arguments, const TestSet& test_set, const std::vector<Evaluated>& evaluated,
                 const std::optional<scoring::PairedTable>& comparison) {
  for (size_t i = 0; i < arguments.hypotheses_out.size(); ++i) {
    write_file_atomically(arguments.hypotheses_out[i], joined_lines(evaluated[i].output.hypotheses));
  }
  if (!arguments.results_file.empty()) {
    const auto& only = evaluated.front();
    write_file_atomically(arguments.results_file,
                          format_results_file(translated_text(test_set, only.output), only.scores.front().score));
  }
  if (arguments.report.empty()) return;
  nlohmann::ordered_json report = {{"toolkit", "nmt " + version()}, {"libtorch", TORCH_VERSION}};
  report["processor"] = cpu_name();
  report["device"] = resolve_device(arguments.decoding.device).str();
  report["threads"] = at::get_num_threads();
  report["test_set"] = report_of(test_set);
  report["systems"] = nlohmann::ordered_json::array();
  for (const auto& system : evaluated) report["systems"].push_back(system.report);
  if (comparison) report["comparison"] = report_of(*comparison);
  write_file_atomically(arguments.report, report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// The configuration of the run, whose machine settings hold where the command line says nothing.
Config load_run(Arguments& arguments, Logger& log) {
  const auto loaded = load_config(arguments.config_file, arguments.settings);
  for (const auto& notice : loaded.notices) log.info("{}", notice);
  auto& decoding = arguments.decoding;
  if (decoding.device == "auto") decoding.device = loaded.config.run.device;
  if (decoding.threads == 0) decoding.threads = static_cast<int>(loaded.config.run.threads);
  if (arguments.tokenized_bleu.empty())
    arguments.tokenized_bleu = loaded.config.evaluation.tokenized_bleu.chosen_names();
  return loaded.config;
}

std::vector<System> systems_of(const Arguments& arguments, const std::optional<Config>& run) {
  std::vector<System> systems;
  const auto decoding = run ? std::optional(run->decoding) : std::nullopt;
  if (arguments.ensemble) return {{{arguments.models.begin(), arguments.models.end()}, decoding}};
  for (const auto& model : arguments.models) systems.push_back({{model}, decoding});
  if (!systems.empty()) return systems;
  const fs::path best = fs::path(run->run.dir) / "best";
  if (!fs::exists(best)) {
    throw Error(
        fmt::format("{}: the run has no validated model yet; train it (nmt-train -c {}) or name a model with -m",
                    best.string(), arguments.config_file));
  }
  return {{{best}, decoding}};
}

int run(int argc, char** argv) {
  CLI::App app("Translates a test set and prints BLEU (13a) and chrF2 as sacreBLEU does.", "nmt-eval");
  app.set_version_flag("--version", program_version("nmt-eval", "LibTorch " TORCH_VERSION));
  Arguments arguments;
  arguments.add_to(app);
  if (!parse_command_line(app, argc, argv)) return kDone;
  arguments.check();
  catch_stop_signals();
  const auto log = make_logger("nmt-eval");
  std::optional<Config> run_config;
  if (!arguments.config_file.empty()) run_config = load_run(arguments, *log);
  if (arguments.print_config) {
    print(to_yaml(*run_config));
    return kDone;
  }
  const auto systems = systems_of(arguments, run_config);
  const TestSet test_set =
      arguments.source.empty()
          ? configured_test_set(arguments, *run_config)
          : read_test_set(arguments.source, {arguments.references.begin(), arguments.references.end()});
  arguments.check(test_set);
  arguments.decoding.set_threads();

  Metrics metrics;
  std::vector<Evaluated> evaluated;
  try {
    for (const auto& system : systems) evaluated.push_back(evaluate(system, test_set, arguments, metrics, *log));
  } catch (const StopRequested&) {
    return stop_exit_code();
  }
  std::optional<scoring::PairedTable> comparison;
  if (evaluated.size() > 1) {
    std::vector<SystemOutput> outputs;
    for (const auto& system : evaluated) outputs.push_back(system.output);
    comparison = compare(outputs, test_set, metrics);
  }
  write_files(arguments, test_set, evaluated, comparison);
  if (run_config) {
    for (size_t i = 0; i < evaluated.size(); ++i)
      write_original_results(*run_config, systems[i], translated_text(test_set, evaluated[i].output), *log);
  }
  if (comparison) {
    print(format_results(*comparison, {.width = arguments.width}));
  } else {
    for (const auto& score : evaluated.front().scores) print(score.format({.width = arguments.width}) + "\n");
  }
  return kDone;
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app("nmt-eval", [&] { return nmt::run(argc, argv); });
}
