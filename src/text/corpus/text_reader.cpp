#include "text/corpus/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {
namespace {

constexpr auto kNowhere = std::string_view::npos;

/// XML's white space.
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Whether a tag's name ends at text[at].
bool name_ends(std::string_view text, size_t at) {
  return at >= text.size() || text[at] == '>' || text[at] == '/' || is_space(text[at]);
}

/// True if text begins with one of the names and the name ends there.
bool begins_with_tag(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return text.starts_with(name) && text.size() > name.size() && name_ends(text, name.size());
  });
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The same as line.find(name, at) for a name in small letters, whose letters in the line may be capitals.
size_t find_name(std::string_view line, std::string_view name, size_t at) {
  const auto found = std::search(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), name.begin(), name.end(),
                                 [](char in_line, char in_name) { return lower(in_line) == in_name; });
  return found == line.end() ? kNowhere : static_cast<size_t>(found - line.begin());
}

/// The same for a tag: its name ends there.
size_t find_tag(std::string_view line, std::string_view name, size_t at) {
  do {
    at = find_name(line, name, at);
    if (at == kNowhere || name_ends(line, at + name.size())) return at;
    at += name.size();
  } while (true);
}

/// Where the `>` stands that ends the tag at text[at]: not within the value of an attribute, if that has an end.
size_t find_tag_end(std::string_view text, size_t at) {
  for (; at < text.size() && text[at] != '>'; ++at) {
    if (text[at] != '=' || at + 1 >= text.size() || (text[at + 1] != '"' && text[at + 1] != '\'')) continue;
    const size_t end = text.find(text[at + 1], at + 2);
    if (end != kNowhere) at = end;
  }
  return at < text.size() ? at : kNowhere;
}

/// The name of IWSLT's element that is the whole line, or that the line opens or closes; empty where it is text.
std::string_view iwslt_element(std::string_view line) {
  constexpr std::array<std::string_view, 8> kElements = {"url",      "talkid",     "keywords", "speaker",
                                                         "reviewer", "translator", "title",    "description"};
  line = strip_end(line);
  if (!line.starts_with('<')) return {};
  if (line == "</doc>" || (begins_with_tag(line, {"<doc"}) && find_tag_end(line, 0) + 1 == line.size())) return "doc";
  for (const auto name : kElements) {
    const std::string end = fmt::format("</{}>", name);
    if (line.substr(1).starts_with(name) && name_ends(line, 1 + name.size()) && line.ends_with(end) &&
        line.find(end) + end.size() == line.size())
      return name;
  }
  return {};
}

/// A text of one element might be any text that has a title; files of IWSLT begin with several.
bool begins_as_iwslt(std::string_view text) {
  std::set<std::string_view> elements;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == kNowhere ? text.size() : end + 1);
    if (strip(line).empty()) continue;
    const auto element = iwslt_element(line);
    if (element.empty()) break;
    elements.insert(element);
  }
  return elements.size() > 1 && (elements.contains("url") || elements.contains("talkid") || elements.contains("doc"));
}

}  // namespace

TextFormat text_format(const std::filesystem::path& path, std::string_view beginning) {
  std::filesystem::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name.replace_extension();
  const std::string extension = name.extension().string();
  if (name.string().starts_with("train.tags.")) return TextFormat::kTags;
  if (extension == ".sgm" || extension == ".sgml" || extension == ".xml") return TextFormat::kSegments;
  const std::string_view text = strip(without_byte_order_mark(beginning));
  if (text.starts_with("<?xml ") || text.starts_with("<!DOCTYPE ") ||
      begins_with_tag(text, {"<mteval", "<srcset", "<refset", "<tstset"}))
    return TextFormat::kSegments;
  return begins_as_iwslt(text) ? TextFormat::kTags : TextFormat::kPlain;
}

std::optional<std::string_view> TextReader::next() {
  const auto text = format_ == TextFormat::kSegments ? next_segment() : next_line();
  if (text) ++count_;
  return text;
}

std::optional<std::string_view> TextReader::next_line() {
  while (auto line = lines_.next()) {
    if (line_number() == 1) line = without_byte_order_mark(*line);
    if (format_ == TextFormat::kTags) {
      if (iwslt_element(*line).empty()) return strip(*line);
      ++markup_lines_;
      continue;
    }
    if (line->ends_with('\r')) line->remove_suffix(1);
    return line;
  }
  return std::nullopt;
}

std::optional<std::string_view> TextReader::next_segment() {
  while (next_segment_ == segments_.size()) {
    const auto line = lines_.next();
    if (line) {
      split_segments(*line);
      continue;
    }
    if (comment_line_ > 0)
      throw Error(fmt::format("{}:{}: <!-- does not end; close the comment with -->", path().string(), comment_line_));
    return std::nullopt;
  }
  return segments_[next_segment_++];
}

void TextReader::split_segments(std::string_view line) {
  segments_.clear();
  next_segment_ = 0;
  constexpr std::string_view kEnd = "</seg>", kComment = "<!--", kCommentEnd = "-->";
  for (size_t at = 0; at < line.size();) {
    if (comment_line_ > 0) {
      const size_t end = line.find(kCommentEnd, at);
      if (end == kNowhere) break;
      comment_line_ = 0;
      at = end + kCommentEnd.size();
    }
    const size_t segment = find_tag(line, "<seg", at), comment = line.find(kComment, at);
    const std::string_view between = line.substr(0, std::min(segment, comment));
    for (const std::string_view tag : {"<src", "<ref", "<hyp", "<tu", "<tuv"})
      if (find_tag(between, tag, std::min(at, between.size())) != kNowhere)
        throw Error(fmt::format(
            "{}:{}: {}> stands in files that hold several sides; those whose outermost element is <dataset> (WMT) or "
            "<tmx> are read, cut others into a file for each side",
            path().string(), line_number(), tag));
    if (comment < segment) {
      comment_line_ = line_number();
      at = comment + kComment.size();
      continue;
    }
    if (segment == kNowhere) break;
    const size_t begin = find_tag_end(line, segment);
    if (begin != kNowhere && line[begin - 1] == '/') {
      segments_.emplace_back();
      at = begin;
      continue;
    }
    const size_t end = find_name(line, kEnd, begin == kNowhere ? line.size() : begin);
    if (end == kNowhere) {
      throw Error(fmt::format("{}:{}: <seg> does not end on its line; put each segment on one line", path().string(),
                              line_number()));
    }
    segments_.emplace_back(strip(remove_tags(line.substr(begin + 1, end - begin - 1))));
    at = end;
  }
  if (segments_.empty()) ++markup_lines_;
}

std::string remove_tags(std::string_view text) {
  const auto opens_tag = [](char next) {
    return (lower(next) >= 'a' && lower(next) <= 'z') || next == '/' || next == '!' || next == '?';
  };
  std::string kept;
  while (!text.empty()) {
    const size_t begin = text.find('<');
    kept += text.substr(0, begin);
    if (begin == kNowhere) break;
    text.remove_prefix(begin);
    const size_t end = text.size() > 1 && opens_tag(text[1]) ? find_tag_end(text, 0) : kNowhere;
    if (end == kNowhere) kept += '<';
    text.remove_prefix(end == kNowhere ? 1 : end + 1);
  }
  return kept;
}

}  // namespace nmt
