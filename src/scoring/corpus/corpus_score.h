#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scoring/corpus/metric.h"
#include "scoring/corpus/resampling.h"
#include "scoring/python/numpy_random.h"

namespace nmt::scoring {

/// References of a corpus: references[set][line]; every set has as many lines as the hypotheses.
using References = std::vector<std::vector<std::string>>;
/// The same where a segment may lack some of them; one at least must be there. nrefs is then "var".
using OptionalReferences = std::vector<std::vector<std::optional<std::string>>>;

/// How a corpus is scored.
struct CorpusOptions {
  int threads = 0;        ///< 0: all processors; figures do not depend on it
  int64_t bootstrap = 1;  ///< resamples for a confidence interval; 1: none
  Seed seed = {};         ///< of the resamples
};

/// A system and its references as one block, which looks into them. Throws nmt::Error ("NAME: ...") if the numbers of
/// lines differ or there are none, and for text that is not UTF-8.
SegmentBlock block_of(std::span<const std::string> hypotheses, const References& references, const std::string& name);

/// The score of a corpus, with its signature. Throws nmt::Error if the numbers of lines differ or there are none.
Score score_corpus(const Metric& metric, std::span<const std::string> hypotheses, const References& references,
                   const CorpusOptions& options = {});
Score score_corpus_optional(const Metric& metric, std::span<const std::string> hypotheses,
                            const OptionalReferences& references, const CorpusOptions& options = {});
/// The score of one sentence, with its signature, by Metric::for_sentences().
Score score_sentence(const Metric& metric, std::string_view hypothesis, std::span<const std::string> references);

}  // namespace nmt::scoring
