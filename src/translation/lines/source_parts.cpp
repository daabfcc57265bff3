#include "translation/lines/source_parts.h"

#include <algorithm>
#include <utility>

#include "base/code_points.h"
#include "base/unicode.h"
#include "translation/lines/translation_calls.h"

namespace nmt {
namespace {

/// A longer text is halved without a look at its pieces: a tokenizer takes some 200 bytes of memory for a character.
constexpr size_t kMostBytes = 256 << 10;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool ends_sentence(char c) { return c == '.' || c == '!' || c == '?' || c == ';' || c == ':'; }

size_t distance(size_t a, size_t b) { return a < b ? b - a : a - b; }

void add_parts(std::span<const TextCodec* const> codecs, std::string_view text, size_t max_length,
               const std::function<bool()>& stopped, std::vector<SourcePart>& parts) {
  text = strip(text);
  if (text.empty()) return;
  if (stopped && stopped()) throw TranslationStopped();
  if (const size_t middle = text.size() > kMostBytes ? halving_point(text) : 0; middle > 0) {
    add_parts(codecs, text.substr(0, middle), max_length, stopped, parts);
    add_parts(codecs, text.substr(middle), max_length, stopped, parts);
    return;
  }
  SourcePart part{.text = text};
  size_t longest = 0;
  for (const auto* codec : codecs) {
    part.pieces.push_back(codec->encode_source(text));
    longest = std::max(longest, part.pieces.back().size());
  }
  if (part.pieces.front().empty()) return;
  const size_t middle = longest > max_length ? halving_point(text) : 0;
  if (middle == 0) {  // it fits, or is one character of so many pieces: bytes of nonsense
    for (auto& ids : part.pieces) ids.resize(std::min(ids.size(), max_length));
    parts.push_back(std::move(part));
    return;
  }
  add_parts(codecs, text.substr(0, middle), max_length, stopped, parts);
  add_parts(codecs, text.substr(middle), max_length, stopped, parts);
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
  while (character > 0 && is_continuation_byte(text[character])) --character;
  if (character > 0) return character;
  character = middle + 1;
  while (character < text.size() && is_continuation_byte(text[character])) ++character;
  return character < text.size() ? character : 0;
}

std::vector<SourcePart> encode_in_parts(std::span<const TextCodec* const> codecs, std::string_view line,
                                        int64_t max_length, const std::function<bool()>& stopped) {
  std::vector<SourcePart> parts;
  add_parts(codecs, line, static_cast<size_t>(max_length), stopped, parts);
  return parts;
}

}  // namespace nmt
