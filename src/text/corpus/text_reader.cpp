#include "text/corpus/text_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/byte_order_mark.h"
#include "base/unicode.h"

namespace nmt {
namespace {

constexpr int kLinesLookedAt = 100;

std::optional<TextFormat> format_of_name(std::filesystem::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  const std::string extension = path.extension().string();
  if (path.filename().string().starts_with("train.tags.")) return TextFormat::kTags;
  if (extension == ".sgm" || extension == ".sgml" || extension == ".xml") return TextFormat::kSegments;
  return std::nullopt;
}

/// True if text begins with one of the names and the name ends there.
bool begins_with_tag(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return text.starts_with(name) && text.size() > name.size() &&
           (text[name.size()] == '>' || text[name.size()] == ' ');
  });
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// As line.find(name, at) of a name in small letters, whose letters in the line may be capitals.
size_t find_name(std::string_view line, std::string_view name, size_t at) {
  const auto found = std::search(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), name.begin(), name.end(),
                                 [](char in_line, char in_name) { return lower(in_line) == in_name; });
  return found == line.end() ? std::string_view::npos : static_cast<size_t>(found - line.begin());
}

TextFormat format_of_content(const std::filesystem::path& path) {
  LineReader lines(path);
  for (int i = 0; i < kLinesLookedAt; ++i) {
    const auto line = lines.next();
    if (!line) break;
    const std::string_view text = strip(i == 0 ? without_byte_order_mark(*line) : *line);
    if (text.empty()) continue;
    if (text.starts_with("<?xml ") || text.starts_with("<!DOCTYPE ") ||
        begins_with_tag(text, {"<mteval", "<srcset", "<refset", "<tstset"})) {
      return TextFormat::kSegments;
    }
    if (begins_with_tag(text, {"<url", "<doc", "<talkid", "<keywords", "<speaker", "<title"})) return TextFormat::kTags;
    break;
  }
  return TextFormat::kPlain;
}

}  // namespace

TextFormat detect_format(const std::filesystem::path& path) {
  const auto format = format_of_content(path);  // refuses what is no text, whatever its name
  return format_of_name(path).value_or(format);
}

std::string_view format_name(TextFormat format) {
  switch (format) {
    case TextFormat::kPlain:
      return "plain text";
    case TextFormat::kTags:
      return "IWSLT tags";
    case TextFormat::kSegments:
      return "sgm/xml segments";
  }
  return "";
}

TextReader::TextReader(const std::filesystem::path& path, TextFormat format) : lines_(path), format_(format) {}

std::optional<std::string_view> TextReader::next() {
  const auto text = format_ == TextFormat::kSegments ? next_segment() : next_line();
  if (text) ++count_;
  return text;
}

std::optional<std::string_view> TextReader::next_line() {
  while (auto line = lines_.next()) {
    if (line_number() == 1) line = without_byte_order_mark(*line);
    if (format_ == TextFormat::kTags) {
      if (!line->starts_with('<')) return strip(*line);
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
      if (end == std::string_view::npos) break;
      comment_line_ = 0;
      at = end + kCommentEnd.size();
    }
    const size_t comment = line.find(kComment, at);
    at = find_name(line, "<seg", at);
    if (comment < at) {
      comment_line_ = line_number();
      at = comment + kComment.size();
      continue;
    }
    if (at == std::string_view::npos) break;
    const size_t name_end = at + 4;
    if (name_end < line.size() && line[name_end] != ' ' && line[name_end] != '>') {  // <segment>, say
      at = name_end;
      continue;
    }
    const size_t begin = line.find('>', at), end = find_name(line, kEnd, at);
    if (end == std::string_view::npos || begin > end) {
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
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const size_t end = text.size() > 1 && opens_tag(text[1]) ? text.find('>') : std::string_view::npos;
    if (end == std::string_view::npos) kept += '<';
    text.remove_prefix(end == std::string_view::npos ? 1 : end + 1);
  }
  return kept;
}

}  // namespace nmt
