#include "data/preparation/cleaning_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace nmt {
namespace {

constexpr size_t kExamples = 10;
constexpr int64_t kFewPairs = 100, kLargeShare = 5;  // a fifth

bool has_moses_escapes(std::string_view text) {
  return text.find("&apos;") != std::string_view::npos || text.find("&quot;") != std::string_view::npos;
}

}  // namespace

std::string tsv_column(std::string_view text) {
  std::string column(text);
  std::ranges::replace(column, '\t', ' ');
  return column;
}

CleaningReport::CleaningReport(const std::filesystem::path& dropped, const ContentRules& rules, int64_t seed)
    : dropped_(dropped), dropped_name_(dropped.filename()), seed_(static_cast<uint64_t>(seed)) {
  for (int i = 0; i < kVerdicts; ++i)
    page_.verdicts.push_back({.name = std::string(name_of_verdict(static_cast<Verdict>(i)))});
  for (const auto& rule : rules.rules())
    page_.histograms.push_back({.rule = name_of(rule->rule()), .threshold = rule->threshold(), .usual = rule->usual()});
}

void CleaningReport::add(const std::string& corpus, int64_t number, const TextPair& text, const ContentFinding& finding,
                         const Judgement& judgement) {
  const auto& [verdict, score] = judgement;
  auto& of_verdict = page_.verdicts[static_cast<size_t>(verdict)];
  if (verdict != Verdict::kKept)
    dropped_.write(fmt::format("{}\t{}\t{}\t{:.4g}\t{}\t{}\n", number, tsv_column(corpus), of_verdict.name, score,
                               tsv_column(text.source), tsv_column(text.target)));
  if (verdict == verdict_of(CleaningRule::kMarkup))
    escaped_ += has_moses_escapes(text.source) || has_moses_escapes(text.target);
  for (size_t i = 0; i < finding.scores.size(); ++i) page_.histograms[i].add(finding.scores[i]);
  const auto pairs = static_cast<uint64_t>(++of_verdict.pairs);
  // Every pair of a verdict has the same chance (algorithm R of Waterman).
  const auto place =
      pairs <= kExamples ? pairs - 1 : CounterRandom({seed_, static_cast<uint64_t>(verdict), pairs}).below(pairs);
  if (place >= kExamples) return;
  of_verdict.examples.resize(std::min<size_t>(kExamples, pairs));
  of_verdict.examples[place] = {
      .corpus = corpus, .number = number, .score = score, .source = text.source, .target = text.target};
}

std::vector<std::string> CleaningReport::warnings(const CleaningRow& row) {
  const int64_t escaped = std::exchange(escaped_, 0), read = row.counts.read;
  std::vector<std::string> warnings;
  if (read < kFewPairs) return warnings;
  for (int i = 1; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const int64_t dropped = row.counts.of(verdict);
    if (dropped * kLargeShare <= read) continue;
    const bool is_moses = verdict == verdict_of(CleaningRule::kMarkup) && escaped * 2 > dropped;
    warnings.push_back(fmt::format(
        "{}: the rule {} drops {:.0f} % of the pairs; {}", row.name, name_of_verdict(verdict),
        100 * static_cast<double>(dropped) / static_cast<double>(read),
        is_moses ? "most have &apos; or &quot;, as Moses tokens do: make text of them first by nmt-prepro "
                   "--detokenize, a side at a time"
                 : fmt::format("look at them in {}: where they are good, leave the rule out", dropped_name_)));
  }
  return warnings;
}

void CleaningReport::finish(const std::filesystem::path& page) {
  for (auto& verdict : page_.verdicts) std::ranges::sort(verdict.examples, {}, &CleaningPage::Example::number);
  dropped_.commit();
  write_file_atomically(page, cleaning_page(page_));
}

}  // namespace nmt
