
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/formats/formats.h"
#include "documents/segments/text_document.h"

namespace nmt::documents {
namespace {

struct PoString {
  ByteRange bytes = {};  ///< with its keyword, up to the end of its last line
  std::string value = {};
  bool is_plain = true;  ///< false: it holds an escape that no translation can take over
};

struct PoEntry {
  size_t begin = kNone;  ///< of its first keyword
  std::optional<PoString> id = {}, plural = {}, text = {};
  std::vector<PoString> plural_texts = {};
  size_t flags = kNone;  ///< the comma of "#,"
  bool is_fuzzy = false;
};

std::string_view without_blanks(std::string_view line) {
  while (!line.empty() && is_markup_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_markup_space(line.back())) line.remove_suffix(1);
  return line;
}

class PoReader {
 public:
  explicit PoReader(std::string_view bytes) : bytes_(bytes) {}

  std::vector<PoEntry> entries() {
    size_t begin = byte_order_mark_length(bytes_);
    while (begin < bytes_.size()) {
      const auto ends = line_ends(bytes_, begin);
      read_line({begin, ends.text});
      begin = ends.next;
    }
    finish_entry();
    return std::move(entries_);
  }

 private:
  Error wrong(size_t at, const char* what) const {
    return Error(fmt::format("PO, line {}: {}; correct the file", line_of(bytes_, at), what));
  }

  void read_line(ByteRange range) {
    const std::string_view line = without_blanks(bytes_.substr(range.begin, range.size()));
    if (line.empty()) {
      finish_entry();
    } else if (line.starts_with('#')) {
      if (entry_.begin != kNone) finish_entry();
      string_ = nullptr;
      if (!line.starts_with("#,")) return;
      entry_.flags = bytes_.find(',', range.begin);
      entry_.is_fuzzy = entry_.is_fuzzy || line.find("fuzzy") != line.npos;
    } else if (line.starts_with('"')) {
      if (!string_) throw wrong(range.begin, "a text that belongs to no keyword");
      add_unquoted(*string_, line, range.begin);
      string_->bytes.end = range.end;
    } else {
      begin_string(line, range);
    }
  }

  void begin_string(std::string_view line, ByteRange range) {
    const size_t quote = line.find('"');
    if (quote == line.npos) throw wrong(range.begin, "a keyword or a text in quotes was expected");
    const std::string_view keyword = without_blanks(line.substr(0, quote));
    const bool begins_entry =
        keyword == "msgctxt" || (keyword == "msgid" && entry_.id) || (keyword == "msgid" && has_text());
    if (begins_entry && entry_.begin != kNone && (entry_.id || has_text())) finish_entry();
    if (entry_.begin == kNone) entry_.begin = range.begin;
    PoString read{.bytes = range};
    add_unquoted(read, line.substr(quote), range.begin);
    if (keyword == "msgctxt") {
      context_ = std::move(read);
      string_ = &context_;
    } else if (keyword == "msgid") {
      string_ = &entry_.id.emplace(std::move(read));
    } else if (keyword == "msgid_plural") {
      string_ = &entry_.plural.emplace(std::move(read));
    } else if (keyword == "msgstr") {
      string_ = &entry_.text.emplace(std::move(read));
    } else if (keyword.starts_with("msgstr[")) {
      string_ = &entry_.plural_texts.emplace_back(std::move(read));
    } else {
      throw wrong(range.begin, "not a keyword of a catalog");
    }
  }

  bool has_text() const { return entry_.text || !entry_.plural_texts.empty(); }

  void finish_entry() {
    if (entry_.id && has_text()) entries_.push_back(std::move(entry_));
    entry_ = {};
    string_ = nullptr;
  }

  /// Appends what gettext reads in the quotes.
  void add_unquoted(PoString& out, std::string_view text, size_t at) const {
    if (text.size() < 2 || text.back() != '"') throw wrong(at, "a text without its closing quote");
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '"') throw wrong(at, "a quote inside of a text");
      if (text[i] != '\\') {
        out.value += text[i];
        continue;
      }
      if (++i + 1 == text.size()) throw wrong(at, "a text without its closing quote");
      i = add_escape(out, text.substr(0, text.size() - 1), i);
    }
  }

  /// The escape whose backslash stands before i; where it ends.
  static size_t add_escape(PoString& out, std::string_view text, size_t i) {
    constexpr std::string_view kEscapes = "ntr\"\\", kMeanings = "\n\t\r\"\\";
    if (const size_t found = kEscapes.find(text[i]); found != kEscapes.npos) {
      out.value += kMeanings[found];
      return i;
    }
    // A byte in up to three octal digits or, behind an x, in all hexadecimal ones that follow.
    const bool is_hexadecimal = text[i] == 'x';
    const std::string_view digits = is_hexadecimal ? "0123456789abcdefABCDEF" : "01234567";
    const size_t begin = i + is_hexadecimal, most = is_hexadecimal ? text.size() : 3, base = is_hexadecimal ? 16 : 8;
    size_t end = begin, digit = 0;
    unsigned char byte = 0;
    while (end < text.size() && end - begin < most && (digit = digits.find(text[end])) != digits.npos) {
      byte = static_cast<unsigned char>(byte * base + (digit < base ? digit : digit - 6));  // A is a
      ++end;
    }
    const char c = static_cast<char>(byte);
    // A bell or a backspace has no place in a translation, and gettext refuses what it does not know.
    if (end == begin || is_control(c)) out.is_plain = false;
    out.value += end == begin ? text[i] : c;
    return std::max(end, i + 1) - 1;
  }

  static bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7F;
  }

  std::string_view bytes_;
  std::vector<PoEntry> entries_;
  PoEntry entry_;
  PoString context_;
  PoString* string_ = nullptr;
};

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else
      out += c;
  }
  return out + '"';
}

