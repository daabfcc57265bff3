#include "decoding/source_parts.h"

#include "base/unicode.h"

namespace nmt {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool ends_sentence(char c) { return c == '.' || c == '!' || c == '?' || c == ';' || c == ':'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t distance(size_t a, size_t b) { return a < b ? b - a : a - b; }

void add_parts(const TextCodec& codec, std::string_view text, size_t max_length,
               std::vector<std::vector<int32_t>>& parts) {
  text = strip(text);
  if (text.empty()) return;
  auto ids = codec.encode_source(text);
  if (ids.empty()) return;
  const size_t middle = ids.size() > max_length ? halving_point(text) : 0;
  if (middle == 0) {
    if (ids.size() > max_length) ids.resize(max_length);  // one character of that many pieces: bytes of nonsense
    parts.push_back(std::move(ids));
    return;
  }
  add_parts(codec, text.substr(0, middle), max_length, parts);
  add_parts(codec, text.substr(middle), max_length, parts);
}

}  // namespace

size_t halving_point(std::string_view text) {
  const size_t middle = text.size() / 2, quarter = text.size() / 4;
  size_t sentence = 0, space = 0;  // 0: none found
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (!is_space(text[i])) continue;
    if (space == 0 || distance(i, middle) < distance(space, middle)) space = i;
    if (!ends_sentence(text[i - 1]) || i < quarter || i > text.size() - quarter) continue;
    if (sentence == 0 || distance(i, middle) < distance(sentence, middle)) sentence = i;
  }
  if (sentence > 0) return sentence;
  if (space > 0) return space;
  size_t character = middle;
  while (character > 0 && continues_character(text[character])) --character;
  if (character > 0) return character;
  character = middle + 1;
  while (character < text.size() && continues_character(text[character])) ++character;
  return character < text.size() ? character : 0;
}

std::vector<std::vector<int32_t>> encode_in_parts(const TextCodec& codec, std::string_view line, int64_t max_length) {
  std::vector<std::vector<int32_t>> parts;
  add_parts(codec, line, static_cast<size_t>(max_length), parts);
  return parts;
}

}  // namespace nmt
