#include "text/corpus/text_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
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

TextFormat format_of_content(const std::filesystem::path& path) {
  LineReader lines(path);
  for (int i = 0; i < kLinesLookedAt; ++i) {
    auto line = lines.next();
    if (!line) break;
    if (i == 0 && line->starts_with(kByteOrderMark)) line->remove_prefix(kByteOrderMark.size());
    const std::string_view text = strip(*line);
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
    if (line_number() == 1 && line->starts_with(kByteOrderMark)) line->remove_prefix(kByteOrderMark.size());
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
    if (!line) return std::nullopt;
    split_segments(*line);
  }
  return segments_[next_segment_++];
}

void TextReader::split_segments(std::string_view line) {
  segments_.clear();
  next_segment_ = 0;
  for (size_t at = 0; (at = line.find("<seg", at)) != std::string_view::npos;) {
    constexpr std::string_view kEnd = "</seg>";
    const size_t name_end = at + 4;
    if (name_end < line.size() && line[name_end] != ' ' && line[name_end] != '>') {  // <segment>, say
      at = name_end;
      continue;
    }
    const size_t begin = line.find('>', at), end = line.find(kEnd, at);
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
  std::string kept;
  while (!text.empty()) {
    const size_t begin = text.find('<');
    kept += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const size_t end = text.find('>', 1);
    if (end == std::string_view::npos || end == 1) {  // no tag, or "<>", which is none
      const size_t literal = end == 1 ? 2 : 1;
      kept += text.substr(0, literal);
      text.remove_prefix(literal);
    } else {
      text.remove_prefix(end + 1);
    }
  }
  return kept;
}

}  // namespace nmt
