#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/aligned_translation.h"
#include "translation/translator.h"

namespace nmt {

/// A translator for documents (translate_document): it says which words belong together, so that markup moves with
/// them. With models that have no attention it says nothing of words, and markup stays at its place in the text.
class AligningTranslator {
 public:
  /// Borrows the models: they must outlive it. copy_unknown: TranslationRequest::copy_unknown.
  AligningTranslator(std::vector<TranslatorModel> models, TranslatorOptions options, TermOptions terms = {},
                     bool copy_unknown = false);

  /// One translation for each text.
  std::vector<AlignedTranslation> translate(std::span<const std::string> texts,
                                            const TranslationCalls& calls = {}) const;

 private:
  std::unique_ptr<Translator> translator_;
  TermOptions terms_;
  bool copy_unknown_;
};

}  // namespace nmt
