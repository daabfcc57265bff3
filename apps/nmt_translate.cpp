// nmt-translate: raw text in, raw text out, with a model directory or several.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/user_files.h"
#include "base/unicode.h"
#include "count_lines.h"
#include "report/html/attention_map.h"
#include "report/pictures/attention_picture.h"
#include "text/pairs/corpus_reader.h"
#include "text/pairs/pair_formats.h"
#include "torch_version.h"
#include "translate_arguments.h"
#include "translation/attention_grids.h"
#include "translation/corpus_scores.h"
#include "translation/lines/source_parts.h"
#include "translation/lines/word_alignment.h"
#include "translation/reranking.h"
#ifdef NMT_WITH_DOCUMENTS
#include "document_translation.h"
#endif
#ifdef NMT_WITH_SERVER
#include "serving_arguments.h"
#endif

namespace nmt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The outputs of one run of the program.
struct Outputs {
  explicit Outputs(const TranslateArguments& arguments, std::string_view key = {})
      : lines(arguments.output_file(), key) {
    if (!arguments.alignment_file.empty()) alignments.emplace(arguments.alignment_file, key);
    if (!arguments.attention_out.empty() && !arguments.attention_is_file())
      make_folder("--attention-out", arguments.attention_out);
  }
  std::vector<LineSink> sinks(const TranslateArguments& arguments) {
    std::vector<LineSink> result;
    if (arguments.format != "json")  // a list, when all is there
      result.push_back({arguments.output_options(), [this](std::string_view text) { return lines.write(text); }});
    if (alignments)
      result.push_back(
          {arguments.alignment_options(), [this](std::string_view text) { return alignments->write(text); }});
    return result;
  }
  /// How many lines of the input have their output from before.
  int64_t done_lines() {
    int64_t done = lines.lines_from_before(std::numeric_limits<int64_t>::max());
    if (alignments) done = lines.lines_from_before(alignments->lines_from_before(done));
    return done;
  }
  void commit() {
    lines.commit();
    if (alignments) alignments->commit();
  }

  Output lines;
  std::optional<Output> alignments;
};

/// DIR/N.svg: words (of a line in parts DIR/N-1.svg and so on); DIR/N.json: words and pieces.
void write_attention(const fs::path& folder, const OutputItem& item, const TextCodec& codec) {
  if (item.translation.alternatives.empty()) return;
  const auto& best = item.translation.alternatives.front();
  auto grids = piece_attention(codec, best);
  const auto parts = word_attention(codec, item.source, best);
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto name =
        parts.size() == 1 ? fmt::format("{}.svg", item.number) : fmt::format("{}-{}.svg", item.number, part + 1);
    write_file_atomically(folder / name, attention_svg(parts[part].grid));
    grids.push_back(parts[part].grid);
  }
  write_file_atomically(folder / fmt::format("{}.json", item.number), attention_json(grids).dump() + "\n");
}

/// FILE.svg: words; FILE.html: pieces, with all layers and heads of the first model.
void write_attention_file(const fs::path& file, const OutputItem& item, const ReadyModel& model) {
  if (item.translation.alternatives.empty() || item.translation.text.empty())
    throw Error(fmt::format("--attention-out {}: the translation is empty: there is nothing to draw", file.string()));
  const auto& best = item.translation.alternatives.front();
  if (best.parts.size() > 1)
    throw Error(fmt::format("--attention-out {}: the text is translated in {} parts; give a folder for their pictures",
                            file.string(), best.parts.size()));
  if (file.extension() == ".svg") {
    const auto parts = word_attention(model.codec, item.source, best);
    if (parts.empty())
      throw Error(fmt::format("--attention-out {}: the text has no words: there is nothing to draw", file.string()));
    return write_file_atomically(file, attention_svg(parts.front().grid));
  }
  const auto layers =
      cross_attention(attention_grids(*model.model, model.codec, best.parts.front().source, best.parts.front().target));
  if (layers.empty()) throw Error(fmt::format("{}: this model has no attention to draw", model.directory.string()));
  write_file_atomically(file, attention_page(std::string(item.source), item.translation.text, layers));
}

TranslatorOptions options_of(const TranslateArguments& arguments, const ModelSet& models) {
  TranslatorOptions options = models.options();
  options.search.n_best = arguments.ranks();
  if (arguments.rerank) options = options_for_reranking(std::move(options));
  options.search.attention = arguments.needs_attention();
  options.split_sentences = arguments.splits().value_or(arguments.is_document() && models.is_of_sentences());
  for (const auto& phrase : arguments.stream.common.must)
    if (std::ranges::find(options.search.banned_phrases, phrase) != options.search.banned_phrases.end())
      throw Error(fmt::format("--must, --banned-phrases '{}': cannot both hold; leave out one of them", phrase));
  return options;
}

