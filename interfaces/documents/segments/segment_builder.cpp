#include "documents/segments/segment_builder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/unicode.h"
#include "documents/segments/segment.h"
#include "text/terms.h"

namespace nmt::documents {

struct SegmentBuilder::Assembly {
  Segment segment;
  std::vector<size_t> parents = {};      ///< the open inlines, without styles
  size_t open_style = kNone;             ///< an inline
  bool is_behind_space = false;          ///< whether white space came last
  size_t last_unit = kNone;              ///< the unit behind which nothing came but white space
  std::map<size_t, size_t> styles = {};  ///< by their first bytes in the document

  size_t parent() const { return parents.empty() ? kNone : parents.back(); }
  void end_style() {
    if (open_style != kNone) segment.inlines[open_style].end = segment.text.size();
    open_style = kNone;
  }
};

void SegmentBuilder::add_text(ByteRange bytes, std::string text) {
  items_.push_back({.kind = Kind::kText, .bytes = bytes, .text = std::move(text)});
}

void SegmentBuilder::add_kept_lines(ByteRange bytes, const std::function<void(ByteRange)>& add) {
  while (bytes.size() > 0) {
    const size_t found = document_.substr(0, bytes.end).find_first_of("\r\n\t", bytes.begin);
    const size_t end = found == document_.npos ? bytes.end : found + 1;
    add({bytes.begin, end});
    if (found != document_.npos) add_barrier();
    bytes.begin = end;
  }
}

void SegmentBuilder::add_unit(ByteRange bytes, InlineKind kind) {
  items_.push_back({.kind = kind == InlineKind::kSpace ? Kind::kSpace : Kind::kUnit, .bytes = bytes});
}

void SegmentBuilder::open(size_t key, ByteRange bytes, bool is_link) {
  open_[key] = items_.size();
  items_.push_back({.kind = Kind::kOpen, .bytes = bytes, .is_link = is_link});
}

void SegmentBuilder::close(size_t key, ByteRange bytes) {
  const auto found = open_.find(key);
  if (found == open_.end()) {
    add_barrier();
    return;
  }
  items_[found->second].partner = items_.size();
  items_.push_back({.kind = Kind::kClose, .bytes = bytes, .partner = found->second});
  open_.erase(found);
}

void SegmentBuilder::begin_run(ByteRange run, ByteRange style) {
  run_ = run;
  style_ = style;
  run_begin_ = items_.size();
}

void SegmentBuilder::end_run() {
  for (size_t i = run_begin_; i < items_.size(); ++i) {
    items_[i].is_in_run = true;
    items_[i].outer = run_;
    items_[i].style = style_;
    items_[i].is_fixed = items_.size() - run_begin_ > 1;
  }
  run_begin_ = kNone;
}

void SegmentBuilder::cut_at_barriers() {
  const size_t n = items_.size();
  // An end tag of a start tag that comes later in no order, an open one: both end the segment.
  std::vector<size_t> barriers_before(n + 1, 0);
  size_t last_space = kNone;
  for (size_t i = 0; i < n; ++i) {
    Item& item = items_[i];
    if (item.kind == Kind::kOpen && item.partner == kNone) item.kind = Kind::kBarrier;
    if (item.kind == Kind::kSpace && !item.is_in_run) {
      if (last_space != kNone) items_[last_space].kind = item.kind = Kind::kBarrier;
      last_space = i;
    } else if (item.kind != Kind::kText || !is_white(item.text)) {
      last_space = kNone;
    }
  }
  size_t open = 0;
  for (size_t i = 0; i < n; ++i) {
    Item& item = items_[i];
    if (item.kind == Kind::kClose) --open;
    if (item.kind != Kind::kOpen) continue;
    if (open < kMostOpenPairs)
      ++open;
    else
      item.kind = items_[item.partner].kind = Kind::kBarrier;
  }
  for (size_t i = 0; i < n; ++i) barriers_before[i + 1] = barriers_before[i] + (items_[i].kind == Kind::kBarrier);
  for (size_t i = 0; i < n; ++i) {
    const size_t partner = items_[i].partner;
    if (items_[i].kind == Kind::kOpen && barriers_before[partner] > barriers_before[i])
      items_[i].kind = items_[partner].kind = Kind::kBarrier;
  }
  next_text_.assign(n + 1, n);
  for (size_t i = n; i-- > 0;) {
    const bool is_text = items_[i].kind == Kind::kSpace || (items_[i].kind == Kind::kText && !items_[i].text.empty());
    next_text_[i] = is_text ? i : next_text_[i + 1];
  }
  texts_before_.assign(n + 1, 0);
  for (size_t i = 0; i < n; ++i)
    texts_before_[i + 1] = texts_before_[i] + (items_[i].kind == Kind::kText && !is_white(items_[i].text));
}

void SegmentBuilder::finish(const Segment& prototype, std::vector<Segment>& out) {
  cut_at_barriers();
  for (size_t begin = 0; begin < items_.size();) {
    size_t end = begin;
    while (end < items_.size() && items_[end].kind != Kind::kBarrier) ++end;
    build_links(begin, end, prototype, out);
    begin = end + 1;
  }
  items_.clear();
  open_.clear();
}

/// A menu is no sentence: where all text stands in several links, each of them is a segment.
void SegmentBuilder::build_links(size_t begin, size_t end, const Segment& prototype, std::vector<Segment>& out) const {
  std::vector<std::pair<size_t, size_t>> links;
  for (size_t i = begin; i < end; ++i) {
    const bool is_link = items_[i].kind == Kind::kOpen && items_[i].is_link;
    const size_t last = is_link ? items_[i].partner : i;
    if (is_link && holds_text(i, last)) links.emplace_back(i, last + 1);
    if (!is_link && holds_text(i, i + 1)) return build(begin, end, prototype, out);
    i = last;
  }
  if (links.size() < 2) return build(begin, end, prototype, out);
  for (const auto& [first, behind] : links) build(first, behind, prototype, out);
}

/// Leaves out what holds no text at the ends, and a pair around all. Whether there is text.
bool SegmentBuilder::trim(size_t& begin, size_t& end) const {
  while (begin < end && holds_text(begin, end)) {
    const Item &first = items_[begin], &last = items_[end - 1];
    if (first.kind == Kind::kOpen && first.partner == end - 1) {
      ++begin;
      --end;
    } else if (!first.is_fixed && first.kind != Kind::kOpen && !holds_text(begin, begin + 1)) {
      ++begin;
    } else if (first.kind == Kind::kOpen && !holds_text(begin, first.partner)) {
      begin = first.partner + 1;
    } else if (!last.is_fixed && last.kind != Kind::kClose && !holds_text(end - 1, end)) {
      --end;
    } else if (last.kind == Kind::kClose && !holds_text(last.partner, end)) {
      end = last.partner;
    } else {
      return true;
    }
  }
  return false;
}

ByteRange SegmentBuilder::bytes_of(size_t begin, size_t end) const {
  const Item &first = items_[begin], &last = items_[end - 1];
  ByteRange bytes = {first.is_in_run ? first.outer.begin : first.bytes.begin,
                     last.is_in_run ? last.outer.end : last.bytes.end};
  // White space in front of all tags stays as it is.
  if (first.kind == Kind::kText && !first.is_in_run)
    while (bytes.begin < first.bytes.end && is_markup_space(document_[bytes.begin])) ++bytes.begin;
  if (last.kind == Kind::kText && !last.is_in_run)
    while (bytes.end > last.bytes.begin && is_markup_space(document_[bytes.end - 1])) --bytes.end;
  return bytes;
}

/// The style of most text comes first.
void SegmentBuilder::choose_styles(size_t begin, size_t end, Assembly& assembly) const {
  using Size = std::pair<size_t, ByteRange>;
  std::map<std::string_view, Size> sizes;
  std::map<size_t, Size*> size_at;  // the items of a run share their style, which is compared once
  for (size_t i = begin; i < end; ++i) {
    const Item& item = items_[i];
    if (!item.is_in_run) continue;
    auto& size = size_at[item.style.begin];
    if (!size)
      size = &sizes.emplace(document_.substr(item.style.begin, item.style.size()), Size(0, item.style)).first->second;
    size->first += item.kind == Kind::kText ? item.text.size() : 0;
  }
  std::vector<Size> order;
  for (const auto& [bytes, entry] : sizes) order.push_back(entry);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.begin < b.second.begin;
  });
  std::map<size_t, size_t> index_of;
  for (const auto& [size, style] : order) {
    index_of.emplace(style.begin, index_of.size());
    assembly.segment.styles.push_back(style);
  }
  for (const auto& [first_byte, size] : size_at) assembly.styles.emplace(first_byte, index_of.at(size->second.begin));
}

