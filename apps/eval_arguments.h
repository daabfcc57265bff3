#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/process/log.h"
#include "command_line.h"
#include "config/loading/initial_model.h"
#include "config/loading/schema.h"
#include "decoding_arguments.h"
#include "evaluation/evaluation_files.h"

namespace nmt {

/// The command line of nmt-eval.
struct EvalArguments {
  std::string config_file;
  std::vector<std::string> settings;
  std::vector<std::string> models;
  std::string split = "test", source;
  std::vector<std::string> references, tokenized_bleu;
  std::vector<int64_t> attention_sentences = {1};
  std::vector<double> weights;
  int width = 2;
  bool ensemble = false;
  bool no_loss = false;
  std::optional<double> teacher_forcing;  // of the loss
  std::vector<std::string> tune_rerank;   // directories
  bool rerank = false, robust = false, confidence = false, quiet = false, self_test = false;
  std::string print_config;
  std::vector<std::string> similarity;  // none or two texts
  std::string contrastive;              // file
  bool categories = false;
  EvaluationFiles files;
  std::vector<std::filesystem::path> config_files;  // load_run() fills them: the configuration and its base files
  DecodingArguments decoding;

  void add_to(CLI::App& app) {
    app.add_option("-c,--config", config_file,
                   "configuration of a run: takes RUN/best, its test set and search options")
        ->type_name("FILE");
    app.add_option("--set", settings, "change the configuration: section.key=value; may be given several times")
        ->allow_extra_args(false)
        ->needs("--config")
        ->type_name("KEY=VALUE");
    add_print_config(app, print_config)->needs("--config");
    app.add_option("-m,--model", models, "model directory; several are compared with the first")->type_name("DIR");
    app.add_flag("--ensemble", ensemble, "translate with all models of -m together instead of comparing them")
        ->needs("--model");
    app.add_option("--model-weights", weights, "of the models of --ensemble in their order (default: all the same)")
        ->needs("--ensemble")
        ->type_name("W...");
    app.add_option("--split", split,
                   "which of the configured sets: test (data.test1, test2 or data.test), valid (data.eval1, eval2 or "
                   "data.eval)")
        ->check(CLI::IsMember({"test", "valid"}))
        ->needs("--config")
        ->capture_default_str();
    app.add_option(
           "--source", source,
           "text to translate: plain, gzip or zstd, IWSLT tags, sgm/xml; TSV, JSON lines, TMX or WMT's XML with both "
           "sides, named for --reference, too")
        ->excludes("--split")
        ->type_name("FILE");
    app.add_option("--reference", references, "its translation; may be given several times")
        ->type_name("FILE")
        ->needs("--source");
    add_output(app);
    add_other_work(app);
    decoding.add_to(app);
  }

  /// Throws Error for what does not go together.
  void check(const CLI::App& app) const {
    if (self_test) {
      for (const auto* option : app.get_options())
        if (option->count() > 0 && option->get_name() != "--self-test")
          throw Error(fmt::format("{}: not with --self-test; leave it out", option->get_name()));
      return;
    }
    // NaN is within every range of CLI11.
    if (teacher_forcing && !(*teacher_forcing >= 0 && *teacher_forcing <= 1))
      throw Error(fmt::format("--teacher-forcing {}: give a number from 0 to 1", *teacher_forcing));
    for (auto form = tokenized_bleu.begin(); form != tokenized_bleu.end(); ++form)
      if (std::find(tokenized_bleu.begin(), form, *form) != form)
        throw Error(fmt::format("--tokenized-bleu: {} stands twice; leave one out", *form));
    if (config_file.empty() && models.empty())
      throw Error("give -c CONFIG (a run) or -m DIR (a model directory); see nmt-eval --help");
    if (!similarity.empty() || !contrastive.empty()) {
      const char* option = similarity.empty() ? "--contrastive" : "--similarity";
      if (!source.empty())
        throw Error(fmt::format("{}: has its own texts; leave out --source and --reference", option));
      if (!files.hypotheses.empty() || !files.results.empty() || !files.report.empty() || !files.attention.empty() ||
          !tokenized_bleu.empty() || confidence || robust)
        throw Error(fmt::format("{}: scores no translations; leave out what is said of scores and files", option));
    }
    if (!similarity.empty()) {
      if (models.size() > 1) throw Error("--similarity: is of one model; ask them one by one");
      return;
    }
    if (!tune_rerank.empty() && models.size() > 1 && !ensemble)
      throw Error("--tune-rerank: is for one model, or an ensemble (--ensemble)");
    if (config_file.empty() && source.empty() && contrastive.empty())
      throw Error("-m alone needs --source FILE and --reference FILE; see nmt-eval --help");
    if (!source.empty() && references.empty())
      throw Error(fmt::format("--source {}: has no reference; add --reference FILE", source));
    if (!decoding.adapter.empty() && models.size() > 1)
      throw Error(fmt::format("--adapter {}: is of one model; name that alone", decoding.adapter));
    if (ensemble && models.size() < 2) throw Error("--ensemble: joins several models; give -m for each");
    if (!ensemble && decoding.flags.has("combination"))
      throw Error("--combination: joins the models of --ensemble; give that, or leave it out");
    if (ensemble && teacher_forcing)
      throw Error("--teacher-forcing: is of the loss, which an ensemble has not; leave it out");
    if (!weights.empty() && weights.size() != models.size())
      throw Error(fmt::format("--model-weights: {} for {} models; give one for each", weights.size(), models.size()));
    const size_t systems = models.empty() || ensemble ? 1 : models.size();
    if (!files.hypotheses.empty() && files.hypotheses.size() != systems) {
      throw Error(
          fmt::format("--hypotheses-out: {} given for {} models; give one for each", files.hypotheses.size(), systems));
    }
    if (!files.attention.empty() && models.size() > 1)
      throw Error("--attention-out: is for one model; evaluate them one by one");
    if (!files.results.empty() && systems > 1)
      throw Error("--results-file: is for one model; evaluate them one by one");
  }

