#include "text/corpus/cleaning.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace nmt {

CleaningCounts& CleaningCounts::operator+=(const CleaningCounts& other) {
  read += other.read;
  for (int i = 0; i < kVerdicts; ++i) verdicts[i] += other.verdicts[i];
  duplicates += other.duplicates;
  test_overlap += other.test_overlap;
  repaired_lines += other.repaired_lines;
  return *this;
}

PairHashes::PairHashes(std::string_view source_text, std::string_view target_text)
    : source(hash_of_text(source_text)),
      target(hash_of_text(target_text)),
      has_empty_side(source_text.empty() || target_text.empty()) {}

void HeldOutText::add(std::string_view source, std::string_view target) {
  sources_.insert(hash_of_text(source));
  targets_.insert(hash_of_text(target));
}

bool HeldOutText::contains(const PairHashes& pair) const {
  return sources_.contains(pair.source) && targets_.contains(pair.target);
}

CleaningRules::CleaningRules(CleaningOptions options, const HeldOutText& held_out, HashSet seen)
    : options_(options), held_out_(held_out), seen_(std::move(seen)) {}

CleaningRules::Found CleaningRules::find(const PairHashes& pair) {
  if (pair.has_empty_side) return {options_.drop_empty ? Verdict::kEmpty : Verdict::kKept};
  // Mixed in order: a pair and its reverse are two pairs.
  const bool repeated = !seen_.insert(mix64(pair.source) + pair.target);
  const bool overlaps = held_out_.contains(pair);
  const auto verdict = [&] {
    if (repeated && options_.drop_duplicates) return Verdict::kDuplicate;
    if (overlaps && options_.drop_test_overlap) return Verdict::kTestOverlap;
    return Verdict::kKept;
  };
  return {verdict(), repeated, overlaps};
}

Verdict CleaningRules::judge(const PairHashes& pair, Lengths lengths, CleaningCounts& counts) {
  ++counts.read;
  const Found found = find(pair);
  const Verdict verdict = found.verdict == Verdict::kKept ? judge_lengths(lengths) : found.verdict;
  ++counts.verdicts[static_cast<int>(verdict)];
  const auto is_kept_or = [&](Verdict reason) { return verdict == Verdict::kKept || verdict == reason; };
  if (found.repeated && is_kept_or(Verdict::kDuplicate)) ++counts.duplicates;
  if (found.overlaps && is_kept_or(Verdict::kTestOverlap)) ++counts.test_overlap;
  return verdict;
}

Verdict CleaningRules::judge_lengths(Lengths lengths) const {
  const int64_t source = lengths.source - lengths.prefix;  // std::minmax returns references
  const auto [shorter, longer] = std::minmax(source, lengths.target);
  if (shorter == 0 && options_.drop_empty) return Verdict::kEmpty;
  if (lengths.source + options_.source_markers > options_.maxlen1) return Verdict::kSourceTooLong;
  if (lengths.target + 1 > options_.maxlen2) return Verdict::kTargetTooLong;
  const double limit = options_.max_length_ratio;
  if (limit > 0 && static_cast<double>(longer) > limit * static_cast<double>(shorter)) return Verdict::kLengthRatio;
  return Verdict::kKept;
}

}  // namespace nmt
