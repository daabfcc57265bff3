#include "scoring/corpus/corpus_score.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/unicode.h"
#include "scoring/corpus/resampling.h"

namespace nmt::scoring {
namespace {

std::string_view view_of(const std::string& text) { return text; }
std::string_view view_of(const std::optional<std::string>& text) { return text ? *text : std::string_view(); }

/// One block over the whole corpus, checked.
template <typename Sets>
SegmentBlock checked_block(std::span<const std::string> hypotheses, const Sets& references, const std::string& name) {
  if (hypotheses.empty()) throw Error(name + ": there are no hypotheses");
  if (references.empty()) throw Error(name + ": there are no references");
  const auto check = [&](std::string_view text, std::string_view what, size_t line) {
    if (const auto at = find_invalid_utf8(text))
      throw Error(fmt::format("{}: {}, line {}: not UTF-8 at byte {}", name, what, line, *at + 1));
  };
  SegmentBlock block;
  block.hypotheses.emplace_back(hypotheses.begin(), hypotheses.end());
  for (const auto& set : references) {
    if (set.size() != hypotheses.size())
      throw Error(fmt::format("{}: {} hypotheses, but {} references; both need one line a segment", name,
                              hypotheses.size(), set.size()));
    auto& views = block.references.emplace_back();
    for (const auto& line : set) {
      views.push_back(view_of(line));
      check(views.back(), "references", views.size());
    }
  }
  for (size_t i = 0; i < hypotheses.size(); ++i) check(hypotheses[i], "hypotheses", i + 1);
  return block;
}

/// A metric that someone else owns, where a shared one is asked for.
std::shared_ptr<const Metric> borrowed(const Metric& metric) { return {std::shared_ptr<void>(), &metric}; }

Score score_block(const Metric& metric, const SegmentBlock& block, const CorpusOptions& options) {
  const bool resamples = options.bootstrap > 1;
  CorpusStatistics statistics({borrowed(metric)}, 1, resamples ? Keep::kFloat32 : Keep::kSums, options.threads);
  statistics.add(block);
  Score score = metric.score_of(statistics.sums(0, 0));
  SignatureFacts facts{.references = statistics.references()};
  if (resamples) {
    const ResampledSystem system{.metric = &metric, .statistics = &statistics.resample_matrix(0, 0)};
    const auto scores = bootstrap(std::span(&system, 1),
                                  {.samples = options.bootstrap, .seed = options.seed, .threads = options.threads});
    score.confidence = confidence_interval(scores.front());
    facts.bootstrap = options.bootstrap;
    facts.seed = options.seed.text;
  }
  score.signature = metric.signature(facts);
  return score;
}

}  // namespace

SegmentBlock block_of(std::span<const std::string> hypotheses, const References& references, const std::string& name) {
  return checked_block(hypotheses, references, name);
}

Score score_corpus(const Metric& metric, std::span<const std::string> hypotheses, const References& references,
                   const CorpusOptions& options) {
  return score_block(metric, checked_block(hypotheses, references, "scoring"), options);
}

Score score_corpus_optional(const Metric& metric, std::span<const std::string> hypotheses,
                            const OptionalReferences& references, const CorpusOptions& options) {
  return score_block(metric, checked_block(hypotheses, references, "scoring"), options);
}

Score score_sentence(const Metric& metric, std::string_view hypothesis, std::span<const std::string> references) {
  const std::string text(hypothesis);
  References sets;
  for (const std::string& reference : references) sets.push_back({reference});
  const auto of_sentences = metric.for_sentences();
  return score_corpus(of_sentences ? *of_sentences : metric, std::span(&text, 1), sets, {.threads = 1});
}

}  // namespace nmt::scoring
