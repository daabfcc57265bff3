#include "translation/aligning_translator.h"

#include <utility>

#include "translation/lines/word_alignment.h"

namespace nmt {

AligningTranslator::AligningTranslator(std::vector<TranslatorModel> models, TranslatorOptions options,
                                       TermOptions terms, bool copy_unknown)
    : terms_(std::move(terms)), copy_unknown_(copy_unknown) {
  options.search.n_best = 1;
  translator_ = std::make_unique<Translator>(std::move(models), std::move(options));
}

std::vector<AlignedTranslation> AligningTranslator::translate(std::span<const std::string> texts,
                                                              const TranslationCalls& calls) const {
  std::vector<TranslationRequest> requests;
  for (const auto& text : texts) {
    requests.push_back({.source = text});
    requests.back().attention = translator_->aligns();
    requests.back().copy_unknown = copy_unknown_;
    requests.back().terms = terms_;
  }
  const auto translations = translator_->translate(requests, calls);
  std::vector<AlignedTranslation> aligned;
  for (size_t i = 0; i < texts.size(); ++i) {
    aligned.push_back({.text = translations[i].text});
    if (!translator_->aligns() || translations[i].alternatives.empty()) continue;
    const Alternative& best = translations[i].alternatives.front();
    aligned.back().alignment =
        best.aligned ? *best.aligned
                     : aligned_words(word_attention(translator_->codec(), texts[i], best), texts[i], best.text);
  }
  return aligned;
}

}  // namespace nmt
