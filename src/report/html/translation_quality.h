#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nmt {

/// chrF2 of each sentence by itself, in percent.
std::vector<double> sentence_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references);

/// The corpus scores of the sentences of like length.
struct LengthClass {
  int64_t min = 0, max = 0;  ///< words of the source
  int64_t sentences = 0;
  double bleu = 0, chrf = 0;
};

/// Scores by the words of the source (what white space is between): 0 to 5, 6 to 10, ... 31 to 40, 41 to 60 and more
/// (most: 0); classes without sentences are left out. The three have one entry a sentence.
std::vector<LengthClass> scores_by_length(std::span<const std::string> sources, std::span<const std::string> references,
                                          std::span<const std::string> hypotheses);

/// The `count` highest and lowest of `scores`, as indices: highest first and lowest first. Where scores are equal, the
/// longer reference comes first: it tells more.
struct Extremes {
  std::vector<size_t> best, worst;
};
Extremes best_and_worst(std::span<const double> scores, std::span<const std::string> references, size_t count);

}  // namespace nmt
