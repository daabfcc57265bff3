#include <charconv>
#include <set>
#include <string_view>

#include "base/error.h"
#include "documents/formats/formats.h"
#include "documents/packages/packaged_document.h"
#include "documents/segments/segment_collector.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

std::string without_percents(std::string_view href) {
  std::string out;
  for (size_t i = 0; i < href.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = href.data() + i + 1;
    if (href[i] == '%' && i + 2 < href.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += href[i];
    }
  }
  return out;
}

bool is_tag(const Token& token) { return token.kind == TokenKind::kStartTag || token.kind == TokenKind::kEmptyTag; }

std::string package_document_of(const ZipArchive& archive, const DocumentLimits& limits) {
  const std::string name = "META-INF/container.xml";
  if (!archive.has(name)) throw Error("the book has no META-INF/container.xml; save it as .epub");
  const std::string container = archive.read(name);
  const auto markup = tokenize_xml(container, limits.depth, name);
  for (const auto& token : markup.tokens)
    if (is_tag(token) && local_name(markup.name(token)) == "rootfile")
      return attribute_text(markup, token, "full-path");
  throw Error("the book's META-INF/container.xml names no package document; save it as .epub");
}

/// The labels of a table of contents of EPUB 2.
std::unique_ptr<TextDocument> read_ncx(std::string bytes, const std::string& name, const DocumentLimits& limits) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
  MarkupRules rules;
  rules.role = [](const MarkupTokens& tokens, size_t index, bool in_text) {
    if (in_text) return ElementRole::kUnit;
    return local_name(tokens.name(tokens.tokens[index])) == "text" ? ElementRole::kBlock : ElementRole::kContainer;
  };
  collect_segments(markup, rules, 0, markup.tokens.size(), false, document->segments);
  return document;
}

}  // namespace

std::vector<PackagedPart> read_epub(const ZipArchive& archive, const DocumentLimits& limits) {
  const std::string package = package_document_of(archive, limits);
  const std::string bytes = archive.read(package);
  const auto markup = tokenize_xml(bytes, limits.depth, package);
  std::vector<PackagedPart> parts;
  std::set<std::string> seen;
  for (const auto& token : markup.tokens) {
    if (!is_tag(token) || local_name(markup.name(token)) != "item") continue;
    const std::string name = resolved(package, without_percents(attribute_text(markup, token, "href")));
    const std::string type = attribute_text(markup, token, "media-type");
    const bool is_chapter = type == "application/xhtml+xml", is_contents = type == "application/x-dtbncx+xml";
    if (!archive.has(name) || (!is_chapter && !is_contents) || !seen.insert(name).second) continue;
    if (is_chapter) parts.push_back({name, read_xhtml(archive.read(name), name, limits)});
    if (is_contents) parts.push_back({name, read_ncx(archive.read(name), name, limits)});
  }
  return parts;
}

}  // namespace nmt::documents
