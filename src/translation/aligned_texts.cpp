#include "translation/aligned_texts.h"

#include <utility>

namespace nmt {

std::vector<AlignedTranslation> translate_aligned(const Translator& translator, std::span<const std::string> texts,
                                                  Request common, const TranslationCalls& calls) {
  common.n_best = 1;
  common.markup = true;
  std::vector<Request> requests(texts.size(), common);
  for (size_t i = 0; i < texts.size(); ++i) requests[i].source = texts[i];
  std::vector<AlignedTranslation> aligned;
  for (auto& translation : translator.translate(requests, calls))
    aligned.push_back(best_aligned(std::move(translation)));
  return aligned;
}

}  // namespace nmt
