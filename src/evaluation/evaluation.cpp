#include "evaluation/evaluation.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/tokenized_bleu.h"
#include "text/corpus/text_reader.h"
#include "text/moses/moses_language.h"

namespace nmt {
namespace {

std::vector<std::string> read_sentences(const std::filesystem::path& path) {
  TextReader reader(path, detect_format(path));
  std::vector<std::string> sentences;
  while (const auto sentence = reader.next()) {
    if (const auto invalid = find_invalid_utf8(*sentence)) {
      throw Error(fmt::format("{}:{}: byte {} of the sentence is not UTF-8; convert the file (iconv -t UTF-8)",
                              path.string(), reader.line_number(), *invalid + 1));
    }
    sentences.emplace_back(*sentence);
  }
  if (sentences.empty()) throw Error(fmt::format("{}: has no sentence; check the file", path.string()));
  return sentences;
}

}  // namespace

TestSet read_test_set(const std::filesystem::path& source, const std::vector<std::filesystem::path>& references) {
  if (references.empty()) throw Error(fmt::format("{}: has no reference; give one", source.string()));
  TestSet test_set{
      .source_file = source, .reference_files = references, .sources = read_sentences(source), .references = {}};
  for (const auto& path : references) {
    test_set.references.push_back(read_sentences(path));
    const size_t expected = test_set.sources.size(), found = test_set.references.back().size();
    if (found != expected) {
      throw Error(fmt::format("{}: {} sentences, {} has {}; sentence i must be the translation of sentence i",
                              path.string(), found, source.string(), expected));
    }
  }
  return test_set;
}

SystemOutput translate_test_set(const TestSet& test_set, const Translator& translator, std::string name,
                                const std::function<void(int64_t)>& progress) {
  SystemOutput system;
  system.name = std::move(name);
  const auto start = std::chrono::steady_clock::now();
  const auto translations = translator.translate(test_set.sources, progress);
  system.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const Translation& translation : translations) {
    system.hypotheses.push_back(translation.text);
    system.source_tokens += translation.source_tokens;
    system.target_tokens += translation.target_tokens;
    system.split += translation.split;
    system.cut += !translation.alternatives.empty() && !translation.alternatives.front().finished;
  }
  return system;
}

Metrics evaluation_metrics(const Choices<TokenizedBleuForm>& tokenized_bleu, const std::string& target_language) {
  Metrics metrics = {std::make_shared<scoring::Bleu>(), std::make_shared<scoring::Chrf>()};
  if (!tokenized_bleu.empty() && !has_moses_rules(target_language)) {
    throw Error(
        fmt::format("tokenised BLEU: the target language is {}, Moses tokens are made of de and en; leave it out",
                    target_language.empty() ? "not known" : target_language));
  }
  for (const auto form : tokenized_bleu.values())
    metrics.push_back(std::make_shared<scoring::TokenizedBleu>(moses_language(target_language),
                                                               form == TokenizedBleuForm::kLowercase));
  return metrics;
}

std::vector<scoring::Score> score(const SystemOutput& system, const TestSet& test_set, int64_t bootstrap,
                                  const Metrics& metrics) {
  scoring::CorpusOptions options;
  options.bootstrap = bootstrap;
  options.seed = scoring::Seed::from_environment();
  std::vector<scoring::Score> scores;
  for (const auto& metric : metrics) {
    scores.push_back(scoring::score_corpus(*metric, system.hypotheses, test_set.references, options));
  }
  return scores;
}

scoring::PairedTable compare(const std::vector<SystemOutput>& systems, const TestSet& test_set,
                             const Metrics& metrics) {
  std::vector<scoring::NamedSystem> named;
  for (const SystemOutput& system : systems) {
    named.push_back({(named.empty() ? "Baseline: " : "") + system.name, system.hypotheses});
  }
  scoring::PairedTestOptions options;
  options.seed = scoring::Seed::from_environment();
  return scoring::paired_test(named, test_set.references, metrics, options);
}

