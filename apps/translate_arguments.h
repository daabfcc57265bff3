#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/program_description.h"
#include "base/process/user_files.h"
#include "base/shard.h"
#include "base/unicode.h"
#include "command_line.h"
#include "decoding_arguments.h"
#include "synthesis_arguments.h"
#include "text/terms.h"
#include "translation/line_stream.h"

namespace nmt {

/// Where translations go: a file that appears when it is complete, or standard output.
class Output {
 public:
  /// key: as of AtomicFile; a file stays from its first block on.
  explicit Output(const std::string& path, std::string_view key = {}) {
    if (path != "-") file_ = std::make_unique<AtomicFile>(path, key);
  }
  /// Lines that are there from before; what stands behind the first `most` of them is cut off.
  int64_t lines_from_before(int64_t most) { return file_ ? file_->cut_to_lines(most) : 0; }
  /// Where it stays without commit(); empty: nowhere.
  std::string kept() const { return file_ ? file_->kept().string() : ""; }
  /// False if the reader of standard output is gone or the disk behind it full; run_app() tells these apart.
  bool write(std::string_view text) {
    if (file_) {
      file_->write(text);
      file_->keep();
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

/// The command line of nmt-translate.
struct TranslateArguments {
  std::vector<std::string> models;
  std::vector<double> weights;
  std::string input = "-", output = "-", input_format = "text", format = "text", alignment;
  std::string alignment_file, attention_out, targets, document_format;
  std::vector<int64_t> attention_lines = {1};
  std::vector<std::string> texts, target_texts;
  int64_t n_best = 1;
  bool scores = false, token_scores = false, copy_unknown = false, rerank = false, quiet = false;
  bool split_sentences = false, no_split_sentences = false;
  std::string glossary;
  bool keep_placeholders = false;
  std::string score_corpus;
  std::optional<Shard> shard;
  SynthesisArguments synthesis;
  LineStreamOptions stream;
  DecodingArguments decoding;

  void add_to(CLI::App& app) {
    app.add_option("-m,--model", models, "model directory; several translate together, as an ensemble")
        ->allow_extra_args(false)
        ->type_name("DIR");
    app.add_option("--model-weights", weights, "of the models of an ensemble in their order (default: all the same)")
        ->type_name("W...");
    app.add_flag("-q,--quiet", quiet, "no progress, no statistics and no prompt, only warnings");
    add_input(app, "Input");
    add_output(app, "Output");
    synthesis.add_to(app);
    add_constraints(app, "Constraints");
    decoding.add_to(app);
  }

  /// Throws Error for what does not go together.
  void check() const {
    if (!weights.empty() && weights.size() != models.size()) {
      throw Error(fmt::format("--model-weights: {} for {} models; give one for each", weights.size(), models.size()));
    }
    if (format == "json" && (scores || token_scores || (!alignment.empty() && alignment_file.empty())))
      throw Error("--format json: holds translations only; use jsonl for --scores, --token-scores and --alignment");
    if (format == "json" && texts.empty()) throw Error("--format json: is for --text; use jsonl for lines");
    if (is_set() && !texts.empty()) throw Error("--input-format set: is a form of files; leave out --text");
    if (!target_texts.empty() && target_texts.size() != texts.size())
      throw Error(
          fmt::format("--target: {} given for {} of --text; give one for each", target_texts.size(), texts.size()));
    for (const auto* phrases : {&stream.common.must, &stream.common.must_not})
      for (const auto& phrase : *phrases)
        if (strip(phrase).empty()) throw Error("--must, --must-not: a phrase is empty; leave it out");
    for (const auto& phrase : stream.common.must)
      if (std::ranges::any_of(stream.common.must_not, [&](const auto& no) { return strip(no) == strip(phrase); }))
        throw Error(fmt::format("--must, --must-not '{}': cannot both hold; leave out one of them", phrase));
    for (const int64_t line : attention_lines)
      if (!attention_out.empty() && !texts.empty() && line > std::ssize(texts))
        throw Error(
            fmt::format("--attention-lines {}: there are {} of --text; give numbers up to that", line, texts.size()));
    if (attention_is_file() && texts.size() != 1)
      throw Error(
          fmt::format("--attention-out {}: draws one --text; give a folder for several and for lines", attention_out));
    if (std::error_code none; shard && (is_set() || !std::filesystem::is_regular_file(input, none)))
      throw Error("--shard: counts the lines of a file first; name one (--input)");
    const bool has_columns = format != "text" || input_format != "text" || scores || token_scores ||
                             !alignment.empty() || !alignment_file.empty();
    if (has_columns && (synthesis.wanted() || !score_corpus.empty()))
      throw Error(fmt::format(
          "{}: has a form of its own; leave out --format, --input-format, --scores, --token-scores, --alignment and "
          "--alignment-out",
          synthesis.wanted() ? "--synthesize" : "--score-corpus"));
    if (synthesis.wanted()) synthesis.check(n_best);
    if (scores_given() && (input_format == "tsv" || input_format == "json"))
      throw Error("--input-format: a score has no constraints; give plain sources, or a set");
  }

  /// Throws Error for an option that misleads; a line for a warning of options without effect, or "".
  std::string check_used(const CLI::App& app, bool serves) const {
    if (rerank && (serves || scores_given() || is_document() || synthesis.wanted()))
      throw Error("--rerank: is of lines of text; leave it out of scores, documents, synthetic text and services");
    unsigned work = serves ? kOfService : is_document() ? kOfDocument : scores_given() ? kOfScores : kOfLines;
    if (models.size() == 1) work |= kOfOneModel;
    if (decoding.flags.draws_samples() && !writes_scores() && !serves) work |= kOfSamples;
    return nmt::check_used(given_options(app), work, Harmless::kWarn);
  }

  std::vector<UserFile> inputs() const {
    std::vector<UserFile> files = {{"--input", texts.empty() ? input : ""},
                                   {"--score", targets},
                                   {"--glossary", glossary},
                                   {"--nearest", synthesis.nearest},
                                   {"--adapter", decoding.adapter}};
    for (const auto& model : models) append_files_of_folder("--model", model, files);
    return files;
  }
  std::vector<UserFile> outputs() const {
    if (synthesis.wanted())
      return {{"--synthesize", synthesis.output}, {"--synthesize", synthetic_text_file(synthesis.output)}};
    return {{"--output", output},
            {"--alignment-out", alignment_file},
            {"--attention-out", attention_is_file() ? attention_out : ""}};
  }

  /// The key of the work, for AtomicFile: of the command and the files that it reads. Empty where the lines of the
  /// output are not those of the input, or its files cannot be told by their names.
  std::string key_of_work(std::span<const char* const> command) const {
    if (input == "-" || output_file() == "-" || is_set() || is_document() || all_alternatives() || !texts.empty())
      return "";
    Sha256 sum;
    const auto add = [&](const std::string& text) { sum.add(text + '\0'); };
    add(version());
    for (const char* argument : command) add(argument);
    for (const auto& file : inputs()) {
      if (file.path.empty()) continue;
      std::error_code none;
      if (!std::filesystem::is_regular_file(file.path, none)) return "";
      add(fmt::format("{} {} {}", file.path.string(), std::filesystem::file_size(file.path, none),
                      std::filesystem::last_write_time(file.path, none).time_since_epoch().count()));
    }
    return sum.hex().substr(0, 12);
  }

  /// Throws Error where something that is read or written would be lost.
  void check_files() const { check_outputs(inputs(), outputs()); }

  /// Whether the input is a test set, to be read as nmt-eval does.
  bool is_set() const { return input_format == "set"; }
  /// Whether the input is a document.
  bool is_document() const { return !document_format.empty(); }
  /// Where lines go.
  const std::string& output_file() const { return synthesis.wanted() ? synthesis.output : output; }
  /// Whether translations are given and only scored.
  bool scores_given() const { return !targets.empty() || !target_texts.empty() || !score_corpus.empty(); }
  /// Whether the output has the scores of translations.
  bool writes_scores() const { return scores || scores_given() || format == "tsv" || format == "jsonl"; }
  bool attention_is_file() const { return attention_out.ends_with(".svg") || attention_out.ends_with(".html"); }
  /// What the command line says of documents and services; unset: what the model says.
  std::optional<bool> splits() const {
    return split_sentences || no_split_sentences ? std::optional(split_sentences) : std::nullopt;
  }
  int64_t ranks() const { return is_document() || scores_given() ? 1 : n_best; }
  bool all_alternatives() const { return ranks() > 1 && !synthesis.wanted(); }
  bool needs_attention() const {
    return copy_unknown || !alignment.empty() || !alignment_file.empty() || !attention_out.empty();
  }

  /// What stands in the lines of the output.
  OutputOptions output_options() const {
    OutputOptions options{.format = format == "jsonl" ? OutputFormat::kJsonLines : OutputFormat::kColumns,
                          .columns = {},
                          .all_alternatives = all_alternatives()};
    using enum OutputColumn;
    auto& columns = options.columns;
    if (format == "tsv") {
      columns = {kLine, kRank, kScore, kTokens, kSource, kTranslation};
    } else {
      if (all_alternatives()) columns.push_back(kLine);
      if (!scores_given()) columns.push_back(kTranslation);
      if (scores || scores_given()) columns.push_back(kScore);
    }
    if (token_scores) columns.push_back(kTokenScores);
    if (!alignment.empty() && alignment_file.empty()) columns.push_back(kAlignment);
    return options;
  }

  OutputOptions alignment_options() const {
    return {.columns = {OutputColumn::kAlignment}, .all_alternatives = all_alternatives()};
  }

  /// Reads the glossary: throws Error.
  TermOptions terms() const {
    TermOptions terms{.keep_placeholders = keep_placeholders};
    if (!glossary.empty()) terms.glossary = std::make_shared<const Glossary>(Glossary::read(glossary));
    return terms;
  }

  LineStreamOptions stream_options(const Reranker* reranker = nullptr) const {
    LineStreamOptions options = stream;
    options.common.terms = terms();
    options.common.copy_unknown = copy_unknown;
    options.reranker = reranker;
    options.n_best = ranks();
    options.input = input_format == "tsv"    ? InputFormat::kTsv
                    : input_format == "json" ? InputFormat::kJson
                                             : InputFormat::kText;
    return options;
  }

 private:
  void add_input(CLI::App& app, const std::string& group) {
    app.add_option("-i,--input", input, "source text, a sentence a line, plain, gzip or zstd; - = standard input")
        ->type_name("FILE")
        ->capture_default_str()
        ->group(group);
    app.add_option("-t,--text", texts, "translate this instead of input; may be given several times")
        ->allow_extra_args(false)
        ->excludes("--input")
        ->type_name("TEXT")
        ->group(group);
    app.add_option("--target", target_texts,
                   "a translation of --text: it is scored, and its attention drawn, instead of one that is searched; "
                   "once for each --text")
        ->allow_extra_args(false)
        ->needs("--text")
        ->type_name("TEXT")
        ->group(group);
    app.add_option("--input-format", input_format,
                   "of each line: text; tsv (SOURCE, PREFIX, MUST, MUST_NOT, separated by tabs); json (an object with "
                   "source, prefix, must, must_not); set: the input is a test set in a form that nmt-eval reads (TMX, "
                   "sgm, JSON lines, ...), its sources are translated or, with --score, its pairs scored")
        ->check(CLI::IsMember({"text", "tsv", "json", "set"}))
        ->capture_default_str()
        ->group(group);
    app.add_flag("--split-sentences", split_sentences, "a line is a paragraph: its sentences are translated one by one")
        ->group(group);
    app.add_flag(
           "--no-split-sentences", no_split_sentences,
           "a document, or what a service is asked, stays a line at a time though the model's lines are sentences")
        ->excludes("--split-sentences")
        ->group(group);
    app.add_option("--buffer-lines", stream.block_lines,
                   "lines read ahead, where the input has so many, to be sorted by length")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
        ->excludes("--text")
        ->capture_default_str()
        ->group(group);
    app.add_option_function<int64_t>(
           "--first-line", [this](int64_t number) { stream.first_line = number - 1; },
           "number of the input's first line in the whole text, where the input is a part of it: samples are those of "
           "the whole text")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 53))
        ->excludes("--text")
        ->type_name("N")
        ->group(group);
    app.add_option_function<std::string>(
           "--shard", [this](const std::string& text) { shard = parse_shard(text); },
           "only part I of N of the input's lines, of equal size; all parts behind each other are the whole")
        ->excludes("--text")
        ->type_name("I/N")
        ->group(group);
    app.add_option("--score", targets, "score the lines of this file as translations of the input; translate nothing")
        ->excludes("--text")
        ->type_name("FILE")
        ->group(group);
#ifdef NMT_WITH_DOCUMENTS
    app.add_option("--format-in", document_format,
                   "the input is one document of this format, whose markup stays; auto = as the name of the input ends")
        ->type_name("auto|html|xml|srt|vtt|po|xliff|docx|pptx|odt|odp|epub|txt")
        ->excludes("--text")
        ->excludes("--buffer-lines")
        ->group(group);
#endif
  }

  void add_output(CLI::App& app, const std::string& group) {
    app.add_option("-o,--output", output, "translations, a line for each line; - = standard output")
        ->type_name("FILE")
        ->capture_default_str()
        ->group(group);
    app.add_option(
           "--format", format,
           "text; tsv (LINE, RANK, SCORE, TOKENS, SOURCE, TRANSLATION); jsonl, an object a line; json, of --text "
           "a list of objects with the key translation_text")
        ->check(CLI::IsMember({"text", "tsv", "jsonl", "json"}))
        ->capture_default_str()
        ->group(group);
    app.add_option("--n-best", n_best, "write so many translations of each line; at most the beam size")
        ->capture_default_str()
        ->group(group);
    app.add_flag("--rerank", rerank,
                 "choose among the translations of the beam by further models, as nmt-eval --tune-rerank has found "
                 "(rerank.json in the model directory)")
        ->group(group);
    app.add_flag("--scores", scores, "add a column: SCORE (log-probability / length penalty)")->group(group);
    app.add_flag("--token-scores", token_scores, "add a column: the log-probabilities of the tokens")->group(group);
    app.add_flag("--copy-unknown", copy_unknown, "put for <unk> the source word that it looks at most")->group(group);
    app.add_option("--alignment", alignment, "add a column: pharaoh, SOURCE-TARGET pairs of words, from 0")
        ->check(CLI::IsMember({"pharaoh"}))
        ->type_name("FORM")
        ->group(group);
    app.add_option("--alignment-out", alignment_file, "write the alignments there instead, a line for each line")
        ->type_name("FILE")
        ->group(group);
    app.add_option(
           "--attention-out", attention_out,
           "draw attention: into a folder, pictures (SVG) and numbers (JSON) of the lines of --attention-lines; "
           "of one --text FILE.svg (words) or FILE.html (pieces, every layer and head)")
        ->type_name("DIR|FILE")
        ->group(group);
    app.add_option("--attention-lines", attention_lines, "which ones, from 1")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 53))
        ->needs("--attention-out")
        ->type_name("N...")
        ->capture_default_str()
        ->group(group);
    app.add_option("--score-corpus", score_corpus,
                   "score the training pairs of prepared data (data.dir) by models of its languages, in either "
                   "direction: a column beside train.bin, for data.keep_best and training.pair_weights")
        ->excludes("--input")
        ->excludes("--text")
        ->excludes("--output")
        ->excludes("--score")
        ->excludes("--shard")
        ->type_name("DIR")
        ->group(group);
  }

  void add_constraints(CLI::App& app, const std::string& group) {
    app.add_option("--prefix", stream.common.prefix, "every translation begins so")->type_name("TEXT")->group(group);
    app.add_option("--must", stream.common.must, "every translation holds this; may be given several times")
        ->allow_extra_args(false)
        ->type_name("TEXT")
        ->group(group);
    app.add_option("--must-not", stream.common.must_not, "no translation holds this; may be given several times")
        ->allow_extra_args(false)
        ->type_name("TEXT")
        ->group(group);
    app.add_option("--glossary", glossary,
                   "terms: SOURCE, a tab, TARGET, and perhaps a tab and flags (case, keep); the target stands in each "
                   "translation of a line that has the source")
        ->type_name("FILE")
        ->group(group);
    app.add_flag("--keep-placeholders", keep_placeholders,
                 "addresses (https://..., name@example.org) and places for values ({name}, %s) stay as they are")
        ->group(group);
  }
};

}  // namespace nmt
