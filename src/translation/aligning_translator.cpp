#include "translation/aligning_translator.h"

#include <utility>

#include "base/error.h"
#include "translation/word_alignment.h"

namespace nmt {

AligningTranslator::AligningTranslator(std::vector<TranslatorModel> models, TranslatorOptions options) {
  options.search.n_best = 1;
  options.search.attention = true;
  translator_ = std::make_unique<Translator>(models, options);
  try {
    translator_->translate(std::vector<std::string>{"a"});
  } catch (const Error&) {
    options.search.attention = false;
    translator_ = std::make_unique<Translator>(std::move(models), options);
  }
}

std::vector<AlignedTranslation> AligningTranslator::translate(std::span<const std::string> texts,
                                                              const TranslationCalls& calls) const {
  const auto translations = translator_->translate(texts, calls);
  std::vector<AlignedTranslation> aligned;
  for (size_t i = 0; i < texts.size(); ++i) {
    aligned.push_back({.text = translations[i].text});
    if (!translator_->options().search.attention || translations[i].alternatives.empty()) continue;
    const auto parts = word_attention(translator_->codec(), texts[i], translations[i].alternatives.front());
    aligned.back().alignment = aligned_words(parts, texts[i], translations[i].text);
  }
  return aligned;
}

}  // namespace nmt
