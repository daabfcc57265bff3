#include "translation/lines/source_parts.h"

#include <algorithm>
#include <string>
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

/// How many pieces behind those of source_prefix are of the tag: with what the tokenizer puts before it.
int64_t length_of_tag(const TextCodec& codec, std::span<const int32_t> pieces, const LanguageTag& tag) {
  const int64_t prefix = codec.prefix_length(pieces);
  const auto found = std::ranges::find(pieces.subspan(prefix), tag.piece);
  return found == pieces.end() ? 0 : found - pieces.begin() + 1 - prefix;
}

class PartMaker {
 public:
  PartMaker(std::span<const TextCodec* const> codecs, size_t max_length, const std::function<bool()>& stopped,
            const LanguageTag& tag)
      : codecs_(codecs), max_length_(max_length), stopped_(stopped), tag_(tag) {}

  void add(std::string_view text) {
    text = strip(text);
    if (text.empty()) return;
    if (stopped_ && stopped_()) throw TranslationStopped();
    if (const size_t middle = text.size() > kMostBytes ? halving_point(text) : 0; middle > 0)
      return add_halves(text, middle);
    SourcePart part{.text = text};
    size_t longest = 0;
    for (const auto* codec : codecs_) {
      part.pieces.push_back(pieces_of(*codec, text));
      longest = std::max(longest, part.pieces.back().size());
    }
    auto& first = part.pieces.front();
    if (!tag_.text.empty()) part.repeated = length_of_tag(*codecs_.front(), first, tag_);
    if (first.empty()) return;
    if (part.repeated > 0 && std::ssize(first) == codecs_.front()->prefix_length(first) + part.repeated) return;
    if (const size_t middle = longest > max_length_ ? halving_point(text) : 0; middle > 0)
      return add_halves(text, middle);
    // It fits, or is one character of so many pieces: bytes of nonsense.
    for (auto& ids : part.pieces) ids.resize(std::min(ids.size(), max_length_));
    parts_.push_back(std::move(part));
  }
  std::vector<SourcePart> parts() && { return std::move(parts_); }

 private:
  void add_halves(std::string_view text, size_t middle) {
    add(text.substr(0, middle));
    add(text.substr(middle));
  }
  std::vector<int32_t> pieces_of(const TextCodec& codec, std::string_view text) const {
    if (tag_.text.empty()) return codec.encode_source(text);
    // Before another part than that which it stands before in the line, it may not glue to the first word.
    const bool needs_space = !is_space(tag_.text.back()) && text.data() != tag_.text.data() + tag_.text.size();
    return codec.encode_source(std::string(tag_.text) + (needs_space ? " " : "") + std::string(text));
  }

  std::span<const TextCodec* const> codecs_;
  size_t max_length_;
  const std::function<bool()>& stopped_;
  const LanguageTag& tag_;
  std::vector<SourcePart> parts_;
};

}  // namespace

LanguageTag leading_tag(const TextCodec& codec, std::string_view line) {
  constexpr std::string_view kOpening = ">>", kClosing = "<<";
  constexpr size_t kLongest = 100;  // bytes
  line = strip(line);
  if (!line.starts_with(kOpening)) return {};
  const size_t closing = line.substr(0, kLongest).find(kClosing, kOpening.size());
  if (closing == std::string_view::npos) return {};
  const auto tag = line.substr(0, closing + kClosing.size()), rest = strip(line.substr(tag.size()));
  const auto pieces = codec.encode_source(tag);
  const auto own = std::span(pieces).subspan(codec.prefix_length(pieces));
  const auto is_space = [&](int32_t id) { return codec.source().piece(id) == kSpaceMark; };
  if (own.empty() || !std::ranges::all_of(own.first(own.size() - 1), is_space)) return {};
  const auto piece = codec.source().piece(own.back()), normalized = codec.normalized(tag);
  if (piece != normalized && piece != std::string(kSpaceMark) + normalized) return {};
  const size_t end = line.size() - rest.size();
  if (end == tag.size() && !rest.empty() &&
      length_of_tag(codec, codec.encode_source(std::string(tag) + "a"), {tag, own.back()}) == 0)
    return {};  // of a vocabulary of words
  return {.text = line.substr(0, end), .piece = own.back()};
}

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
                                        int64_t max_length, const std::function<bool()>& stopped,
                                        const LanguageTag& tag) {
  PartMaker maker(codecs, static_cast<size_t>(max_length), stopped, tag);
  maker.add(line);
  return std::move(maker).parts();
}

}  // namespace nmt