/// empty_pairs: that --synthesize wrote.
void report(const LineStreamStatistics& s, int64_t empty_pairs, double load_seconds, Logger& log) {
  const double seconds = std::max(s.seconds, 1e-9);
  log.info("{} lines in {:.2f} s: {:.1f} lines/s, {:.0f} target tokens/s; model loaded in {:.2f} s",
           with_commas(s.lines), s.seconds, static_cast<double>(s.lines) / seconds,
           static_cast<double>(s.target_tokens) / seconds, load_seconds);
  std::string notes = fmt::format("{} target tokens", with_commas(s.target_tokens));
  if (s.sentences > 0)  // none of a corpus that is scored
    notes = fmt::format("{} sentences, {} source tokens, {}", with_commas(s.sentences), with_commas(s.source_tokens),
                        notes);
  const auto note = [&](int64_t count, const char* what) {
    if (count > 0) notes += fmt::format("; {} {}", with_commas(count), what);
  };
  note(s.empty, "empty");
  note(empty_pairs, "pairs without text: the line or its translation is empty");
  note(s.repaired, "not UTF-8 and repaired");
  note(s.split, "too long and translated in parts");
  note(s.cut, "cut at the length limit (--max-length, --max-length-ratio, --max-length-offset)");
  note(s.loops, "in a loop: repeated or endless (--retry-loops searches them once more)");
  note(s.unmet, "without a phrase that must appear, or without the prefix");
  note(s.shortened, "longer than the model takes and scored in part");
  log.info("{}", notes);
}

/// Greets a user who types, and asks for each line.
class Prompt {
 public:
  Prompt(const TextCodec& codec, double load_seconds) {
    const auto& options = codec.options();
    if (!options.source_language.empty()) prompt_ = options.source_language;
    const std::string target = options.target_language.empty() ? "translation" : options.target_language;
    write(fmt::format("{} to {}, loaded in {:.2f} s. Type a sentence and Enter; Ctrl-D ends.\n", prompt_, target,
                      load_seconds));
  }
  void ask() const { write(prompt_ + "> "); }
  void end() const { write("\n"); }

 private:
  static void write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

  std::string prompt_ = "source";
};

LineStreamCalls calls_for(const TranslateArguments& arguments, const Translator& translator, const ReadyModel& model,
                          Outputs& outputs) {
  LineStreamCalls calls;
  calls.sinks = outputs.sinks(arguments);
  calls.stop = [] { return stop_signal() != 0; };
  if (arguments.attention_out.empty()) return calls;
  if (arguments.attention_is_file()) {
    calls.on_line = [&](const OutputItem& item) { write_attention_file(arguments.attention_out, item, model); };
    return calls;
  }
  calls.on_line = [&](const OutputItem& item) {
    if (std::ranges::find(arguments.attention_lines, item.number) != arguments.attention_lines.end())
      write_attention(arguments.attention_out, item, translator.codec());
  };
  return calls;
}

