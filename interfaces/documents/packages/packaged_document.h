#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/zip_archive.h"
#include "documents/segments/segment.h"
#include "documents/segments/text_document.h"
#include "documents/tokens/markup_token.h"
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

/// WordprocessingML and DrawingML have paragraphs <p> of runs <r> with properties <rPr> and texts <t>, in different
/// namespaces.
struct OfficeDialect {
  std::string prefix;           ///< of the namespace, with its colon: "w:"
  std::string text_attributes;  ///< of each <t>
};

/// Appends the paragraphs of a part, also those in text boxes and notes inside of others.
void collect_office_paragraphs(const MarkupTokens& markup, const OfficeDialect& dialect, std::vector<Segment>& out);

/// Text, headers, footers, notes and comments of .docx. Runs with equal properties are one, so that no word is cut; the
/// translation's words have the properties of the words that they are aligned with.
std::vector<PackagedPart> read_docx(const ZipArchive& archive, const DocumentLimits& limits);

/// Slides, their notes and their diagrams, the same way.
std::vector<PackagedPart> read_pptx(const ZipArchive& archive, const DocumentLimits& limits);

/// .odt and .odp: paragraphs, headings, notes, text boxes and descriptions in content.xml, headers and footers in
/// styles.xml. Deleted text of tracked changes stays.
std::vector<PackagedPart> read_open_document(const ZipArchive& archive, const DocumentLimits& limits);

/// The chapters of a book and its tables of contents, as its package document lists them.
std::vector<PackagedPart> read_epub(const ZipArchive& archive, const DocumentLimits& limits);

}  // namespace nmt::documents
