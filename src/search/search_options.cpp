#include "search/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace nmt {
namespace {

void require(bool fine, const char* what, double value, const char* use) {
  if (!fine || !std::isfinite(value)) throw Error(fmt::format("{} {}: use {}", what, value, use));
}

}  // namespace

void SearchOptions::validate() const {
  if (beam_size < 1) throw Error(fmt::format("beam size {}: use 1 (greedy) or more", beam_size));
  if (sampling) {
    require(temperature > 0, "temperature", temperature, "more than 0");
    if (top_k < 0) throw Error(fmt::format("top-k {}: use 1 or more tokens, or 0 for all", top_k));
    require(top_p > 0 && top_p <= 1, "top-p", top_p, "more than 0 and at most 1 (all)");
    if (beam_size != 1) throw Error(fmt::format("sampling: draws its tokens, it has no beam of {}; use 1", beam_size));
    if (n_best < 1) throw Error(fmt::format("n-best {}: use 1 sample or more", n_best));
    if (mbr != RiskUtility::kNone && n_best > mbr_samples)
      throw Error(fmt::format("n-best {}: use 1 to {}, the samples of mbr", n_best, mbr_samples));
  } else if (n_best < 1 || n_best > beam_size) {
    throw Error(fmt::format("n-best {}: use 1 to {}, the beam size", n_best, beam_size));
  }
  if (diversity_groups < 1 || beam_size % diversity_groups != 0) {
    throw Error(fmt::format("diversity groups {}: use 1 or a number that divides the beam size {}", diversity_groups,
                            beam_size));
  }
  require(diversity_strength >= 0, "diversity strength", diversity_strength, "0 or more");
  require(length_penalty >= 0, "length penalty", length_penalty, "0 (none) or more");
  require(coverage_penalty >= 0, "coverage penalty", coverage_penalty, "0 (none) or more");
  if (coverage_penalty > 0 && sampling)
    throw Error("coverage penalty: ranks hypotheses, but samples come as they are drawn; use one of them");
  require(max_length_ratio >= 0, "maximum length ratio", max_length_ratio, "0 or more");
  if (max_length_offset < 0) throw Error(fmt::format("maximum length offset {}: use 0 or more", max_length_offset));
  if (max_length < 0) throw Error(fmt::format("maximum length {}: use 1 or more, or 0 for none", max_length));
  if (max_length_ratio == 0 && max_length_offset == 0) {
    throw Error("maximum length: ratio and offset are both 0, which leaves no room for a translation");
  }
  if (min_length < 0) throw Error(fmt::format("minimum length {}: use 0 (none) or more", min_length));
  if (max_length > 0 && min_length >= max_length) {
    throw Error(fmt::format("minimum length {}: leaves no room for the end symbol within the maximum length {}",
                            min_length, max_length));
  }
  if (no_repeat_ngram_size < 0) throw Error(fmt::format("n-gram size {}: use 0 (off) or more", no_repeat_ngram_size));
  require(repetition_penalty > 0, "repetition penalty", repetition_penalty, "more than 0; 1 is none");
  if (alignment_head < 0) throw Error(fmt::format("alignment head {}: use 1 or more, or 0", alignment_head));
  if (alignment_layer < 0) throw Error(fmt::format("alignment layer {}: use 1 or more, or 0", alignment_layer));
}

double SearchOptions::penalty(int64_t tokens) const {
  const double length = static_cast<double>(tokens);
  const double base = length_penalty_form == LengthPenalty::kPaper ? (5.0 + length) / 6.0 : length;
  return std::pow(base, length_penalty);
}

int64_t SearchOptions::length_limit(int64_t source_pieces) const {
  // A limit that no memory could reach stands for "none" and keeps the arithmetic in range.
  constexpr double kHighest = 1e9;
  const double wanted = std::floor(max_length_ratio * static_cast<double>(source_pieces + 1)) + max_length_offset;
  const auto limit = std::max(static_cast<int64_t>(std::clamp(wanted, 1.0, kHighest)), min_length + 1);
  return max_length > 0 ? std::min(limit, max_length) : limit;
}

}  // namespace nmt
