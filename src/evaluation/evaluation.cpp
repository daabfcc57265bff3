#include "evaluation/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "config/option_listing.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/tokenized_bleu.h"
#include "text/moses/moses_language.h"

namespace nmt {

SystemOutput translate_test_set(const TestSet& test_set, const Translator& translator, std::string name,
                                const TranslationCalls& calls, const Reranker* reranker) {
  SystemOutput system;
  system.name = std::move(name);
  const auto start = std::chrono::steady_clock::now();
  auto translations = translator.translate(test_set.sources, calls);
  if (reranker) reranker->rank(test_set.sources, translations, 1, calls);
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

Metrics evaluation_metrics(const Choices<TokenizedBleuForm>& tokenized_bleu, const std::string& target_language,
                           bool lowercase) {
  Metrics metrics = {std::make_shared<scoring::Bleu>(scoring::BleuOptions{.lowercase = lowercase}),
                     std::make_shared<scoring::Chrf>(scoring::ChrfOptions{.lowercase = lowercase})};
  for (const auto form : tokenized_bleu.values()) {
    std::optional<MosesLanguage> language;
    if (takes_moses_tokens(form)) {
      if (!has_moses_rules(target_language))
        throw Error(fmt::format("tokenised BLEU: the target language is {}, Moses tokens are made of {}; leave it out",
                                target_language.empty() ? "not known" : target_language, moses_codes()));
      language = moses_language(target_language);
    }
    metrics.push_back(std::make_shared<scoring::TokenizedBleu>(form, language));
  }
  return metrics;
}

std::vector<scoring::Score> score(const SystemOutput& system, const TestSet& test_set, int64_t bootstrap,
                                  const Metrics& metrics) {
  scoring::CorpusOptions options;
  options.bootstrap = bootstrap;
  if (bootstrap > 1) options.seed = scoring::Seed::from_environment();
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
  nlohmann::ordered_json report = {{"source", test_set.source_file.string()},
                                   {"references", std::move(references)},
                                   {"sentences", test_set.sources.size()}};
  if (!test_set.name.empty()) report["name"] = test_set.name;
  if (test_set.left_out > 0) report["left_out"] = test_set.left_out;
  return report;
}

nlohmann::ordered_json report_of(const DecodingConfig& decoding) {
  static constexpr std::string_view kAlways[] = {"beam_size",        "length_penalty",    "length_penalty_form",
                                                 "max_length_ratio", "max_length_offset", "stopping"};
  static constexpr std::string_view kOfSpeed[] = {"batch_size", "precision"};
  Config config;
  const auto usual = to_json(config).at("decoding");
  config.decoding = decoding;
  const auto chosen = to_json(config).at("decoding");
  nlohmann::ordered_json report;
  for (const auto& [name, value] : chosen.items()) {
    if (std::ranges::find(kOfSpeed, name) != std::end(kOfSpeed)) continue;
    if (value != usual.at(name) || std::ranges::find(kAlways, name) != std::end(kAlways)) report[name] = value;
  }
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
