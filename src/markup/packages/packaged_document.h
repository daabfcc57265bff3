#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "markup/archive/zip_archive.h"
#include "markup/segments/text_document.h"
#include "markup/segments/translate_texts.h"

namespace nmt::markup {

/// An entry of an archive with text in it.
struct PackagedPart {
  std::string name;
  std::unique_ptr<TextDocument> document;
};

/// Lists the parts of an archive and reads them.
using ReadParts = std::function<std::vector<PackagedPart>(const ZipArchive&, const DocumentLimits&)>;

/// The archive with all its texts translated as one batch. Entries without a change keep their packed bytes.
std::string translate_package(std::string_view bytes, const ReadParts& read, const TranslateTexts& translate,
                              const DocumentLimits& limits);

}  // namespace nmt::markup
