#pragma once

#include <string>
#include <utility>
#include <vector>

#include "archive.h"
#include "documents/document.h"
#include "documents/packages/packaged_document.h"

namespace nmt::test {

inline std::string entry_of(const std::string& archive, const std::string& name) {
  return documents::open_package(archive, {}).read(name);
}

inline const std::string kDocxHead =
    "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>";
inline const std::string kDocxTail = "</w:body></w:document>";

/// A list of relationships: ways ("header") and names as seen from the part that has them.
inline std::string relationships(const std::vector<std::pair<std::string, std::string>>& list) {
  std::string out = "<Relationships>";
  for (const auto& [way, name] : list) out += "<Relationship Type=\"http://x/" + way + "\" Target=\"" + name + "\"/>";
  return out + "</Relationships>";
}

/// An office file with a document of this name, which is still to be added.
inline Archive office_archive(const std::string& document) {
  Archive archive;
  archive.add_deflated("[Content_Types].xml", "<Types/>");
  archive.add_deflated("_rels/.rels", relationships({{"officeDocument", document}}));
  return archive;
}

/// A .docx of these paragraphs.
inline std::string docx_of(const std::string& body) {
  return office_archive("word/document.xml").add_deflated("word/document.xml", kDocxHead + body + kDocxTail).bytes();
}

/// What becomes of the paragraphs of a .docx.
inline std::string translated_docx(const std::string& body, const TranslateTexts& translate) {
  const auto out = entry_of(translate_document(DocumentFormat::kDocx, docx_of(body), translate), "word/document.xml");
  return out.substr(kDocxHead.size(), out.size() - kDocxHead.size() - kDocxTail.size());
}

}  // namespace nmt::test
