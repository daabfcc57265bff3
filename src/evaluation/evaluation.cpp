#include "evaluation/evaluation.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/error.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/tokenized_bleu.h"
#include "text/moses/moses_language.h"

namespace nmt {

SystemOutput translate_test_set(const TestSet& test_set, const Translator& translator, std::string name,
                                const TranslationCalls& calls) {
  SystemOutput system;
  system.name = std::move(name);
  const auto start = std::chrono::steady_clock::now();
  const auto translations = translator.translate(test_set.sources, calls);
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

}  // namespace nmt
