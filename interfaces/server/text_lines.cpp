#include "server/text_lines.h"

#include <algorithm>

#include "server/languages/language_detector.h"

namespace nmt {

TextLines::TextLines(std::string_view text) {
  between_.emplace_back();
  for (int64_t number = 0; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t next = std::min(end + 1, text.size());
    if (has_letters(line)) {
      lines_.emplace_back(line);
      numbers_.push_back(number);
      between_.emplace_back(text.substr(line.size(), next - line.size()));
    } else {
      between_.back() += text.substr(0, next);
    }
    text.remove_prefix(next);
  }
}

std::string TextLines::with(std::span<const std::string> translations) const {
  std::string text = between_.front();
  for (size_t i = 0; i < lines_.size(); ++i) text += translations[i] + between_[i + 1];
  return text;
}

}  // namespace nmt
