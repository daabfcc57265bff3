#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "report/html/cleaning_page.h"
#include "text/corpus/cleaning.h"
#include "text/corpus/content_rules.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

// In the folder of prepared data, with data.clean.
constexpr const char* kDroppedFile = "dropped.tsv";
constexpr const char* kCleaningPage = "cleaning.html";

/// What cleaning did, for a person to judge. Every pair that is dropped goes to a TSV file, a line each: its number in
/// the corpus, from 1, the corpus, the rule, the score, source and target. A page has some pairs of each verdict, drawn
/// by the seed, and how the scores are spread.
class CleaningReport {
 public:
  /// dropped: the TSV file. rules must outlive this. Throws as AtomicFile does.
  CleaningReport(const std::filesystem::path& dropped, const ContentRules& rules, int64_t seed);

  /// Each pair of the training text, in order. Throws MachineError (disk full).
  void add(const std::string& corpus, int64_t number, const TextPair& text, const ContentFinding& finding,
           const Judgement& judgement);
  /// Behind the last pair of a corpus: a line for each rule that dropped more than a fifth of it, if it has 100 pairs.
  std::vector<std::string> warnings(const CleaningRow& row);
  /// Puts both files in their places; the last call. Throws MachineError.
  void finish(const std::filesystem::path& page);

 private:
  AtomicFile dropped_;
  std::string dropped_name_;
  int64_t escaped_ = 0;  // pairs of this corpus that markup dropped for what Moses makes of quotation marks
  CleaningPage page_;
  uint64_t seed_;
};

/// A text as a column of TSV: tabs are spaces.
std::string tsv_column(std::string_view text);

}  // namespace nmt