TranslatedText translated_text(const TestSet& test_set, const SystemOutput& system) {
  return {test_set.sources, test_set.references.front(), system.hypotheses};
}

nlohmann::ordered_json report_of(const SystemOutput& system, const std::vector<scoring::Score>& scores) {
  nlohmann::ordered_json report = {{"model", system.name}, {"scores", nlohmann::ordered_json::array()}};
  for (const auto& item : scores) {
    nlohmann::ordered_json entry = {{"name", item.name}, {"score", item.score}};
    if (item.signature) entry["signature"] = item.signature->text();
    if (!item.details.empty()) entry["details"] = item.details;
    if (item.confidence) {
      entry["confidence"] = {{"mean", item.confidence->mean}, {"half_width", item.confidence->half_width}};
    }
    entry["text"] = item.format();
    report["scores"].push_back(std::move(entry));
  }
  const double seconds = std::max(system.seconds, 1e-9);
  report["source_tokens"] = system.source_tokens;
  report["target_tokens"] = system.target_tokens;
  report["translated_in_parts"] = system.split;
  report["cut_at_length_limit"] = system.cut;
  report["seconds"] = system.seconds;
  report["sentences_per_second"] = static_cast<double>(system.hypotheses.size()) / seconds;
  report["target_tokens_per_second"] = static_cast<double>(system.target_tokens) / seconds;
  return report;
}

nlohmann::ordered_json report_of(const TestSet& test_set) {
  nlohmann::ordered_json references = nlohmann::ordered_json::array();
  for (const auto& path : test_set.reference_files) references.push_back(path.string());
  return {{"source", test_set.source_file.string()},
          {"references", std::move(references)},
          {"sentences", test_set.sources.size()}};
}

nlohmann::ordered_json report_of(const SearchOptions& options) {
  nlohmann::ordered_json report = {{"beam_size", options.beam_size},
                                   {"length_penalty", options.length_penalty},
                                   {"length_penalty_form", name_of(options.length_penalty_form)},
                                   {"max_length_ratio", options.max_length_ratio},
                                   {"max_length_offset", options.max_length_offset},
                                   {"stopping", name_of(options.stopping)}};
  const SearchOptions off;  // of the rest, what is on
  const auto add = [&](const char* name, const auto& value, const auto& default_value) {
    if (value != default_value) report[name] = value;
  };
  add("max_length", options.max_length, off.max_length);
  add("min_length", options.min_length, off.min_length);
  add("coverage_penalty", options.coverage_penalty, off.coverage_penalty);
  add("no_repeat_ngram_size", options.no_repeat_ngram_size, off.no_repeat_ngram_size);
  add("repetition_penalty", options.repetition_penalty, off.repetition_penalty);
  add("ban_unknown", options.ban_unknown, off.ban_unknown);
  add("diversity_groups", options.diversity_groups, off.diversity_groups);
  if (options.diversity_groups > 1) report["diversity_strength"] = options.diversity_strength;
  if (options.sampling)
    report["sampling"] = {{"temperature", options.sampling->temperature},
                          {"top_k", options.sampling->top_k},
                          {"top_p", options.sampling->top_p},
                          {"seed", options.sampling->seed}};
  return report;
}

nlohmann::ordered_json report_of(const scoring::PairedTable& table) {
  nlohmann::ordered_json report = {{"test", "paired bootstrap resampling"},
                                   {"samples", table.samples},
                                   {"columns", nlohmann::ordered_json::array()}};
  for (const auto& column : table.columns) {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (size_t i = 0; i < column.results.size(); ++i) {
      const auto& result = column.results[i];
      nlohmann::ordered_json entry = {{"system", table.systems[i]}, {"score", result.score}};
      if (result.p_value) entry["p_value"] = *result.p_value;
      if (result.mean) entry["mean"] = *result.mean;
      if (result.half_width) entry["half_width"] = *result.half_width;
      results.push_back(std::move(entry));
    }
    report["columns"].push_back(
        {{"metric", column.metric}, {"signature", column.signature.text()}, {"results", std::move(results)}});
  }
  return report;
}

}  // namespace nmt
