#include "documents/packages/packaged_document.h"

#include <map>
#include <utility>

#include "base/error.h"

namespace nmt::documents {

ZipArchive open_package(std::string_view bytes, const DocumentLimits& limits) {
  if (bytes.starts_with("\xD0\xCF\x11\xE0"))
    throw Error("the document is locked with a password or has the form of before 2007; save it in the form of today");
  return {bytes,
          "the document",
          {.unpacked_bytes = limits.unpacked_bytes, .ratio = limits.ratio, .entries = limits.entries}};
}

std::string translate_package(std::string_view bytes, const ReadParts& read, const TranslateTexts& translate,
                              const DocumentLimits& limits) {
  const ZipArchive archive = open_package(bytes, limits);
  const auto parts = read(archive, limits);
  std::vector<TextDocument*> documents;
  for (const auto& part : parts) documents.push_back(part.document.get());
  translate_documents(documents, translate);
  std::map<std::string, std::string> changed;
  for (const auto& part : parts) {
    auto translated = part.document->translated();
    if (translated != part.document->bytes()) changed.emplace(part.name, std::move(translated));
  }
  return archive.replaced(changed);
}

}  // namespace nmt::documents
