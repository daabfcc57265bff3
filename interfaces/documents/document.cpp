#include "documents/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/error.h"
#include "documents/formats/formats.h"
#include "documents/packages/packaged_document.h"

namespace nmt {
namespace {

using documents::TextDocument;

constexpr auto kDocumentFormats = std::to_array<DocumentFormatName>({
    {".txt", DocumentFormat::kText, "text/plain"},
    {".html", DocumentFormat::kHtml, "text/html"},
    {".htm", DocumentFormat::kHtml, "text/html"},
    {".xhtml", DocumentFormat::kXhtml, "application/xhtml+xml"},
    {".xml", DocumentFormat::kXml, "application/xml"},
    {".srt", DocumentFormat::kSrt, "application/x-subrip"},
    {".vtt", DocumentFormat::kVtt, "text/vtt"},
    {".po", DocumentFormat::kPo, "text/x-gettext-translation"},
    {".xliff", DocumentFormat::kXliff, "application/xliff+xml"},
    {".xlf", DocumentFormat::kXliff, "application/xliff+xml"},
    {".docx", DocumentFormat::kDocx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {".pptx", DocumentFormat::kPptx, "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {".odt", DocumentFormat::kOdt, "application/vnd.oasis.opendocument.text"},
    {".odp", DocumentFormat::kOdp, "application/vnd.oasis.opendocument.presentation"},
    {".epub", DocumentFormat::kEpub, "application/epub+zip"},
});

const DocumentFormatName* find_format(std::string_view file_name) {
  const std::string name = documents::lower_name(file_name);
  for (const auto& entry : kDocumentFormats)
    if (name.size() > entry.extension.size() && name.ends_with(entry.extension)) return &entry;
  return nullptr;
}

std::string translated(TextDocument& document, const TranslateTexts& translate) {
  TextDocument* documents[] = {&document};
  documents::translate_documents(documents, translate);
  return document.translated();
}

}  // namespace

std::span<const DocumentFormatName> document_formats() { return kDocumentFormats; }

std::optional<DocumentFormat> document_format_of(std::string_view file_name) {
  const auto* found = find_format(file_name);
  return found ? std::optional(found->format) : std::nullopt;
}

const DocumentFormatName& require_document_format(std::string_view file_name) {
  if (const auto* found = find_format(file_name)) return *found;
  if (documents::lower_name(file_name).ends_with(".pdf"))
    throw Error(
        fmt::format("{}: a PDF holds places of letters and no text that could flow; send the document that it was "
                    "made from",
                    file_name));
  std::string names;
  for (const auto& entry : kDocumentFormats) names += (names.empty() ? "" : " ") + std::string(entry.extension);
  throw Error(fmt::format("{}: files of this kind are not translated; send one of {}", file_name, names));
}

std::string translate_document(DocumentFormat format, std::string_view bytes, const TranslateTexts& translate,
                               const DocumentLimits& limits, std::vector<std::string>* warnings) {
  if (bytes.size() > limits.unpacked_bytes)
    throw Error(
        fmt::format("the document has {} bytes, more than {}; send it in parts", bytes.size(), limits.unpacked_bytes));
  switch (format) {
    case DocumentFormat::kText:
      return translated(*documents::read_plain_text(bytes), translate);
    case DocumentFormat::kHtml:
      return translated(*documents::read_html(bytes, limits), translate);
    case DocumentFormat::kXhtml:
      return translated(*documents::read_xhtml_or_html(bytes, limits), translate);
    case DocumentFormat::kXml:
      return translated(*documents::read_xml(bytes, "XML", limits), translate);
    case DocumentFormat::kDocx:
      return documents::translate_package(bytes, documents::read_docx, translate, limits);
    case DocumentFormat::kPptx:
      return documents::translate_package(bytes, documents::read_pptx, translate, limits);
    case DocumentFormat::kOdt:
    case DocumentFormat::kOdp:
      return documents::translate_package(bytes, documents::read_open_document, translate, limits);
    case DocumentFormat::kEpub:
      return documents::translate_package(bytes, documents::read_epub, translate, limits);
    case DocumentFormat::kSrt:
      return translated(*documents::read_subtitles(bytes, documents::SubtitleKind::kSrt), translate);
    case DocumentFormat::kVtt:
      return translated(*documents::read_subtitles(bytes, documents::SubtitleKind::kVtt), translate);
    case DocumentFormat::kPo: {
      size_t left = 0;
      auto catalog = documents::translate_po(bytes, translate, &left);
      if (warnings && left > 0)
        warnings->push_back(
            fmt::format("left as they are, for they are marked fuzzy or hold an escape of a control character: {} "
                        "entries",
                        left));
      return catalog;
    }
    case DocumentFormat::kXliff: {
      const auto document = documents::read_xliff(bytes, limits);
      if (warnings && document->left_units > 0)
        warnings->push_back(
            fmt::format("left as they are, for their targets ask for a translation and are no copies of the source: {} "
                        "units",
                        document->left_units));
      return translated(*document, translate);
    }
  }
  throw Error("this kind of document is not translated; send another");
}

std::string translate_html(std::string_view html, const TranslateTexts& translate, const DocumentLimits& limits) {
  return translate_document(DocumentFormat::kHtml, html, translate, limits);
}

}  // namespace nmt