/// The keyword with its value. Several lines stand each on one of its own, behind an empty text.
std::string with_keyword(const std::string& keyword, std::string_view value, std::string_view line_end) {
  const size_t first_end = value.find('\n');
  if (first_end == value.npos || first_end + 1 == value.size()) return keyword + " " + quoted(value);
  std::string out = keyword + " \"\"";
  while (!value.empty()) {
    const size_t end = std::min(value.find('\n'), value.size() - 1) + 1;
    out += std::string(line_end) + quoted(value.substr(0, end));
    value.remove_prefix(end);
  }
  return out;
}

/// nplurals of the header; 0 if it does not say.
size_t plural_forms(const std::vector<PoEntry>& entries) {
  constexpr size_t kMostForms = 8;
  for (const auto& entry : entries) {
    if (!entry.id->value.empty() || !entry.text) continue;
    const std::string& header = entry.text->value;
    const size_t at = header.find("nplurals=");
    size_t forms = 0;
    if (at != header.npos) std::from_chars(header.data() + at + 9, header.data() + header.size(), forms);
    return std::min(forms, kMostForms);
  }
  return 0;
}

class PoTranslator {
 public:
  PoTranslator(std::string_view bytes, std::vector<PoEntry> entries) : bytes_(bytes), entries_(std::move(entries)) {
    line_end_ = bytes.find("\r\n") == bytes.npos ? "\n" : "\r\n";
  }

  std::string translated(const TranslateTexts& translate) {
    std::vector<TextDocument*> documents;
    for (const auto& entry : entries_) {
      if (!is_open(entry)) continue;
      for (const auto* source : {&entry.id, &entry.plural})
        if (source->has_value()) documents.push_back(&add_document((*source)->value));
    }
    translate_documents(documents, translate);
    const size_t forms = plural_forms(entries_);
    size_t next = 0;
    for (const auto& entry : entries_) {
      if (!is_open(entry)) continue;
      const TextDocument& singular = *documents[next++];
      const TextDocument* plural = entry.plural ? documents[next++] : nullptr;
      if (singular.segments.empty()) continue;  // nothing in it to translate
      mark_fuzzy(entry);
      fill(entry, singular.translated(), plural ? plural->translated() : std::string(), forms);
    }
    out_ += bytes_.substr(at_);
    return std::move(out_);
  }

  size_t left() const { return static_cast<size_t>(std::ranges::count_if(entries_, is_left)); }

 private:
  /// Whether a text of it is missing.
  static bool is_open(const PoEntry& entry) {
    if (entry.id->value.empty() || !is_readable(entry)) return false;
    if (entry.plural.has_value() == entry.plural_texts.empty()) return false;
    return entry.plural ? std::ranges::any_of(entry.plural_texts, &std::string::empty, &PoString::value)
                        : entry.text->value.empty();
  }

  /// Whether it asks for a translation and gets none.
  static bool is_left(const PoEntry& entry) {
    return !entry.id->value.empty() && !is_open(entry) && (entry.is_fuzzy || !is_readable(entry));
  }

  /// Bytes that escapes give may be no UTF-8.
  static bool is_readable(const PoEntry& entry) {
    return std::ranges::all_of(std::array{&entry.id, &entry.plural}, [](const auto* source) {
      return !source->has_value() || ((*source)->is_plain && !find_invalid_utf8((*source)->value));
    });
  }

  TextDocument& add_document(const std::string& value) {
    TextDocument& document = documents_.emplace_back(value);
    SegmentBuilder builder(document.bytes());
    builder.add_kept_lines({0, value.size()}, [&](ByteRange line) {
      add_tagged_text(builder, document.bytes(), line, TaggedTextKind::kMessage);
    });
    builder.finish({.bytes = {}, .text = {}, .encoding = TextEncoding::kPlain}, document.segments);
    return document;
  }

  void copy_until(size_t end) {
    out_ += bytes_.substr(at_, end - at_);
    at_ = end;
  }

  void mark_fuzzy(const PoEntry& entry) {
    if (entry.is_fuzzy) return;
    if (entry.flags != kNone) {
      copy_until(entry.flags);
      out_ += ", fuzzy";
      return;
    }
    copy_until(entry.begin);
    out_ += "#, fuzzy" + line_end_;
  }

  void fill(const PoEntry& entry, const std::string& singular, const std::string& plural, size_t forms) {
    if (!entry.plural) {
      copy_until(entry.text->bytes.begin);
      out_ += with_keyword("msgstr", singular, line_end_);
      at_ = entry.text->bytes.end;
      return;
    }
    copy_until(entry.plural_texts.front().bytes.begin);
    forms = std::max(forms, entry.plural_texts.size());
    for (size_t i = 0; i < forms; ++i) {
      if (i > 0) out_ += line_end_;
      if (i < entry.plural_texts.size() && !entry.plural_texts[i].value.empty()) {
        const ByteRange filled = entry.plural_texts[i].bytes;
        out_ += bytes_.substr(filled.begin, filled.size());
        continue;
      }
      out_ += with_keyword(fmt::format("msgstr[{}]", i), i == 0 && forms > 1 ? singular : plural, line_end_);
    }
    at_ = entry.plural_texts.back().bytes.end;
  }

  std::string_view bytes_;
  std::vector<PoEntry> entries_;
  std::deque<TextDocument> documents_;
  std::string out_, line_end_;
  size_t at_ = 0;
};

}  // namespace

std::string translate_po(std::string_view bytes, const TranslateTexts& translate, size_t* left) {
  check_utf8(bytes, "PO");
  PoTranslator catalog(bytes, PoReader(bytes).entries());
  if (left) *left = catalog.left();
  return catalog.translated(translate);
}

}  // namespace nmt::documents