namespace {

/// Whether two characters with a border between them are of two words, as letters are, and as a mark before a letter
/// is. Scripts that write no spaces between words get none.
bool are_two_words(char32_t before, char32_t behind) {
  const bool is_mark = std::u32string_view(U".,:;!?)").find(before) != std::u32string_view::npos;
  return make_one_word(is_mark ? U'a' : before, behind);
}

}  // namespace

bool SegmentBuilder::is_in_word(size_t border, size_t end, const Assembly& assembly) const {
  const std::string& text = assembly.segment.text;
  const size_t next = next_text_[border];
  if (text.empty() || assembly.is_behind_space || next >= end || items_[next].kind != Kind::kText) return false;
  size_t last = text.size() - 1, first = 0;
  while (last > 0 && is_continuation_byte(text[last])) --last;
  return are_two_words(next_code_point(text, last), next_code_point(items_[next].text, first));
}

bool SegmentBuilder::has_spaces_at_likely_borders(size_t begin, size_t end) const {
  const auto is_space_at = [](std::string_view text, size_t i) { return collapsible_length(text, i) > 0; };
  std::string_view last;
  bool is_behind_border = false;
  for (size_t i = begin; i < end; ++i) {
    const Item& item = items_[i];
    if (item.kind == Kind::kText && !item.text.empty()) {
      if (is_behind_border && is_space_at(item.text, 0)) return true;
      last = item.text;
      is_behind_border = false;
    } else if (item.kind == Kind::kBorder && item.is_likely_only) {
      if (!last.empty() && is_space_at(last, last.size() - 1)) return true;
      is_behind_border = true;
    } else if (item.kind == Kind::kUnit || item.kind == Kind::kSpace) {
      last = {};
      is_behind_border = false;
    }
  }
  return false;
}

