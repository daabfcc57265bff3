#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "text/corpus/hash_set.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

/// What a text is, as far as a choice of model and training needs it.
struct TextSurvey {
  int64_t pairs = 0;                                ///< with text on both sides
  int64_t target_words = 0, target_characters = 0;  ///< of these pairs
  int64_t documents = 1;                            ///< parts between pairs that are empty on both sides

  double words() const { return pairs ? double(target_words) / double(pairs) : 0; }  ///< of a target, on average
};

/// About how many pairs are held out for each set.
struct HeldOutSizes {
  int64_t valid = 0, test = 0;
};

/// A twentieth of the text for each set, at least 100 and at most 2,000 pairs.
HeldOutSizes held_out_sizes(int64_t pairs);

inline constexpr std::array<std::string_view, 3> kTextParts{"train", "valid", "test"};
using PartSizes = std::array<int64_t, 3>;  ///< pairs of each part

/// A parallel text, in one or two regular files: it is read once when it is looked at, and twice when it is divided.
class OwnText {
 public:
  /// Throws Error, as CorpusReader does, and for what is no regular file.
  OwnText(CorpusFiles files, const ReadingOptions& reading);

  const TextSurvey& survey() const { return survey_; }

  /// Writes FOLDER/PART.LANGUAGE for the training text and for each set that has a size, complete or not at all. Whole
  /// documents are drawn where there are at least 20, else single pairs, by a hash of the source: the same text is
  /// divided in the same way each time. Of what is drawn, a pair is held out only if neither of its sides stands a
  /// second time in the text, so that no line stands on both sides; all others are training text.
  /// Throws Error where not even twice as many pairs are of that kind; MachineError.
  PartSizes split(HeldOutSizes sizes, const std::filesystem::path& folder) const;

 private:
  template <typename Call>
  void for_each(const Call& call) const;
  bool stands_once(const TextPair& pair) const;

  const CorpusFiles files_;
  const ReadingOptions reading_;
  TextSurvey survey_;
  HashSet repeated_;  // lines that stand in the text more than once, on whatever side
};

}  // namespace nmt
