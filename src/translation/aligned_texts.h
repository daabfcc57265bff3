#pragma once

#include <span>
#include <string>
#include <vector>

#include "text/aligned_translation.h"
#include "translation/translator.h"

namespace nmt {

/// One translation for each text of a document (translate_document). It says which words belong together, so that
/// markup moves with them; with models that have no attention it says nothing of words, and markup stays at its place
/// in the text. common: what holds for each text, without its source.
std::vector<AlignedTranslation> translate_aligned(const Translator& translator, std::span<const std::string> texts,
                                                  Request common, const TranslationCalls& calls = {});

}  // namespace nmt
