#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "evaluation/test_set.h"
#include "report/records/evaluation_observer.h"
#include "scoring/corpus/metric.h"
#include "scoring/corpus/paired_test.h"
#include "translation/reranking.h"
#include "translation/translator.h"

namespace nmt {

/// What one model made of a test set.
struct SystemOutput {
  std::string name;                     ///< the model directory
  std::vector<std::string> hypotheses;  ///< one a sentence
  int64_t source_tokens = 0, target_tokens = 0;
  int64_t split = 0;  ///< sentences translated in parts
  int64_t cut = 0;    ///< translations that reached the length limit
  double seconds = 0;
};

/// Translates the sources; a reranker chooses among the translations of each. Throws TranslationStopped where
/// calls.stopped says so.
SystemOutput translate_test_set(const TestSet& test_set, const Translator& translator, std::string name,
                                const TranslationCalls& calls = {}, const Reranker* reranker = nullptr);

using Metrics = std::vector<std::shared_ptr<const scoring::Metric>>;

/// BLEU (13a) and chrF2 of plain text, or of the same in lower case; behind them BLEU of Moses tokens in each of the
/// forms of evaluation.tokenized_bleu ("cased", "lowercase"), so that it never stands alone. Throws Error for forms of
/// a language without such tokens.
Metrics evaluation_metrics(const Choices<TokenizedBleuForm>& tokenized_bleu = {},
                           const std::string& target_language = "", bool lowercase = false);

/// The scores, with signatures. bootstrap: resamples for a confidence interval, for which SACREBLEU_SEED is read; 1 for
/// none.
std::vector<scoring::Score> score(const SystemOutput& system, const TestSet& test_set, int64_t bootstrap = 1,
                                  const Metrics& metrics = evaluation_metrics());

/// The scores of several systems, each compared with the first by paired bootstrap resampling.
scoring::PairedTable compare(const std::vector<SystemOutput>& systems, const TestSet& test_set,
                             const Metrics& metrics = evaluation_metrics());

/// Sources, first references and hypotheses.
TranslatedText translated_text(const TestSet& test_set, const SystemOutput& system);

/// One system in the JSON report: its scores unrounded and as sacreBLEU prints them, speed, counts.
nlohmann::ordered_json report_of(const SystemOutput& system, const std::vector<scoring::Score>& scores);
nlohmann::ordered_json report_of(const TestSet& test_set);
/// The section `decoding`: what differs from the defaults, and what always matters.
nlohmann::ordered_json report_of(const DecodingConfig& decoding);
nlohmann::ordered_json report_of(const scoring::PairedTable& table);

}  // namespace nmt
