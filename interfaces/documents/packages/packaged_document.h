#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "documents/archive/zip_archive.h"
#include "documents/segments/text_document.h"
#include "text/alignment/aligned_translation.h"

namespace nmt::documents {

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

}  // namespace nmt::documents
