#include "data/alignment/translation_table.h"

#include <algorithm>

namespace nmt {

TranslationTable::TranslationTable(const PieceTranslations& translations) : empty_(translations.of_empty) {
  begins_.push_back(0);
  for (const auto& row : translations.best) {
    auto ascending = row;
    std::ranges::sort(ascending, {}, &PieceTranslation::target);
    for (const auto& [target, probability] : ascending) {
      targets_.push_back(target);
      probabilities_.push_back(probability);
    }
    begins_.push_back(targets_.size());
  }
}

int32_t TranslationTable::find(int32_t source, int32_t target) const {
  const auto row = std::span(targets_).subspan(begins_[source], begins_[source + 1] - begins_[source]);
  const auto at = std::ranges::lower_bound(row, target);
  return at == row.end() || *at != target ? kNowhere : static_cast<int32_t>(at - row.begin());
}

}  // namespace nmt
