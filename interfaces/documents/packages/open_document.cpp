#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/error.h"
#include "documents/packages/packaged_document.h"
#include "documents/segments/segment_collector.h"
#include "documents/tokens/xml_tokenizer.h"

namespace nmt::documents {
namespace {

bool is_named(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// For each token whether it is in the list of tracked changes.
std::vector<bool> tracked_changes(const MarkupTokens& markup) {
  std::vector<bool> tracked(markup.tokens.size(), false);
  for (size_t i = 0; i < markup.tokens.size(); ++i) {
    const Token& token = markup.tokens[i];
    if (token.kind != TokenKind::kStartTag || markup.name(token) != "text:tracked-changes") continue;
    std::fill(tracked.begin() + static_cast<std::ptrdiff_t>(i),
              tracked.begin() + static_cast<std::ptrdiff_t>(token.content_end), true);
    i = token.content_end;
  }
  return tracked;
}

}  // namespace

std::vector<PackagedPart> read_open_document(const ZipArchive& archive, const DocumentLimits& limits) {
  if (!archive.has("content.xml")) throw Error("the document has no content.xml; save it as .odt or .odp");
  if (archive.has("META-INF/manifest.xml") &&
      archive.read("META-INF/manifest.xml").find("encryption-data") != std::string::npos)
    throw Error("the document is locked with a password; save it without one");
  std::vector<PackagedPart> parts;
  for (const auto* name : {"content.xml", "styles.xml"}) {
    if (!archive.has(name)) continue;
    auto document = std::make_unique<TextDocument>(archive.read(name));
    const auto markup = tokenize_xml(document->bytes(), limits.depth, name);
    const auto tracked = tracked_changes(markup);
    MarkupRules rules;
    rules.role = [&](const MarkupTokens& tokens, size_t index, bool in_text) {
      const std::string_view element = tokens.name(tokens.tokens[index]);
      if (tracked[index]) return ElementRole::kContainer;
      if (is_named(element, {"text:p", "text:h", "svg:title", "svg:desc"})) return ElementRole::kBlock;
      if (!in_text) return ElementRole::kContainer;
      if (is_named(element, {"text:span", "text:a", "text:meta", "text:ruby", "text:ruby-base"}))
        return ElementRole::kInline;
      if (is_named(element, {"text:s", "text:tab", "text:line-break"})) return ElementRole::kSpace;
      return ElementRole::kUnit;
    };
    const auto is_element = [](std::string_view name) {
      return [name](const MarkupTokens& tokens, size_t index) { return tokens.name(tokens.tokens[index]) == name; };
    };
    rules.is_link = is_element("text:a");
    rules.is_object = is_element("draw:frame");
    collect_segments(markup, rules, 0, markup.tokens.size(), false, document->segments);
    parts.push_back({name, std::move(document)});
  }
  return parts;
}

}  // namespace nmt::documents
