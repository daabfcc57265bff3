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

std::string resolved(const std::string& from, const std::string& href) {
  const size_t slash = from.rfind('/');
  std::string_view rest = href;
  std::string folder = slash == from.npos || href.starts_with('/') ? "" : from.substr(0, slash + 1);
  if (rest.starts_with('/')) rest.remove_prefix(1);
  while (rest.starts_with("../") || rest.starts_with("./")) {
    if (rest.starts_with("../") && !folder.empty()) {
      folder.pop_back();
      const size_t parent = folder.rfind('/');
      folder.resize(parent == folder.npos ? 0 : parent + 1);
    }
    rest.remove_prefix(rest.find('/') + 1);
  }
  return folder + std::string(rest);
}

std::string attribute_text(const MarkupTokens& markup, const Token& tag, std::string_view name) {
  return decode_entities(attribute_value(markup, tag, name).value_or(""), EntitySet::kXml);
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