int translate_stream(const TranslateArguments& arguments, std::span<const char* const> command,
                     const Translator& translator, const Reranker* reranker, const ModelSet& models,
                     double load_seconds, Logger& log) {
  const ReadyModel& model = models.first();
  LineReader reader(arguments.input, kLongestLineToTranslate);
  Outputs outputs(arguments, arguments.key_of_work(command));
  LineStreamOptions options = arguments.stream_options(reranker);
  if (arguments.shard) {
    const int64_t lines = count_lines(arguments.input).value_or(0);
    options.skipped_lines = arguments.shard->first_line(lines);
    options.most_lines = arguments.shard->end_line(lines) - options.skipped_lines;
  }
  options.done_lines = outputs.done_lines();
  if (options.done_lines > 0)
    log.info("{}: {} lines are there from before; line {} is the next", outputs.lines.kept(),
             with_commas(options.done_lines), with_commas(options.done_lines + 1));
  const bool typed = arguments.input == "-" && ::isatty(STDIN_FILENO);
  const bool on_screen = arguments.output == "-" && !arguments.synthesis.wanted() && ::isatty(STDOUT_FILENO);
  LineStreamCalls calls = calls_for(arguments, translator, model, outputs);
  const auto& search = translator.options().search;
  std::optional<PairMaker> pairs;
  nlohmann::json inputs;
  if (arguments.synthesis.wanted()) {
    inputs = arguments.synthesis.hashes(arguments.input);
    pairs.emplace(arguments.synthesis.maker(options.first_line, options.skipped_lines + options.done_lines,
                                            static_cast<uint64_t>(search.seed)));
    calls.sinks.front().format = [&](const OutputItem& item) { return pairs->line(item); };
  }
  std::optional<Prompt> prompt;
  if (typed && !arguments.quiet) {
    prompt.emplace(translator.codec(), load_seconds);
    calls.before_waiting = [&] { prompt->ask(); };
  }
  std::unique_ptr<ProgressBar> bar;
  if (!arguments.quiet && !on_screen && !typed && standard_error_is_terminal()) {
    bar = std::make_unique<ProgressBar>(
        "translate", arguments.shard ? options.most_lines : count_lines(arguments.input).value_or(0), "lines");
    calls.progress = [&](int64_t done) { bar->update(done); };
  }

  LineStreamStatistics statistics;
  if (arguments.targets.empty()) {
    statistics = translate_lines(reader, translator, calls, log, options);
  } else {
    LineReader targets(arguments.targets, kLongestLineToTranslate);
    statistics = score_lines(reader, targets, translator, calls, log, options);
  }
  bar.reset();
  if (prompt) prompt->end();
  if (statistics.stopped) {
    if (const auto kept = outputs.lines.kept(); !kept.empty())
      log.info("stopped; {} has what is done, and the same command resumes there", kept);
    return stop_exit_code();
  }
  const int64_t lines = options.done_lines + statistics.lines;
  if (pairs && !arguments.shard) pairs->finish();
  outputs.commit();
  const int64_t empty_pairs =
      pairs ? arguments.synthesis.write_record(*pairs, models, search, inputs, lines, command) : 0;
  for (const int64_t line : arguments.attention_lines)
    if (!arguments.attention_out.empty() && line > lines)
      log.warn("--attention-lines {}: the input has {} lines: there is no such picture", line, lines);
  if (!arguments.quiet) report(statistics, empty_pairs, load_seconds, log);
  return kDone;
}

int translate_text(const TranslateArguments& arguments, const Translator& translator, const Reranker* reranker,
                   const ReadyModel& model, Logger& log) {
  for (const auto& [option, texts] : {std::pair("--text", &arguments.texts), {"--target", &arguments.target_texts}})
    for (const auto& text : *texts)
      if (const auto invalid = find_invalid_utf8(text))
        log.warn("{} '{}': byte {} is not UTF-8: such bytes are replaced by U+FFFD", option, repair_utf8(text),
                 *invalid + 1);
  Outputs outputs(arguments);
  const auto calls = calls_for(arguments, translator, model, outputs);
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < arguments.target_texts.size(); ++i)
    pairs.push_back({.source = arguments.texts[i], .target = arguments.target_texts[i]});
  std::vector<Translation> translations;
  try {
    translations = pairs.empty()
                       ? translate_texts(arguments.texts, translator, calls, arguments.stream_options(reranker))
                       : score_texts(pairs, translator, calls);
  } catch (const TranslationStopped&) {
    return stop_exit_code();
  }
  if (arguments.format == "json") outputs.lines.write(format_json_list(translations, arguments.output_options()));
  outputs.commit();
  const std::string text = arguments.is_set() ? arguments.input + ", sentence" : "--text, number";
  const TagCheck tags(translator.codec());
  LineWarnings untagged(log);
  for (size_t i = 0; i < arguments.texts.size(); ++i)
    if (const auto problem = tags.problem_of(arguments.texts[i]))
      untagged.add(fmt::format("{} {}: {}", text, i + 1, *problem));
  for (size_t i = 0; i < translations.size(); ++i) {
    const auto& found = translations[i];
    if (found.split) log.warn("{} {}: {} pieces are too long: translated in parts", text, i + 1, found.source_tokens);
    if (!found.alternatives.empty() && found.alternatives.front().shortened)
      log.warn("{} {}: longer than the model takes: its beginning is scored", text, i + 1);
  }
  return kDone;
}

/// --input-format set: its sentences become the texts to translate, or with --score to be scored.
void read_set(TranslateArguments& arguments, const TextCodec& codec, Logger& log) {
  const ReadingOptions reading{.source_language = codec.options().source_language,
                               .target_language = codec.options().target_language};
  const auto read = [&](auto&& reader) {
    for (TextPair pair; reader.next(pair);) {
      arguments.texts.push_back(std::move(pair.source));
      if (!arguments.targets.empty()) arguments.target_texts.push_back(std::move(pair.target));
    }
    for (const auto& note : reader.notes())
      if (note.is_warning) log.warn("{}", note.text);
  };
  if (arguments.targets.empty())
    read(*open_corpus_file({.path = arguments.input, .option = "--input", .reading = reading}));
  else
    read(CorpusReader({arguments.input, arguments.targets, "--input", "--score"}, reading));
  if (arguments.texts.empty()) throw Error(fmt::format("--input {}: has no sentence; check the file", arguments.input));
}

