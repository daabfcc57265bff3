#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/corpus/hash_set.h"

namespace nmt {

/// Why a training pair is kept or dropped; the rules are asked in this order, and the first that holds counts.
enum class Verdict {
  kKept,
  kEmpty,          ///< a side without text, or whose text gives no piece
  kDuplicate,      ///< the same pair stood before
  kTestOverlap,    ///< its source and its target both stand in the validation or test sets
  kSourceTooLong,  ///< pieces and what stands around them (the target: the end symbol)
  kTargetTooLong,
  kLengthRatio,  ///< longer side / shorter side, in the sentences' own pieces
};
constexpr int kVerdicts = 7;

/// The training text's rules; the names are those of the data section.
struct CleaningOptions {
  bool drop_empty = true;
  bool drop_duplicates = false;    ///< otherwise only counted
  bool drop_test_overlap = false;  ///< otherwise only counted
  int64_t source_markers = 1;      ///< tokens that are counted beside a source's pieces
  int64_t maxlen1 = 100;
  int64_t maxlen2 = 100;
  double max_length_ratio = 0;  ///< 0 = off
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

/// What finds a pair again. Made on any thread, since it reads the whole text.
struct PairHashes {
  PairHashes() = default;
  PairHashes(std::string_view source_text, std::string_view target_text);
  uint64_t source = 0, target = 0;
  bool has_empty_side = true;
};

/// The sentences of the validation and test sets, to find training pairs among them.
class HeldOutText {
 public:
  void add(std::string_view source, std::string_view target);
  bool contains(const PairHashes& pair) const;

 private:
  HashSet sources_, targets_;
};

/// Decides pair by pair, in the order of the training text. Texts are as they are encoded (normalised).
class CleaningRules {
 public:
  /// seen: empty; the pairs go there.
  CleaningRules(CleaningOptions options, const HeldOutText& held_out, HashSet seen = {});

  /// The rules that need the text alone.
  Verdict judge_text(const PairHashes& pair) { return find(pair).verdict; }
  /// All rules; lengths are in pieces, without end symbols. Counts the verdict.
  struct Lengths {
    int64_t source, target;
    int64_t prefix = 0;  ///< how many of the source's stand before the sentence: they count for maxlen1 alone
  };
  Verdict judge(const PairHashes& pair, Lengths lengths, CleaningCounts& counts);

 private:
  struct Found {
    Verdict verdict;
    bool repeated = false, overlaps = false;
  };
  Found find(const PairHashes& pair);
  Verdict judge_lengths(Lengths lengths) const;
  CleaningOptions options_;
  const HeldOutText& held_out_;
  HashSet seen_;
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
