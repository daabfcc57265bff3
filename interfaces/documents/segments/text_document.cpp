#include "documents/segments/text_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "documents/tokens/markup_token.h"
#include "text/place_tags.h"

namespace nmt::documents {
namespace {

struct SubtitleWord {
  size_t space;   ///< the byte of the space before it
  size_t length;  ///< characters
};

/// The breaks where lines hold up to `width` characters.
std::vector<size_t> greedy_breaks(const std::vector<SubtitleWord>& words, size_t width) {
  std::vector<size_t> breaks;
  size_t length = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && length + 1 + words[i].length > width) {
      breaks.push_back(words[i].space);
      length = words[i].length;
    } else {
      length += words[i].length + (i > 0);
    }
  }
  return breaks;
}

}  // namespace

std::vector<size_t> balanced_breaks(std::string_view text, size_t width, size_t most_lines) {
  std::vector<SubtitleWord> words;
  size_t total = 0, longest = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const auto length = static_cast<size_t>(count_code_points(text.substr(begin, end - begin)));
    words.push_back({begin > 0 ? begin - 1 : 0, length});
    total += length + 1;
    longest = std::max(longest, length);
    begin = end + 1;
  }
  const size_t lines = std::min(most_lines, greedy_breaks(words, width).size() + 1);
  if (lines <= 1) return {};
  size_t low = longest, high = total;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (greedy_breaks(words, middle).size() < lines)
      high = middle;
    else
      low = middle + 1;
  }
  return greedy_breaks(words, low);
}

namespace {

/// A translation without what no document takes: control characters, line ends, bytes that are no UTF-8.
void make_clean(AlignedTranslation& translation) {
  std::string& text = translation.text;
  if (find_invalid_utf8(text)) {
    text = repair_utf8(text);
    translation.alignment.clear();
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})  // U+FFFE, U+FFFF
    for (size_t at = text.find(none); at != text.npos; at = text.find(none, at)) text.replace(at, 3, "\xEF\xBF\xBD");
}

std::vector<TagSpan> tag_spans(const Segment& segment) {
  constexpr std::string_view kNoBreakSpace = "\u00A0";
  const std::string_view text = segment.text;
  std::vector<TagSpan> spans;
  for (const auto& element : segment.inlines) {
    auto neighbour = TagNeighbour::kNeither;
    const bool has_left = element.space_before || text.substr(0, element.begin).ends_with(kNoBreakSpace);
    const bool has_right = element.space_after || text.substr(element.end).starts_with(kNoBreakSpace);
    if (has_left != has_right) neighbour = has_left ? TagNeighbour::kRight : TagNeighbour::kLeft;
    spans.push_back({element.begin, element.end, element.parent, neighbour});
  }
  return spans;
}

/// The characters of a subtitle's longest line, without its tags.
size_t longest_line(std::string_view text) {
  size_t longest = 0, length = 0;
  char closing = '\0';
  for (const char c : text) {
    if (c == '\n') {
      length = 0;
      closing = '\0';
    } else if (closing != '\0') {
      if (c == closing) closing = '\0';
    } else if (c == '<' || c == '{') {
      closing = c == '<' ? '>' : '}';
    } else if (!is_continuation_byte(c) && c != '\r') {
      longest = std::max(longest, ++length);
    }
  }
  return longest;
}

}  // namespace

/// Writes a segment with its translation.
class SegmentWriter {
 public:
  SegmentWriter(const TextDocument& document, size_t index)
      : document_(document),
        index_(index),
        segment_(document.segments[index]),
        translation_(document.translations_[index]) {}

  std::string written() {
    // What did not change keeps its bytes: entities, line ends.
    if (translation_.text == segment_.text) return document_.translated(segment_.bytes, index_ + 1);
    const std::string_view text = translation_.text;
    if (segment_.most_lines > 1) {
      const std::string_view bytes = document_.bytes().substr(segment_.bytes.begin, segment_.bytes.size());
      breaks_ = balanced_breaks(text, longest_line(bytes), segment_.most_lines);
    }
    if (segment_.encoding == TextEncoding::kAttribute && segment_.quote == '\0') out_ += '"';
    put(segment_.lead);
    for (const auto& event : place_tags(segment_.text, tag_spans(segment_), translation_)) {
      put_until(event.position);
      write_tag(segment_.inlines[event.span], event);
    }
    put_until(text.size());
    put(segment_.tail);
    end_run();
    if (segment_.encoding == TextEncoding::kAttribute && segment_.quote == '\0') out_ += '"';
    return std::move(out_);
  }

 private:
  void put_until(size_t end) {
    if (end <= at_) return;
    const std::string_view text = translation_.text;
    while (next_break_ < breaks_.size() && breaks_[next_break_] < end) {
      const size_t space = breaks_[next_break_++];
      if (space < at_) continue;
      put(text.substr(at_, space - at_));
      out_ += segment_.line_end;
      at_ = space + 1;
    }
    if (end > at_) put(text.substr(at_, end - at_));
    at_ = std::max(at_, end);
  }

  void put(std::string_view text) {
    if (text.empty()) return;
    is_behind_space_ = text.back() == ' ';
    begin_run();
    switch (segment_.encoding) {
      case TextEncoding::kPlain:
        out_ += text;
        break;
      case TextEncoding::kMarkup:
        out_ += encode_entities(text);
        break;
      case TextEncoding::kAttribute:
        out_ += encode_entities(text, segment_.quote == '\0' ? '"' : segment_.quote);
    }
  }

