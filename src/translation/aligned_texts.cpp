#include "translation/aligned_texts.h"

#include <utility>

namespace nmt {

std::vector<AlignedTranslation> translate_aligned(const Translator& translator, std::span<const std::string> texts,
                                                  Request common, const TranslationCalls& calls) {
  common.n_best = 1;
  common.alignment = true;
  std::vector<Request> requests(texts.size(), common);
  for (size_t i = 0; i < texts.size(); ++i) requests[i].source = texts[i];
  std::vector<AlignedTranslation> aligned;
  for (auto& translation : translator.translate(requests, calls)) {
    aligned.push_back({.text = std::move(translation.text)});
    if (translation.alternatives.empty()) continue;
    if (auto& words = translation.alternatives.front().aligned) aligned.back().alignment = std::move(*words);
  }
  return aligned;
}

}  // namespace nmt
