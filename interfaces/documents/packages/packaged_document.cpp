#include "documents/packages/packaged_document.h"

#include <map>
#include <utility>

namespace nmt::documents {

std::string translate_package(std::string_view bytes, const ReadParts& read, const TranslateTexts& translate,
                              const DocumentLimits& limits) {
  const ZipArchive archive(bytes, limits);
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
