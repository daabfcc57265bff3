#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "documents/segments/segment.h"
#include "documents/segments/segment_builder.h"
#include "documents/segments/segment_collector.h"
#include "documents/segments/text_document.h"
#include "text/aligned_translation.h"

/// The formats that are one text; those of several are packages.
namespace nmt::documents {

/// Each line is a text.
std::unique_ptr<TextDocument> read_plain_text(std::string_view bytes);

/// Throws Error where bytes are not UTF-8; `what` is the format's name.
void check_utf8(std::string_view bytes, const std::string& what);

/// The byte behind the line that begins at `begin`, and the byte behind its text, without the line end.
struct LineEnds {
  size_t text, next;
};
LineEnds line_ends(std::string_view bytes, size_t begin);

enum class TaggedTextKind : uint8_t {
  kSubtitle,  ///< <i>, {\an8}
  kWebVtt,    ///< <i>, <c.name>, <00:00:01.000>, entities
  kMessage,   ///< of a program: <b>
};

/// Text in which tags may stand, though it is no markup language: hands its parts to a builder. Tags without a partner
/// are units.
void add_tagged_text(SegmentBuilder& builder, std::string_view document, ByteRange range, TaggedTextKind kind);

enum class SubtitleKind : uint8_t { kSrt, kVtt };

/// The lines of a cue are one text and become lines again, at most as many. Lines that begin with a dash are of another
/// speaker and stay apart. Times, settings, NOTE, STYLE and REGION stay as they are.
std::unique_ptr<TextDocument> read_subtitles(std::string_view bytes, SubtitleKind kind);

/// Which elements of HTML are blocks, which stay untouched (translate="no", class="notranslate", <code>, <pre>, ...),
/// and that alt, title and placeholder are text. For XHTML, too.
MarkupRules html_rules(EntitySet entities);

/// A page or a fragment, in UTF-8.
std::unique_ptr<TextDocument> read_html(std::string_view bytes, const DocumentLimits& limits);

/// XHTML of a book: HTML's elements in well-formed XML.
std::unique_ptr<TextDocument> read_xhtml(std::string_view bytes, const std::string& name, const DocumentLimits& limits);

/// A file of the name .xhtml: XHTML, or a page of HTML where it is not well-formed XML.
std::unique_ptr<TextDocument> read_xhtml_or_html(std::string_view bytes, const DocumentLimits& limits);

/// XML of any kind. An element with text of its own is a paragraph and the elements in it are inline; elements without
/// are structure. translate="no", with any prefix (ITS), keeps what is inside.
std::unique_ptr<TextDocument> read_xml(std::string_view bytes, const std::string& name, const DocumentLimits& limits);

/// XLIFF 1.2 and 2.x. Missing and empty targets are filled and marked as work of a machine: state
/// needs-review-translation in 1.2, translated in 2.x. Targets that are there stay, and so does translate="no".
std::unique_ptr<TextDocument> read_xliff(std::string_view bytes, const DocumentLimits& limits);

/// A catalog of gettext with its empty msgstr filled, in all plural forms of its header, and marked fuzzy, for a person
/// to look at. Entries that are translated, obsolete ones and the header stay as they are. Throws Error for lines that
/// no catalog has. `left` is how many entries ask for a translation and get none: those that are fuzzy already, and
/// those with an escape that no translation can take over.
std::string translate_po(std::string_view bytes, const TranslateTexts& translate, size_t* left = nullptr);

}  // namespace nmt::documents