  size_t style() const { return styles_.empty() ? 0 : styles_.back(); }

  void begin_run() {
    if (segment_.styles.empty() || (is_in_run_ && run_style_ == style())) return;
    end_run();
    open_run(style());
    out_ += document_.run_form.text_open;
    is_in_run_ = true;
    run_style_ = style();
  }

  void open_run(size_t style) {
    const auto& open = document_.run_form.run_open;
    const auto properties = bytes_of(segment_.styles[style]);
    document_.count_copied(open.size() + properties.size());
    out_ += open;
    out_ += properties;
  }

  void end_run() {
    if (!is_in_run_) return;
    out_ += document_.run_form.text_close + document_.run_form.run_close;
    is_in_run_ = false;
  }

  std::string_view bytes_of(ByteRange range) const { return document_.bytes().substr(range.begin, range.size()); }

  void write_tag(const InlineElement& element, const TagEvent& event) {
    switch (element.kind) {
      case InlineKind::kPair:
        end_run();
        out_ += document_.translated(event.closes ? element.close : element.open, index_ + 1);
        break;
      case InlineKind::kStyle:
        if (event.closes)
          styles_.pop_back();
        else
          styles_.push_back(element.style);
        break;
      case InlineKind::kUnit:
      case InlineKind::kSpace:
        if (!event.closes) write_unit(element);
    }
  }

  /// Has the white space around it that it had.
  void write_unit(const InlineElement& element) {
    const std::string_view text = translation_.text;
    const auto is_space_next = [&] { return at_ < text.size() && text[at_] == ' '; };
    if (element.space_before && !is_behind_space_ && at_ > 0) put(" ");
    end_run();
    const bool is_in_run = element.style != kNone;
    if (is_in_run) open_run(element.style);
    out_ += document_.translated(element.open, index_ + 1);
    if (is_in_run) out_ += document_.run_form.run_close;
    if (element.space_after && !is_space_next() && at_ < text.size()) put(" ");
    if (element.kind == InlineKind::kSpace && !element.space_before && !element.space_after && is_space_next()) {
      if (next_break_ < breaks_.size() && breaks_[next_break_] == at_) ++next_break_;
      ++at_;
    }
    is_behind_space_ = element.space_after;
  }

  const TextDocument& document_;
  size_t index_;
  const Segment& segment_;
  const AlignedTranslation& translation_;
  std::string out_;
  size_t at_ = 0;  ///< of the translation, what is written
  std::vector<size_t> breaks_;
  size_t next_break_ = 0;
  std::vector<size_t> styles_;
  size_t run_style_ = 0;
  bool is_in_run_ = false, is_behind_space_ = false;
};

void TextDocument::append_texts(std::vector<std::string>& texts) {
  std::stable_sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return a.bytes.begin != b.bytes.begin ? a.bytes.begin < b.bytes.begin : a.bytes.end > b.bytes.end;
  });
  for (const auto& segment : segments) texts.push_back(segment.text);
}

void TextDocument::set_translations(std::span<AlignedTranslation> translations) {
  translations_.assign(std::make_move_iterator(translations.begin()), std::make_move_iterator(translations.end()));
  for (size_t i = 0; i < translations_.size(); ++i)
    if (translations_[i].text != segments[i].text) make_clean(translations_[i]);
}

void TextDocument::count_copied(size_t size) const {
  constexpr uint64_t kTimes = 4, kFree = 1 << 20;
  copied_bytes_ += size;
  if (copied_bytes_ > kTimes * bytes_.size() + kFree)
    throw Error("the properties of its texts make the document several times as large; simplify them");
}

std::string TextDocument::translated() const {
  return copies.empty() ? translated({0, bytes_.size()}, 0) : raw_with_copies();
}

std::string TextDocument::translated(ByteRange range, size_t first_segment) const {
  std::string out;
  size_t at = range.begin;
  auto next =
      std::lower_bound(segments.begin() + static_cast<std::ptrdiff_t>(first_segment), segments.end(), range.begin,
                       [](const Segment& segment, size_t begin) { return segment.bytes.begin < begin; });
  for (; next != segments.end() && next->bytes.begin < range.end; ++next) {
    if (next->bytes.begin < at || next->bytes.end > range.end) continue;  // in one that is written, or around all
    out += bytes().substr(at, next->bytes.begin - at);
    out += SegmentWriter(*this, static_cast<size_t>(next - segments.begin())).written();
    at = next->bytes.end;
  }
  return out += bytes().substr(at, range.end - at);
}

std::string TextDocument::raw_with_copies() const {
  std::string out;
  size_t at = 0;
  for (const auto& copy : copies) {
    if (copy.replaced.begin < at) continue;  // in a place that is written over already
    out += bytes().substr(at, copy.replaced.begin - at);
    out += copy.before + translated(copy.source, 0) + copy.after;
    at = copy.replaced.end;
  }
  return out += bytes().substr(at);
}

void translate_documents(std::span<TextDocument* const> documents, const TranslateTexts& translate) {
  std::vector<std::string> texts;
  for (auto* document : documents) document->append_texts(texts);
  std::vector<AlignedTranslation> translations;
  if (!texts.empty()) translations = translate(texts);
  if (translations.size() != texts.size())
    throw Error(fmt::format("the translator gave {} translations for {} texts; report this", translations.size(),
                            texts.size()));
  std::span<AlignedTranslation> rest(translations);
  for (auto* document : documents) {
    document->set_translations(rest.first(document->segments.size()));
    rest = rest.subspan(document->segments.size());
  }
}

}  // namespace nmt::documents
