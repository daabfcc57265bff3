#include "base/code_points.h"

namespace nmt {

uint32_t invalid_length(std::string_view text, size_t i) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
  const uint8_t first = byte(i);
  if (first < 0xC2 || first > 0xF4) return 1;
  const uint32_t whole = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  uint8_t low = 0x80, high = 0xBF;  // of the second byte
  if (first == 0xE0) low = 0xA0;    // below: overlong
  if (first == 0xED) high = 0x9F;   // above: surrogates
  if (first == 0xF0) low = 0x90;    // below: overlong
  if (first == 0xF4) high = 0x8F;   // above: beyond U+10FFFF
  uint32_t length = 1;
  for (; length < whole && i + length < text.size(); ++length) {
    if (byte(i + length) < low || byte(i + length) > high) break;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const bool is_control = (c.value < 0x20 && c.value != '\t') || (c.value >= 0x7F && c.value <= 0x9F);
    if (is_control || !c.is_valid)
      result += '?';
    else
      result += text.substr(i, c.length);
    i += c.length;
  }
  return result;
}

std::string printable_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return printable(text);
}

void append_code_points(std::string_view text, WhiteSpace white_space, std::vector<uint32_t>& out) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (white_space == WhiteSpace::kKeep || !is_python_space(c)) out.push_back(c);
  }
}

}  // namespace nmt
