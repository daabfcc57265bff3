#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/kinds.h"
#include "text/corpus/content_rules.h"
#include "text/corpus/hash_set.h"

namespace nmt {

/// Why a training pair is kept or dropped. The rules of data.clean that look at one pair alone are asked behind kEmpty,
/// then the others in this order, near duplicates last; the first that holds counts.
enum class Verdict {
  kKept,
  kEmpty,          ///< a side without text, or whose text gives no piece
  kDuplicate,      ///< the same pair stood before
  kTestOverlap,    ///< its source and its target both stand in the validation or test sets
  kSourceTooLong,  ///< pieces and what stands around them (the target: the end symbol)
  kTargetTooLong,
  kLengthRatio,  ///< longer side / shorter side, in the sentences' own pieces
  kContent,      ///< the first rule of data.clean; the others follow in the order of CleaningRule
};
constexpr int kContentRules = static_cast<int>(kNames<CleaningRule>.size()) - 1;  ///< all is none of them
constexpr int kVerdicts = static_cast<int>(Verdict::kContent) + kContentRules;

constexpr Verdict verdict_of(CleaningRule rule) {
  return static_cast<Verdict>(static_cast<int>(Verdict::kContent) + static_cast<int>(rule) - 1);
}
/// "source_too_long", "numbers": as manifest.json and dropped.tsv have it.
std::string_view name_of_verdict(Verdict verdict);

/// The training text's rules; the names are those of the data section.
struct CleaningOptions {
  bool drop_empty = true;
  bool drop_duplicates = false;    ///< otherwise only counted
  bool drop_test_overlap = false;  ///< otherwise only counted
  int64_t source_markers = 1;      ///< tokens that are counted beside a source's pieces
  int64_t maxlen1 = 100;
  int64_t maxlen2 = 100;
  double max_length_ratio = 0;           ///< 0 = off
  std::vector<CleaningRule> clean = {};  ///< without all
  bool uses(CleaningRule rule) const { return std::ranges::find(clean, rule) != clean.end(); }
};

/// What became of a corpus' pairs.
struct CleaningCounts {
  int64_t read = 0;
  std::array<int64_t, kVerdicts> verdicts{};
  int64_t duplicates = 0;      ///< dropped as such, or kept; those dropped for another reason do not count
  int64_t test_overlap = 0;    ///< the same
  int64_t repaired_lines = 0;  ///< with bytes that were not UTF-8
  int64_t kept() const { return verdicts[static_cast<int>(Verdict::kKept)]; }
  int64_t of(Verdict verdict) const { return verdicts[static_cast<int>(verdict)]; }
  CleaningCounts& operator+=(const CleaningCounts& other);
};

/// What finds a pair again, and what is known of it. Made on any thread, since it reads the whole text.
struct PairHashes {
  PairHashes() = default;
  PairHashes(std::string_view source_text, std::string_view target_text);
  uint64_t source = 0, target = 0;
  bool has_empty_side = true;
  ContentFinding content = {};  ///< ContentRules::judge
};

/// The sentences of the validation and test sets, to find training pairs among them.
class HeldOutText {
 public:
  void add(std::string_view source, std::string_view target);
  void add(const Spelling& source, const Spelling& target);
  bool contains(const PairHashes& pair) const;
  /// How many sides stand there in any spelling, if both do or one is long; else 0.
  int64_t spelled_sides(const ContentFinding& pair) const;

 private:
  HashSet sources_, targets_;
  HashSet source_spellings_, target_spellings_;
};

/// What becomes of a pair, and the figure that decided: of a rule of data.clean its score; pieces; their ratio; else 1.
struct Judgement {
  Verdict verdict = Verdict::kKept;
  double score = 0;
};

/// Decides pair by pair, in the order of the training text. Texts are as they are encoded (normalised).
class CleaningRules {
 public:
  /// folder: where sets of more than 22 million hashes move to (HashSet); empty: they stay in memory.
  CleaningRules(CleaningOptions options, const HeldOutText& held_out, const std::filesystem::path& folder = {});

  /// The rules that need the text alone.
  Verdict judge_text(const PairHashes& pair);
  /// All rules; lengths are in pieces, without end symbols. Counts the verdict.
  struct Lengths {
    int64_t source, target;
    int64_t prefix = 0;  ///< how many of the source's stand before the sentence: they count for maxlen1 alone
  };
  Judgement judge(const PairHashes& pair, Lengths lengths, CleaningCounts& counts);

 private:
  struct Found {
    Judgement judgement;
    bool repeated = false, overlaps = false;
  };
  Found find(const PairHashes& pair);
  Judgement judge_lengths(Lengths lengths) const;
  Judgement judge_spelling(const ContentFinding& pair);
  CleaningOptions options_;
  const HeldOutText& held_out_;
  HashSet seen_, seen_spellings_;
};

/// What became of one corpus: a row of the table.
struct CleaningRow {
  std::string name = {};
  CleaningCounts counts = {};
  bool is_training = true;  ///< others are never filtered
};

/// "What was kept and dropped and why": a row a corpus, their sum where there are several, and what the marks mean.
std::string cleaning_table(const std::vector<CleaningRow>& rows, const CleaningOptions& options);

}  // namespace nmt
