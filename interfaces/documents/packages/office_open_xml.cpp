#include "documents/packages/office_open_xml.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "documents/packages/office_paragraphs.h"
#include "documents/tokens/tag_attributes.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

/// The prefix that the root element gives to a namespace, with its colon: "w:".
std::string namespace_prefix(const MarkupTokens& markup, std::string_view part_of_name, const std::string& usual) {
  for (const auto& token : markup.tokens) {
    if (token.kind != TokenKind::kStartTag) continue;
    for (const auto& attribute : attributes_of(markup, token)) {
      const std::string_view name = markup.text(attribute.name), value = markup.text(attribute.value);
      if (value.find(part_of_name) == value.npos || !value.ends_with("/main")) continue;
      if (name == "xmlns") return "";
      if (name.starts_with("xmlns:")) return std::string(name.substr(6)) + ":";
    }
    break;
  }
  return usual;
}

std::unique_ptr<TextDocument> read_part(const ZipArchive& archive, const std::string& name, std::string_view space,
                                        const std::string& usual_prefix, const std::string& text_attributes,
                                        const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(archive.read(name));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
  const OfficeDialect dialect = {namespace_prefix(markup, space, usual_prefix), text_attributes};
  const std::string& prefix = dialect.prefix;
  document->run_form = {.run_open = "<" + prefix + "r>",
                        .text_open = "<" + prefix + "t" + dialect.text_attributes + ">",
                        .text_close = "</" + prefix + "t>",
                        .run_close = "</" + prefix + "r>"};
  collect_office_paragraphs(markup, dialect, document->segments);
  return document;
}

bool is_numbered(std::string_view name, std::string_view before) {
  if (!name.starts_with(before) || !name.ends_with(".xml")) return false;
  name.remove_prefix(before.size());
  name.remove_suffix(4);
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<PackagedPart> read_docx(const ZipArchive& archive, const DocumentLimits& limits) {
  if (!archive.has("word/document.xml")) throw Error("the document has no word/document.xml; save it as .docx");
  std::vector<PackagedPart> parts;
  for (const auto& name : archive.names())
    for (const auto* kind : {"document", "header", "footer", "footnotes", "endnotes", "comments"})
      if (is_numbered(name, std::string("word/") + kind))
        parts.push_back({name, read_part(archive, name, "wordprocessingml", "w:", " xml:space=\"preserve\"", limits)});
  return parts;
}

std::vector<PackagedPart> read_pptx(const ZipArchive& archive, const DocumentLimits& limits) {
  if (!archive.has("ppt/presentation.xml")) throw Error("the document has no ppt/presentation.xml; save it as .pptx");
  std::vector<PackagedPart> parts;
  for (const auto& name : archive.names())
    for (const auto* kind : {"slides/slide", "notesSlides/notesSlide", "diagrams/data"})
      if (is_numbered(name, std::string("ppt/") + kind))
        parts.push_back({name, read_part(archive, name, "drawingml", "a:", "", limits)});
  return parts;
}

}  // namespace nmt::documents