  void check(const std::vector<TestSet>& test_sets) const {
    for (const auto& test_set : test_sets)
      for (const int64_t number : attention_sentences)
        if (!files.attention.empty() && number > std::ssize(test_set.sources))
          throw Error(fmt::format("--attention-sentences {}: the test set{} has {} sentences; give numbers up to that",
                                  number, test_set.name.empty() ? "" : " " + test_set.name, test_set.sources.size()));
  }

  /// The configuration of the run, whose machine settings hold where the command line says nothing.
  Config load_run(Logger& log) {
    const auto loaded = load_run_config(config_file, settings);
    for (const auto& notice : loaded.notices) log.info("{}", notice);
    config_files = loaded.files;
    if (decoding.device == "auto") decoding.device = loaded.config.run.device;
    if (decoding.threads == 0) decoding.threads = static_cast<int>(loaded.config.run.threads);
    if (!teacher_forcing) teacher_forcing = loaded.config.validation.teacher_forcing;
    if (tokenized_bleu.empty()) tokenized_bleu = loaded.config.evaluation.tokenized_bleu.chosen_names();
    return loaded.config;
  }

  /// run: the configuration of the run, or null.
  std::vector<TestSet> test_sets(const ReadingOptions& reading, const Config* run, Logger& log) const {
    if (source.empty())
      return configured_test_sets(run->data, split == "test" ? TestSplit::kTest : TestSplit::kValid, config_file, log);
    return {read_test_set({source, references.front(), "--source", "--reference"},
                          {references.begin() + 1, references.end()}, reading, log)};
  }

  /// Whose results go to the files of another program (run.naming): those of other texts would replace them.
  bool of_configured_test_sets() const { return source.empty() && split == "test" && !robust; }

  EvaluationOptions options() const {
    EvaluationOptions options{.models = decoding.model_set({}, weights),
                              .lowercase = robust,
                              .loss = !no_loss,
                              .teacher_forcing = teacher_forcing.value_or(1),
                              .confidence = confidence,
                              .rerank = rerank,
                              .quiet = quiet,
                              .attention_folder = files.attention,
                              .attention_sentences = attention_sentences};
    for (const auto& form : tokenized_bleu) options.tokenized_bleu.append(form);
    return options;
  }

 private:
  /// What it does instead of an evaluation.
  void add_other_work(CLI::App& app) {
    app.add_option("--similarity", similarity,
                   "print the cosine of two words (of their embeddings) or sentences (of the encoder's mean output) of "
                   "the source language, and end")
        ->expected(2)
        ->type_name("TEXT TEXT");
    app.add_option("--contrastive", contrastive,
                   "print how often the models score a right translation above its wrong ones, and end; a line is "
                   "SOURCE, RIGHT, WRONG and further WRONG, separated by tabs")
        ->excludes("--similarity")
        ->type_name("FILE");
    app.add_flag("--categories", categories, "the first column of --contrastive is a category; scores for each, too")
        ->needs("--contrastive");
    auto* tuning = app.add_option(
        "--tune-rerank", tune_rerank,
        "find weights for the scores of these models, of the same direction or the other, in the choice among the "
        "translations of the beam; of BLEU on the validation set (--split) or --source; write them into the model "
        "directory (rerank.json), compare, and end");
    tuning->type_name("DIR...");
    for (const char* other : {"--similarity", "--contrastive", "--hypotheses-out", "--report", "--results-file",
                              "--attention-out", "--tokenized-bleu", "--robust", "--rerank", "--confidence"})
      tuning->excludes(other);
    app.add_flag("--self-test", self_test,
                 "compute worked numbers and every kernel that this processor can run, print a line each, and end: 0 "
                 "where all are as expected, else 1");
  }

  void add_output(CLI::App& app) {
    app.add_option("--hypotheses-out", files.hypotheses, "write the translations; once for each model")
        ->type_name("FILE");
    app.add_option("--report", files.report, "write scores, speed and settings as JSON")->type_name("FILE");
    app.add_option("--results-file", files.results,
                   "write source, reference and translation of each sentence and the score")
        ->type_name("FILE");
    app.add_option("--attention-out", files.attention,
                   "folder for pictures (SVG) and numbers (JSON) of the attention in the sentences of "
                   "--attention-sentences")
        ->type_name("DIR");
    app.add_option("--attention-sentences", attention_sentences, "which ones, from 1")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 53))
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
    app.add_flag("--no-loss", no_loss, "leave out loss and perplexity of the first reference");
    app.add_option("--teacher-forcing", teacher_forcing,
                   "loss of recurrent models: share of steps at which the decoder reads the reference, the others its "
                   "own choice; 0 = free-running (default: validation.teacher_forcing of the configuration, else 1)")
        ->check(CLI::Range(0.0, 1.0))
        ->excludes("--no-loss")
        ->type_name("SHARE");
    app.add_flag("--robust", robust,
                 "score the set as it is and as people type it: in capitals, with capitals at the beginning of words, "
                 "with typos, without marks at the end, two sentences joined; all scores of lower-cased text");
    app.add_flag("--rerank", rerank, "choose among the translations of the beam as --tune-rerank has found");
    app.add_flag("--confidence", confidence, "95 % intervals of the scores by 1000 bootstrap resamples");
    app.add_flag("-q,--quiet", quiet, "only the scores, and warnings");
  }
};

}  // namespace nmt
