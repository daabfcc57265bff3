#include "data/preparation/training_text.h"

#include <utility>

#include "config/languages.h"
#include "text/codec/codec.h"

namespace nmt {

std::string normalised_text(std::string_view text, const DataConfig& data) {
  return normalize(
      text, {.nfkc = data.nfkc, .lowercase = data.lowercase, .latin_only = data.characters == CharacterSet::kLatin});
}

CleaningOptions cleaning_options(const DataConfig& data) {
  std::vector<CleaningRule> clean;
  for (int i = 1; i <= kContentRules; ++i)
    if (const auto rule = static_cast<CleaningRule>(i);
        data.clean.contains(CleaningRule::kAll) || data.clean.contains(rule))
      clean.push_back(rule);
  return {.drop_empty = data.drop_empty,
          .drop_duplicates = data.drop_duplicates,
          .drop_test_overlap = data.drop_test_overlap,
          .source_markers = marker_count(data.source_markers),
          .maxlen1 = data.maxlen1,
          .maxlen2 = data.maxlen2,
          .max_length_ratio = data.max_length_ratio,
          .clean = std::move(clean)};
}

HeldOutText read_held_out(const DataConfig& data, const ContentRules& content,
                          const std::function<void(const CorpusReader& reader)>& on_read) {
  HeldOutText held_out;
  const bool in_any_spelling = content.contains(CleaningRule::kHeldOut);
  for (const auto& sets : {validation_sets(data), test_sets(data)}) {
    for (const auto& set : sets) {
      CorpusReader reader({set.text.source, set.text.target, set.source_option, set.target_option},
                          reading_options(of_set(data, set.text)));
      for (TextPair pair; reader.next(pair);) {
        const auto source = normalised_text(pair.source, data), target = normalised_text(pair.target, data);
        held_out.add(source, target);
        if (in_any_spelling) held_out.add(content.source_spelling(source), content.target_spelling(target));
        if (data.languages.empty()) continue;  // else the pair may be trained on in its other direction
        held_out.add(target, source);
        if (in_any_spelling) held_out.add(content.source_spelling(target), content.target_spelling(source));
      }
      on_read(reader);
    }
  }
  return held_out;
}

}  // namespace nmt
