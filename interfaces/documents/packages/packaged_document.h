#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/zip_archive.h"
#include "documents/segments/segment.h"
#include "documents/segments/text_document.h"
#include "text/aligned_translation.h"

namespace nmt::documents {

/// The archive of a document. Throws Error as ZipArchive does, and for a document of before 2007. `bytes` have to live
/// as long as the archive.
ZipArchive open_package(std::string_view bytes, const DocumentLimits& limits);

/// A name of the archive: `href` as seen from the entry `from`.
std::string resolved(const std::string& from, const std::string& href);

/// The value of an attribute as a reader of XML sees it; empty where it is missing.
std::string attribute_text(const MarkupTokens& markup, const Token& tag, std::string_view name);

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
