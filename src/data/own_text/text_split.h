#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// What a text is, as far as a choice of model and training needs it.
struct TextSurvey {
  int64_t pairs = 0;  ///< with text on both sides
  int64_t source_characters = 0, target_characters = 0, target_words = 0;
  int64_t documents = 0;  ///< parts between pairs that are empty on both sides; 1 where there are none

  double words() const { return pairs ? double(target_words) / double(pairs) : 0; }  ///< of a target, on average
};

/// Reads all pairs of the files. Throws Error, as CorpusReader does.
TextSurvey survey_text(const std::vector<CorpusFiles>& files, const ReadingOptions& reading);

enum class TextPart { kTrain, kValid, kTest };
inline constexpr std::array<std::string_view, 3> kTextParts{"train", "valid", "test"};

/// About how many pairs are held out for each set.
struct HeldOutSizes {
  int64_t valid = 0, test = 0;
};

/// A twentieth of the text for each set, at least 100 and at most 2,000 pairs.
HeldOutSizes held_out_sizes(int64_t pairs);

struct SplitCounts {
  std::array<int64_t, 3> pairs = {};  ///< of each part
  int64_t left_out = 0;               ///< a side of a held-out pair stands in the training text, too
};

/// Divides a text: whole documents go to one part where it has at least 20, else all pairs of one source. The part is
/// a function of the text alone (a hash of the document's first source, or of the source). No line of a side of the
/// held-out parts stands in the training text: where one would, its pair is left out. Writes FOLDER/PART.LANGUAGE for
/// each part that has a size and for the training text, complete or not at all. Throws Error, MachineError.
SplitCounts split_text(const CorpusFiles& files, const ReadingOptions& reading, const TextSurvey& survey,
                       HeldOutSizes sizes, const std::filesystem::path& folder);

}  // namespace nmt
