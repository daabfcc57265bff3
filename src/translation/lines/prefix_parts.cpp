#include "translation/lines/prefix_parts.h"

#include <optional>

#include "base/unicode.h"
#include "base/words.h"
#include "text/sentence_splitter.h"

namespace nmt {
namespace {

/// Whether a further sentence would be one of its own: "Dr." may go on.
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
  /// Of so many sentences; none where the text has fewer, or the last of them may go on.
  std::optional<std::string_view> take_sentences(size_t count) {
    const size_t left = sentences_.size() - next_;
    if (count == 0 || left < count) return {};
    if (left == count && !is_complete(splitter_, text_)) return {};
    const auto last = sentences_[next_ + count - 1];
    return take(static_cast<size_t>(last.data() - text_.data()) + last.size());
  }
  /// Of the words of at most so many pieces, of one word at least; none where these are all.
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
