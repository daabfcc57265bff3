#include "nmt/translator.h"

#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/line_reader.h"
#include "base/process/user_files.h"
#include "base/unicode.h"
#include "config/loading/schema.h"
#include "config/used_by.h"
#include "documents/document.h"
#include "documents/process/document_process.h"
#include "library/inner/access.h"
#include "library/inner/conversions.h"
#include "library/inner/fields.h"
#include "library/inner/guard.h"
#include "library/inner/translator_state.h"
#include "text/pairs/pair_reader.h"
#include "translation/aligned_texts.h"
#include "translation/line_stream.h"

namespace nmt::api {
namespace {

nmt::TermOptions terms_of(const TranslateOptions& options) {
  nmt::TermOptions terms{.glossary = {}, .keep_placeholders = options.keep_placeholders};
  if (options.glossary.size() > 0) terms.glossary = Access::terms(options.glossary);
  return terms;
}

nmt::TranslationCalls calls_of(const TranslateOptions& options) {
  return {.progress = shielded(options.progress), .stopped = [stop = options.stop] { return stop.stop_requested(); }};
}

/// UTF-8, whatever came in.
struct CleanText {
  explicit CleanText(const std::string& given)
      : repaired(find_invalid_utf8(given).has_value()), text(repaired ? repair_utf8(given) : given) {}
  bool repaired;
  std::string text;
};

/// Phrases of `must` or `must_not`.
std::vector<std::string> clean(const std::vector<std::string>& phrases) {
  std::vector<std::string> result;
  for (const auto& phrase : phrases) {
    result.push_back(CleanText(phrase).text);
    if (strip(result.back()).empty()) throw nmt::Error("must and must_not: a phrase is empty; leave it out");
  }
  return result;
}

nmt::Request common_request(const TranslateOptions& options) {
  return {.prefix = CleanText(options.prefix).text,
          .must = clean(options.must),
          .must_not = clean(options.must_not),
          .copy_unknown = options.copy_unknown,
          .split_sentences = options.split_sentences,
          .terms = terms_of(options)};
}

void check_options(const TranslateOptions& options) {
  if (options.n_best < 1) throw nmt::Error(fmt::format("n_best {}: use 1 or more", options.n_best));
  if (options.first_line < 0) throw nmt::Error(fmt::format("first_line {}: use 0 or more", options.first_line));
}

void check_has_name(std::string_view option, const std::string& file) {
  if (file.empty()) throw nmt::Error(fmt::format("{}: the name is empty; name a file", option));
}

/// Throws Error for an option without effect: a caller has no place for a warning, and ignored it would look heard.
void refuse_unused(const TranslateOptions& options, nmt::Work work) {
  std::vector<std::string> given;
  for_each_field(options, [&, usual = TranslateOptions()](const char* name, auto member) {
    if (!(options.*member == usual.*member)) given.emplace_back(name);
  });
  if (options.glossary.size() > 0) given.emplace_back("glossary");
  for_each_option(options.decoding, [&](const char* name, const auto& value) {
    if (value) given.emplace_back(name);
  });
  check_used(given, work, Harmless::kRefuse);
}

/// On a GPU the turn of a call; on a CPU calls work side by side.
std::unique_lock<std::mutex> turn_of(const Translator::State& state) {
  return state.on_cpu() ? std::unique_lock<std::mutex>() : std::unique_lock(state.of_device());
}

std::vector<Translation> translated(const Translator::State& state, const std::vector<Request>& requests,
                                    const TranslateOptions& options) {
  check_options(options);
  const auto translator = state.translator_for(options);
  const auto common = common_request(options);
  std::vector<nmt::Request> inner;
  std::vector<bool> repaired;
  for (const auto& request : requests) {
    CleanText source(request.source);
    repaired.push_back(source.repaired);
    inner.push_back(nmt::with_common({.source = std::move(source.text),
                                      .prefix = CleanText(request.prefix).text,
                                      .must = clean(request.must),
                                      .must_not = clean(request.must_not)},
                                     common));
  }
  const auto turn = turn_of(state);
  auto found = translator->translate(inner, calls_of(options), options.first_line);
  std::vector<Translation> results;
  for (size_t i = 0; i < found.size(); ++i) {
    results.push_back(to_translation(std::move(found[i]), inner[i].source, translator->codec(), options));
    results.back().repaired = repaired[i];
  }
  return results;
}

// A pointer of its own: the translator may be destroyed meanwhile.
template <typename Result, typename State, typename Body>
Result with_state(std::shared_ptr<const State> state, const Body& body) {
  return guarded([&]() -> Result {
    if (!state) throw nmt::Error("this translator was moved from");
    return body(*state);
  });
}

}  // namespace

Glossary::Glossary() = default;

Glossary Glossary::parse(std::string_view lines, const std::string& name) {
  return guarded([&] {
    Glossary result;
    result.terms_ = std::make_shared<const nmt::Glossary>(nmt::Glossary::parse(lines, name));
    return result;
  });
}

Glossary Glossary::read(const std::string& file) {
  return guarded([&] {
    Glossary result;
    result.terms_ = std::make_shared<const nmt::Glossary>(nmt::Glossary::read(file));
    return result;
  });
}

std::size_t Glossary::size() const { return terms_ ? Access::terms(*this)->terms().size() : 0; }

Translator::Translator(const TranslatorOptions& options) {
  guarded([&] { state_ = std::make_shared<const State>(options); });
}

Translator::Translator(const std::string& model) : Translator(TranslatorOptions{{model}}) {}

std::vector<Translation> Translator::translate(const std::vector<std::string>& texts,
                                               const TranslateOptions& options) const {
  std::vector<Request> requests;
  for (const auto& text : texts) requests.push_back({text});
  return translate_requests(requests, options);
}

std::vector<Translation> Translator::translate_requests(const std::vector<Request>& requests,
                                                        const TranslateOptions& options) const {
  return with_state<std::vector<Translation>>(state_,
                                              [&](const State& state) { return translated(state, requests, options); });
}

std::string Translator::translate_one(const std::string& text) const { return translate({text}).front().text; }

std::int64_t Translator::translate_stream(const LineSource& source, const TranslationSink& sink,
                                          const TranslateOptions& options, const StreamOptions& stream) const {
  return with_state<std::int64_t>(state_, [&](const State& state) {
    if (!source || !sink) throw nmt::Error("a stream: source and sink are both needed");
    if (stream.block_lines < 1 || stream.block_bytes < 1)
      throw nmt::Error("a block of a stream: use 1 or more lines and bytes");
    check_options(options);  // before a line is taken
    state.translator_for(options);
    common_request(options);
    const auto next = shielded(source);
    const auto give = shielded(sink);
    TranslateOptions of_block = options;
    std::int64_t done = 0;
    if (options.progress) of_block.progress = [&](std::int64_t lines) { options.progress(done + lines); };
    for (bool more = true; more;) {
      std::vector<Request> block;
      std::int64_t bytes = 0;
      std::string line;
      while (static_cast<std::int64_t>(block.size()) < stream.block_lines && bytes < stream.block_bytes) {
        more = !options.stop.stop_requested() && next(line);
        if (!more) break;
        bytes += static_cast<std::int64_t>(line.size());
        block.push_back({std::move(line)});
        line.clear();
      }
      if (options.stop.stop_requested()) throw nmt::TranslationStopped();
      if (block.empty()) break;
      of_block.first_line = options.first_line + done;
      const auto translations = translated(state, block, of_block);
      for (const auto& translation : translations) {
        const std::int64_t number = done++;
        if (!give(number, translation)) return done;
      }
    }
    return done;
  });
}

FileStatistics Translator::translate_file(const std::string& input, const std::string& output,
                                          const TranslateOptions& options, const LogSink& log) const {
  return with_state<FileStatistics>(state_, [&](const State& state) {
    check_options(options);
    refuse_unused(options, kOfFile);
    check_has_name("input", input);
    check_has_name("output", output);
    std::vector<UserFile> inputs = {{"input", input}};
    for (const auto& model : state.models().loaded()) append_files_of_folder("model", model.directory, inputs);
    check_outputs(inputs, {{"output", output}});
    const auto translator = state.translator_for(options);
    LineReader reader(input, kLongestLineToTranslate);
    AtomicFile file(output);
    LineStreamCalls calls;
    calls.sinks.push_back({{}, [&](std::string_view text) {
                             file.write(text);
                             return true;
                           }});
    calls.stop = [&] { return options.stop.stop_requested(); };
    calls.progress = shielded(options.progress);
    const LineStreamOptions lines{.common = common_request(options), .first_line = options.first_line};
    const auto turn = turn_of(state);
    const auto done = translate_lines(reader, *translator, calls, *logger_to(log), lines);
    if (done.stopped) throw nmt::TranslationStopped();
    file.commit();
    return FileStatistics{done.lines, done.source_tokens, done.target_tokens, done.repaired,
                          done.split, done.cut,           done.seconds};
  });
}

std::string Translator::translate_document(std::string_view bytes, const std::string& format,
                                           const TranslateOptions& options) const {
  return with_state<std::string>(state_, [&](const State& state) {
    check_options(options);
    refuse_unused(options, kOfDocument);
    const auto kind = require_document_format("document." + format).format;
    const auto translator = state.translator_for(options);
    auto common = common_request(options);
    common.split_sentences = options.split_sentences.value_or(state.models().is_of_sentences());
    const auto calls = calls_of(options);
    const auto turn = turn_of(state);
    const auto translate = [&](std::span<const std::string> texts) {
      return nmt::translate_aligned(*translator, texts, common, calls);
    };
    const auto check = [&] {
      if (calls.stopped && calls.stopped()) throw nmt::TranslationStopped();
    };
    return translate_document_apart(kind, bytes, translate, {}, check);
  });
}

std::vector<Alternative> Translator::score(const std::vector<std::string>& sources,
                                           const std::vector<std::string>& targets,
                                           const TranslateOptions& options) const {
  return with_state<std::vector<Alternative>>(state_, [&](const State& state) {
    if (sources.size() != targets.size())
      throw nmt::Error(fmt::format("{} sources and {} targets; give one for each", sources.size(), targets.size()));
    check_options(options);
    refuse_unused(options, kOfScores);
    const auto translator = state.translator_for(options);
    std::vector<nmt::TextPair> pairs;
    for (size_t i = 0; i < sources.size(); ++i)
      pairs.push_back({CleanText(sources[i]).text, CleanText(targets[i]).text});
    const auto turn = turn_of(state);
    auto scored = translator->score(pairs, calls_of(options));
    std::vector<Alternative> results;
    for (size_t i = 0; i < scored.size(); ++i)
      results.push_back(to_alternative(std::move(scored[i]), pairs[i].source, translator->codec(), options));
    return results;
  });
}

std::vector<ModelInformation> Translator::models() const {
  return with_state<std::vector<ModelInformation>>(state_, [](const State& state) {
    std::vector<ModelInformation> models;
    for (const auto& loaded : state.models().loaded())
      models.push_back({.directory = loaded.directory.string(),
                        .source_language = loaded.codec.options().source_language,
                        .target_language = loaded.codec.options().target_language,
                        .parameters = loaded.parameters,
                        .source_vocabulary = loaded.codec.source().size(),
                        .target_vocabulary = loaded.codec.target().size(),
                        .precision = loaded.precision,
                        .configuration = to_yaml(loaded.config)});
    return models;
  });
}

bool Translator::has_attention() const {
  return with_state<bool>(state_, [](const State& state) {
    const auto turn = turn_of(state);
    return state.translator_for({})->aligns();
  });
}

}  // namespace nmt::api
