#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "documents/document.h"

namespace nmt {

/// A document asks for more memory, processor time or output than its limits.
class DocumentTooLarge : public Error {
  using Error::Error;
};

/// translate_document() in a process of its own, the program nmt-document: whatever the document does to its reader
/// ends with that process. It has the limits' memory and processor time, no files, no environment, and ends with this
/// call. `translate` is called in this process, at most once. `check` is called some twenty times a second while the
/// program is at work; what it throws ends the call. Throws also DocumentTooLarge, and MachineError where the program
/// is missing or cannot be started.
std::string translate_document_apart(DocumentFormat format, std::string_view bytes, const TranslateTexts& translate,
                                     const DocumentLimits& limits = {}, const std::function<void()>& check = {},
                                     std::vector<std::string>* warnings = nullptr);

}  // namespace nmt
