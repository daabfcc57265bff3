#include "data/preparation/cleaning_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace nmt {
namespace {

constexpr size_t kExamples = 10;

}  // namespace

std::string tsv_column(std::string_view text) {
  std::string column(text);
  std::ranges::replace(column, '\t', ' ');
  return column;
}

CleaningReport::CleaningReport(const std::filesystem::path& dropped, const ContentRules& rules, int64_t seed)
    : dropped_(dropped), seed_(static_cast<uint64_t>(seed)) {
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

void CleaningReport::finish(const std::filesystem::path& page) {
  for (auto& verdict : page_.verdicts) std::ranges::sort(verdict.examples, {}, &CleaningPage::Example::number);
  dropped_.commit();
  write_file_atomically(page, cleaning_page(page_));
}

}  // namespace nmt
