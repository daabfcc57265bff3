#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "documents/segments/segment.h"
#include "text/aligned_translation.h"

namespace nmt {

enum class DocumentFormat : uint8_t {
  kText,
  kHtml,
  kXhtml,
  kXml,
  kSrt,
  kVtt,
  kPo,
  kXliff,
  kDocx,
  kPptx,
  kOdt,
  kOdp,
  kEpub
};

struct DocumentFormatName {
  std::string_view extension;  ///< with its dot: ".docx"
  DocumentFormat format;
  std::string_view media_type;
};

/// All formats by the extensions of their files; a format may have several, the usual one first.
std::span<const DocumentFormatName> document_formats();

/// The format by the extension of the file, in any case. Nullopt for what is not known.
std::optional<DocumentFormat> document_format_of(std::string_view file_name);

/// The same for what a user sent. Throws Error that says which formats there are, or why this one is refused (.pdf).
const DocumentFormatName& require_document_format(std::string_view file_name);

/// The document with its text translated; all else as it was, byte for byte. All texts are translated as one batch. A
/// text whose translation is the text itself keeps its bytes, and so does a text without any letter. Throws Error where
/// the document is damaged or asks for more than the limits, and what `translate` throws. `warnings`, where they are
/// asked for, are a line each: what a reader may miss in the result.
std::string translate_document(DocumentFormat format, std::string_view bytes, const TranslateTexts& translate,
                               const DocumentLimits& limits = {}, std::vector<std::string>* warnings = nullptr);

/// A fragment of HTML. Tags go with the words that they hold, by the alignment of the words.
std::string translate_html(std::string_view html, const TranslateTexts& translate, const DocumentLimits& limits = {});

}  // namespace nmt
