#include "translation/lines/source_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/unicode.h"
#include "text/codec/language_tags.h"
#include "text/sentence_splitter.h"
#include "translation/lines/request.h"

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

TagCheck::TagCheck(const TextCodec& codec) : codec_(codec), languages_(target_languages(codec)) {
  const auto is_tag = [&](int32_t id) { return codec.source().piece(id).ends_with("<<"); };
  if (std::ranges::any_of(codec.prefix_ids(), is_tag) || languages_.size() < 2) languages_.clear();
}

std::optional<std::string> TagCheck::problem_of(std::string_view line) const {
  line = strip(line);
  if (languages_.empty() || line.empty() || !leading_tag(codec_, line).text.empty()) return {};
  const auto unknown = tag_like_beginning(line);
  const auto what = unknown.empty() ? "no target language is given (--target-language)"
                                    : fmt::format("the model does not know the tag {}", unknown);
  constexpr size_t kNamed = 4;
  const auto named = std::span(languages_).first(std::min(languages_.size(), kNamed));
  return fmt::format("{}; it translates into {}{}", what, fmt::join(named, ", "),
                     languages_.size() > kNamed ? ", ..." : "");
}

LanguageTag leading_tag(const TextCodec& codec, std::string_view line) {
  line = strip(line);
  const auto tag = tag_like_beginning(line);
  if (tag.empty()) return {};
  const auto rest = strip(line.substr(tag.size()));
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

namespace {

/// Whether a further sentence would be one of its own: "Dr." may continue.
bool is_complete(const SentenceSplitter& splitter, std::string_view text) {
  constexpr std::string_view kNext = "Aa";
  const std::string longer = std::string(text) + " " + std::string(kNext);
  return splitter.split(longer).back() == kNext;
}

/// A prefix, of which parts take the beginning one after the other. Each look at it is as long as what is taken.
class Rest {
 public:
  Rest(std::string_view text, const SentenceSplitter& splitter, const TextCodec& codec)
      : text_(text), splitter_(splitter), codec_(codec), sentences_(splitter.split(text)) {}

  std::string_view text() const { return text_; }
  /// Takes so many sentences; none where the text has fewer, or the last of them may continue.
  std::optional<std::string_view> take_sentences(size_t count) {
    const size_t left = sentences_.size() - next_;
    if (count == 0 || left < count) return {};
    if (left == count && !is_complete(splitter_, text_)) return {};
    const auto last = sentences_[next_ + count - 1];
    return take(static_cast<size_t>(last.data() - text_.data()) + last.size());
  }
  /// Takes the words of at most so many pieces, one word at least; none where these are all.
  std::optional<std::string_view> take_pieces(size_t most) {
    size_t pieces = 0, end = 0;
    for (size_t i = 0; i < text_.size();) {
      const size_t begin = i + spaces_at(i);
      for (i = begin; i < text_.size() && space_length(text_, i) == 0;) ++i;
      if (i == begin) break;
      pieces += codec_.encode_target(text_.substr(begin, i - begin)).size();
      if (end > 0 && pieces > most) return take(end);
      end = i;
    }
    return {};
  }

 private:
  size_t spaces_at(size_t i) const {
    const size_t begin = i;
    while (const size_t length = space_length(text_, i)) i += length;
    return i - begin;
  }
  std::string_view take(size_t size) {
    const auto taken = text_.substr(0, size);
    text_ = strip(text_.substr(size));
    while (next_ < sentences_.size() && sentences_[next_].data() + sentences_[next_].size() <= text_.data()) ++next_;
    return taken;
  }

  std::string_view text_;
  const SentenceSplitter& splitter_;
  const TextCodec& codec_;
  const std::vector<std::string_view> sentences_;
  size_t next_ = 0;  // the first of which something is left
};

}  // namespace

std::vector<PartPrefix> divide_prefix(std::string_view prefix, std::span<const SourcePart> parts,
                                      const TextCodec& codec) {
  std::vector<PartPrefix> own(parts.size());
  if (parts.empty() || strip(prefix).empty()) return own;
  if (parts.size() == 1) {
    own.front().text = prefix;
    return own;
  }
  const SentenceSplitter of_source(codec.options().source_language), of_target(codec.options().target_language);
  Rest rest(strip(prefix), of_target, codec);
  size_t part = 0;
  for (; part + 1 < parts.size() && !rest.text().empty(); ++part) {
    const auto& [pieces, text, repeated] = parts[part];
    const size_t own_pieces = pieces.front().size() - codec.prefix_length(pieces.front()) - repeated;
    const auto taken =
        is_complete(of_source, text) ? rest.take_sentences(of_source.split(text).size()) : rest.take_pieces(own_pieces);
    if (!taken) break;
    own[part] = {.text = std::string(*taken), .is_whole = true};
  }
  own[part].text = rest.text();
  return own;
}

}  // namespace nmt