#ifdef NMT_WITH_SERVER
int serve(const ServingArguments& serving, const TranslateArguments& arguments, Logger& log) {
  const auto& decoding = arguments.decoding;
  ServiceModel model{.directories = {arguments.models.begin(), arguments.models.end()}, .weights = arguments.weights};
  model.adapter = decoding.adapter;
  model.glossary_file = arguments.glossary;
  if (!arguments.glossary.empty()) model.glossary = read_service_glossary(arguments.glossary);
  model.keep_placeholders = arguments.keep_placeholders;
  return serving.run(model,
                     {.device = decoding.device,
                      .max_source_length = decoding.max_source_length,
                      .split_sentences = arguments.splits(),
                      .changed = [&](const Config& config) { return decoding.flags.applied_to(config); },
                      .threads = decoding.thread_count()},
                     log);
}
#endif

int run(int argc, char** argv) {
  CLI::App app("Translates text with a trained model: a line of output for each line of input.", "nmt-translate");
  app.set_version_flag("--version", program_version("nmt-translate", torch_and_kernels()));
  TranslateArguments arguments;
  arguments.add_to(app);
  std::vector<std::string> examples = {"nmt-translate -m runs/mine/best < new.de > new.en",
                                       "nmt-translate -m runs/mine/best -t \"Ein Hund schläft.\" --n-best 3"};
#ifdef NMT_WITH_SERVER
  ServingArguments serving;
  serving.add_to(app);
  examples.push_back("nmt-translate -m runs/mine/best --serve 8080");
  const auto serves = [&] { return serving.wanted(); };
  const auto has_models = [&] { return !arguments.models.empty() || serving.has_models(); };
#else
  const auto serves = [] { return false; };
  const auto has_models = [&] { return !arguments.models.empty(); };
#endif
  show_examples(app, examples);
  if (!parse_command_line(app, argc, argv)) return kDone;
  if (!has_models()) throw Error("--model is required; see nmt-translate --help");
  arguments.check();
  const std::string unused = arguments.check_used(app, serves());
#ifdef NMT_WITH_DOCUMENTS
  if (arguments.is_document()) input_document_format(arguments);  // before models are loaded
#endif
#ifdef NMT_WITH_SERVER
  serving.check(app);
#endif
  if (!serves()) arguments.check_files();
  catch_stop_signals();
  const auto log = make_logger("nmt-translate");
  if (!unused.empty()) log->warn("{}", unused);
  check_threads("--threads", arguments.decoding.threads);
#ifdef NMT_WITH_SERVER
  if (serves()) {
    check_outputs(serving.inputs(), serving.outputs());
    return serve(serving, arguments, *log);
  }
#endif
  const auto start = Clock::now();
  const ModelSet models(
      arguments.decoding.model_set({arguments.models.begin(), arguments.models.end()}, arguments.weights));
  const TranslatorOptions options = options_of(arguments, models);
#ifdef NMT_WITH_DOCUMENTS
  if (arguments.is_document()) return translate_one_document(arguments, models, options, *log);
#endif
  const Translator translator(models.members(), options);
  const auto reranker = arguments.rerank
                            ? std::make_unique<Reranker>(read_reranking(models.first().directory), models.first(),
                                                         arguments.decoding.device, arguments.decoding.thread_count())
                            : nullptr;
  const double load_seconds = seconds_since(start);
  if (!arguments.score_corpus.empty()) {
    const auto scored = score_corpus(
        arguments.score_corpus, models, translator, [] { return stop_signal() != 0; }, *log);
    if (!scored.stopped && !arguments.quiet) report(scored, /*empty_pairs=*/0, load_seconds, *log);
    return scored.stopped ? stop_exit_code() : kDone;
  }
  if (arguments.is_set()) read_set(arguments, translator.codec(), *log);
  if (!arguments.texts.empty()) return translate_text(arguments, translator, reranker.get(), models.first(), *log);
  return translate_stream(arguments, {argv, static_cast<size_t>(argc)}, translator, reranker.get(), models,
                          load_seconds, *log);
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app("nmt-translate", [&] { return nmt::run(argc, argv); });
}
