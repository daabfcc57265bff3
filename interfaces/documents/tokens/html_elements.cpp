#include "documents/tokens/html_elements.h"

#include <algorithm>
#include <array>

namespace nmt::documents {
namespace {

template <size_t size>
constexpr auto sorted(std::array<std::string_view, size> names) {
  std::sort(names.begin(), names.end());
  return names;
}

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

constexpr auto kVoid = sorted(
    std::to_array<std::string_view>({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta",
                                     "param", "source", "track", "wbr", "basefont", "bgsound", "frame", "keygen"}));

constexpr auto kRaw = sorted(std::to_array<std::string_view>(
    {"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"}));

constexpr auto kBlock = sorted(std::to_array<std::string_view>(
    {"address", "applet",   "area",    "article",   "aside",    "audio",      "base",    "blockquote", "body",
     "button",  "canvas",   "caption", "center",    "col",      "colgroup",   "dd",      "details",    "dialog",
     "dir",     "div",      "dl",      "dt",        "fieldset", "figcaption", "figure",  "footer",     "form",
     "frame",   "frameset", "h1",      "h2",        "h3",       "h4",         "h5",      "h6",         "head",
     "header",  "hgroup",   "hr",      "html",      "legend",   "li",         "link",    "listing",    "main",
     "marquee", "menu",     "meta",    "nav",       "noframes", "noscript",   "object",  "ol",         "optgroup",
     "option",  "p",        "param",   "plaintext", "pre",      "search",     "section", "select",     "source",
     "summary", "table",    "tbody",   "td",        "template", "tfoot",      "th",      "thead",      "title",
     "tr",      "track",    "ul",      "video",     "xmp"}));

constexpr auto kClosesParagraph = sorted(std::to_array<std::string_view>(
    {"address",  "article",    "aside",  "blockquote", "center", "details", "dialog", "dir",     "div",       "dl",
     "fieldset", "figcaption", "figure", "footer",     "form",   "h1",      "h2",     "h3",      "h4",        "h5",
     "h6",       "header",     "hgroup", "hr",         "main",   "menu",    "nav",    "ol",      "p",         "pre",
     "search",   "section",    "table",  "ul",         "li",     "dd",      "dt",     "listing", "plaintext", "xmp"}));

constexpr auto kKept =
    sorted(std::to_array<std::string_view>({"code", "pre", "script", "style", "textarea", "svg", "math", "xmp",
                                            "listing", "plaintext", "iframe", "noembed", "noframes"}));

}  // namespace

bool is_void_element(std::string_view name) { return has(kVoid, name); }
bool is_raw_text_element(std::string_view name) { return has(kRaw, name); }
bool is_block_element(std::string_view name) { return has(kBlock, name); }
bool closes_paragraph(std::string_view name) { return has(kClosesParagraph, name); }
bool is_kept_element(std::string_view name) { return has(kKept, name); }

}  // namespace nmt::documents
