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

/// The end of so many sentences; none where the text has fewer, or the last of them may go on.
std::optional<size_t> end_of_sentences(const SentenceSplitter& splitter, std::string_view text, size_t count) {
  const auto sentences = splitter.split(text);
  if (count == 0 || sentences.size() < count) return {};
  if (sentences.size() == count && !is_complete(splitter, text)) return {};
  const auto last = sentences[count - 1];
  return static_cast<size_t>(last.data() - text.data()) + last.size();
}

/// The end of the words of at most so many pieces, of one word at least; none where these are all.
std::optional<size_t> end_of_pieces(const TextCodec& codec, std::string_view text, size_t most) {
  std::vector<std::string_view> words;
  split_words(text, words);
  size_t pieces = 0, end = 0;
  for (const auto word : words) {
    pieces += codec.encode_target(word).size();
    if (end > 0 && pieces > most) return end;
    end = static_cast<size_t>(word.data() - text.data()) + word.size();
  }
  return {};
}

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
  std::string_view rest = strip(prefix);
  size_t part = 0;
  for (; part + 1 < parts.size() && !rest.empty(); ++part) {
    const auto& [pieces, text, repeated] = parts[part];
    const size_t own_pieces = pieces.front().size() - codec.prefix_length(pieces.front()) - repeated;
    const auto end = is_complete(of_source, text) ? end_of_sentences(of_target, rest, of_source.split(text).size())
                                                  : end_of_pieces(codec, rest, own_pieces);
    if (!end) break;
    own[part] = {.text = std::string(rest.substr(0, *end)), .is_whole = true};
    rest = strip(rest.substr(*end));
  }
  own[part].text = rest;
  return own;
}

}  // namespace nmt