void SegmentBuilder::append_text(const Item& item, Assembly& assembly) {
  std::string& text = assembly.segment.text;
  for (size_t i = 0; i < item.text.size();) {
    if (const size_t length = collapsible_length(item.text, i)) {
      i += length;
      if (assembly.last_unit != kNone) assembly.segment.inlines[assembly.last_unit].space_after = true;
      if (text.empty())
        assembly.segment.lead = " ";
      else if (text.back() != ' ')
        text += ' ';
      assembly.is_behind_space = true;
      continue;
    }
    if (const size_t length = invisible_length(item.text, i)) {
      i += length;
      continue;
    }
    text += item.text[i++];
    assembly.is_behind_space = false;
    assembly.last_unit = kNone;
  }
}

void SegmentBuilder::append_unit(const Item& item, Assembly& assembly) {
  std::string& text = assembly.segment.text;
  const size_t parent = assembly.open_style != kNone ? assembly.open_style : assembly.parent();
  assembly.segment.inlines.push_back({.kind = item.kind == Kind::kUnit ? InlineKind::kUnit : InlineKind::kSpace,
                                      .begin = text.size(),
                                      .end = text.size(),
                                      .parent = parent,
                                      .open = item.bytes,
                                      .space_before = assembly.is_behind_space});
  assembly.last_unit = assembly.segment.inlines.size() - 1;
  assembly.is_behind_space = false;
  if (item.kind != Kind::kUnit && !text.empty() && text.back() != ' ') text += ' ';
}

void SegmentBuilder::build(size_t begin, size_t end, const Segment& prototype, std::vector<Segment>& out) const {
  if (!trim(begin, end)) return;
  Assembly assembly{.segment = prototype};
  Segment& segment = assembly.segment;
  segment.bytes = bytes_of(begin, end);
  choose_styles(begin, end, assembly);
  const bool has_runs = has_spaces_at_likely_borders(begin, end);
  for (size_t i = begin; i < end; ++i) {
    const Item& item = items_[i];
    const size_t style_index = item.is_in_run ? assembly.styles.at(item.style.begin) : 0;
    switch (item.kind) {
      case Kind::kText:
        if (assembly.open_style != kNone && segment.inlines[assembly.open_style].style != style_index)
          assembly.end_style();
        if (style_index != 0 && assembly.open_style == kNone && !is_white(item.text)) {
          assembly.open_style = segment.inlines.size();
          segment.inlines.push_back({.kind = InlineKind::kStyle,
                                     .begin = segment.text.size(),
                                     .parent = assembly.parent(),
                                     .style = style_index});
        }
        append_text(item, assembly);
        break;
      case Kind::kOpen:
        assembly.end_style();
        segment.inlines.push_back({.begin = segment.text.size(),
                                   .parent = assembly.parent(),
                                   .open = item.bytes,
                                   .close = items_[item.partner].bytes});
        assembly.parents.push_back(segment.inlines.size() - 1);
        break;
      case Kind::kClose:
        assembly.end_style();
        segment.inlines[assembly.parents.back()].end = segment.text.size();
        assembly.parents.pop_back();
        break;
      case Kind::kUnit:
      case Kind::kSpace:
        append_unit(item, assembly);
        if (item.is_in_run) segment.inlines.back().style = style_index;
        break;
      case Kind::kBorder:
        if (!(item.is_likely_only && has_runs) && is_in_word(i, end, assembly)) append_unit(item, assembly);
        break;
      case Kind::kBarrier:
        break;
    }
  }
  assembly.end_style();
  const bool starts_with_text = items_[begin].kind == Kind::kText && !items_[begin].is_in_run;
  if (starts_with_text && segment.bytes.begin > items_[begin].bytes.begin) segment.lead.clear();
  if (!segment.text.empty() && segment.text.back() == ' ') {
    segment.text.pop_back();
    const bool ends_with_text = items_[end - 1].kind == Kind::kText && !items_[end - 1].is_in_run;
    if (!ends_with_text || segment.bytes.end == items_[end - 1].bytes.end) segment.tail = " ";
    for (auto& element : segment.inlines) {
      element.begin = std::min(element.begin, segment.text.size());
      element.end = std::min(element.end, segment.text.size());
    }
  }
  if (has_letter(segment.text)) out.push_back(std::move(segment));
}

}  // namespace nmt::documents
