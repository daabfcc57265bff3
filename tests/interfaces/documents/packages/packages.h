#pragma once

#include <string>

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

/// What becomes of the paragraphs of a .docx.
inline std::string translated_docx(const std::string& body, const TranslateTexts& translate) {
  const auto file = Archive()
                        .add_deflated("[Content_Types].xml", "<Types/>")
                        .add_deflated("word/document.xml", kDocxHead + body + kDocxTail)
                        .bytes();
  const auto out = entry_of(translate_document(DocumentFormat::kDocx, file, translate), "word/document.xml");
  return out.substr(kDocxHead.size(), out.size() - kDocxHead.size() - kDocxTail.size());
}

}  // namespace nmt::test
