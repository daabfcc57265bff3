#include "text/corpus/cleaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/process/log.h"
#include "base/random.h"
#include "base/unicode.h"

namespace nmt {

std::string_view name_of_verdict(Verdict verdict) {
  constexpr std::array<std::string_view, static_cast<size_t>(Verdict::kContent)> kFirst = {
      "kept", "empty", "duplicate", "test_overlap", "source_too_long", "target_too_long", "length_ratio"};
  const auto i = static_cast<size_t>(verdict);
  return i < kFirst.size() ? kFirst[i] : kNames<CleaningRule>[i - kFirst.size() + 1];
}

CleaningCounts& CleaningCounts::operator+=(const CleaningCounts& other) {
  read += other.read;
  for (size_t i = 0; i < verdicts.size(); ++i) verdicts[i] += other.verdicts[i];
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

void HeldOutText::add(const Spelling& source, const Spelling& target) {
  if (source.hash != 0) source_spellings_.insert(source.hash);
  if (target.hash != 0) target_spellings_.insert(target.hash);
}

int64_t HeldOutText::spelled_sides(const ContentFinding& pair) const {
  const bool source = pair.source.hash != 0 && source_spellings_.contains(pair.source.hash);
  const bool target = pair.target.hash != 0 && target_spellings_.contains(pair.target.hash);
  if (source && target) return 2;
  return (source && pair.source.is_long) || (target && pair.target.is_long) ? 1 : 0;
}

bool HeldOutText::contains(const PairHashes& pair) const {
  return sources_.contains(pair.source) && targets_.contains(pair.target);
}

CleaningRules::CleaningRules(CleaningOptions options, const HeldOutText& held_out, const std::filesystem::path& folder)
    : options_(std::move(options)),
      held_out_(held_out),
      seen_(folder.empty() ? HashSet() : HashSet(folder)),
      seen_spellings_(folder.empty() ? HashSet() : HashSet(folder)) {}

CleaningRules::Found CleaningRules::find(const PairHashes& pair) {
  if (pair.has_empty_side) return {{options_.drop_empty ? Verdict::kEmpty : Verdict::kKept, 1}};
  // What is dropped for itself is nothing that a later pair repeats.
  if (pair.content.rule) return {{verdict_of(*pair.content.rule), pair.content.score}};
  // Mixed in order: a pair and its reverse are two pairs.
  const bool repeated = !seen_.insert(mix64(pair.source) + pair.target);
  const bool overlaps = held_out_.contains(pair);
  const auto judgement = [&]() -> Judgement {
    if (repeated && options_.drop_duplicates) return {Verdict::kDuplicate, 1};
    if (overlaps && options_.drop_test_overlap) return {Verdict::kTestOverlap, 1};
    const int64_t spelled = options_.uses(CleaningRule::kHeldOut) ? held_out_.spelled_sides(pair.content) : 0;
    return spelled > 0 ? Judgement{verdict_of(CleaningRule::kHeldOut), static_cast<double>(spelled)} : Judgement{};
  };
  return {judgement(), repeated, overlaps};
}

Verdict CleaningRules::judge_text(const PairHashes& pair) {
  const Verdict verdict = find(pair).judgement.verdict;
  return verdict == Verdict::kKept ? judge_spelling(pair.content).verdict : verdict;
}

Judgement CleaningRules::judge(const PairHashes& pair, Lengths lengths, CleaningCounts& counts) {
  ++counts.read;
  const Found found = find(pair);
  Judgement judgement = found.judgement;
  if (judgement.verdict == Verdict::kKept) judgement = judge_lengths(lengths);
  if (judgement.verdict == Verdict::kKept) judgement = judge_spelling(pair.content);
  const Verdict verdict = judgement.verdict;
  ++counts.verdicts[static_cast<size_t>(verdict)];
  const auto is_kept_or = [&](Verdict reason) { return verdict == Verdict::kKept || verdict == reason; };
  if (found.repeated && is_kept_or(Verdict::kDuplicate)) ++counts.duplicates;
  if (found.overlaps && is_kept_or(Verdict::kTestOverlap)) ++counts.test_overlap;
  return judgement;
}

Judgement CleaningRules::judge_lengths(Lengths lengths) const {
  const int64_t source = lengths.source - lengths.prefix;  // std::minmax returns references
  const auto [shorter, longer] = std::minmax(source, lengths.target);
  if (shorter == 0 && options_.drop_empty) return {Verdict::kEmpty, 1};
  if (const int64_t length = lengths.source + options_.source_markers; length > options_.maxlen1)
    return {Verdict::kSourceTooLong, static_cast<double>(length)};
  if (lengths.target + 1 > options_.maxlen2) return {Verdict::kTargetTooLong, static_cast<double>(lengths.target + 1)};
  const double limit = options_.max_length_ratio;
  if (limit > 0 && static_cast<double>(longer) > limit * static_cast<double>(shorter))
    return {Verdict::kLengthRatio, static_cast<double>(longer) / static_cast<double>(std::max<int64_t>(shorter, 1))};
  return {};
}

/// Comes last: what is dropped otherwise is nothing that a later pair repeats.
Judgement CleaningRules::judge_spelling(const ContentFinding& pair) {
  if (!options_.uses(CleaningRule::kNearDuplicates) || (pair.source.hash == 0 && pair.target.hash == 0)) return {};
  if (seen_spellings_.insert(mix64(pair.source.hash) + pair.target.hash)) return {};
  return {verdict_of(CleaningRule::kNearDuplicates), 1};
}

namespace {

using Row = std::vector<std::string>;

/// A count of pairs that were found but not dropped.
std::string only_counted(int64_t count) { return count == 0 ? "0" : "(" + with_commas(count) + ")"; }

Row header(const CleaningOptions& options) {
  Row cells{"corpus",          "pairs read",   "kept",      "empty",      "source too long",
            "target too long", "length ratio", "duplicate", "in test set"};
  for (const CleaningRule rule : options.clean) cells.push_back(name_of(rule));
  cells.push_back("lines repaired");
  return cells;
}

Row cells(const CleaningRow& row, const CleaningOptions& options) {
  const CleaningCounts& counts = row.counts;
  Row cells{row.name, with_commas(counts.read)};
  if (!row.is_training) {
    cells.push_back(with_commas(counts.read));
    cells.insert(cells.end(), 6 + options.clean.size(), "-");
  } else {
    const auto dropped = [&](Verdict verdict) { return with_commas(counts.of(verdict)); };
    cells.push_back(with_commas(counts.kept()));
    cells.push_back(options.drop_empty ? dropped(Verdict::kEmpty) : "off");
    cells.push_back(dropped(Verdict::kSourceTooLong));
    cells.push_back(dropped(Verdict::kTargetTooLong));
    cells.push_back(options.max_length_ratio > 0 ? dropped(Verdict::kLengthRatio) : "off");
    cells.push_back(options.drop_duplicates ? dropped(Verdict::kDuplicate) : only_counted(counts.duplicates));
    cells.push_back(options.drop_test_overlap ? dropped(Verdict::kTestOverlap) : only_counted(counts.test_overlap));
    for (const CleaningRule rule : options.clean) cells.push_back(dropped(verdict_of(rule)));
  }
  cells.push_back(with_commas(counts.repaired_lines));
  return cells;
}

size_t columns_of(const std::string& text) { return to_code_points(text).size(); }

std::string format_rows(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string table;
  for (const auto& row : rows) {
    std::string line = row[0] + std::string(widths[0] - columns_of(row[0]), ' ');
    for (size_t i = 1; i < row.size(); ++i) {
      line += std::string(2 + widths[i] - columns_of(row[i]), ' ') + row[i];
    }
    table += line + "\n";
  }
  return table;
}

}  // namespace

std::string cleaning_table(const std::vector<CleaningRow>& rows, const CleaningOptions& options) {
  std::vector<Row> lines{header(options)};
  CleaningRow sum{.name = "training text together"};
  int64_t training_rows = 0, counted = 0;
  for (const auto& row : rows) {
    lines.push_back(cells(row, options));
    if (!row.is_training) continue;
    ++training_rows;
    sum.counts += row.counts;
  }
  if (training_rows > 1) lines.insert(lines.begin() + 1 + training_rows, cells(sum, options));
  if (!options.drop_duplicates) counted += sum.counts.duplicates;
  if (!options.drop_test_overlap) counted += sum.counts.test_overlap;
  std::string table = format_rows(lines);
  if (counted > 0) {
    table += "(n): found and kept; data.drop_duplicates and data.drop_test_overlap drop them\n";
  }
  return table;
}

}  // namespace nmt
