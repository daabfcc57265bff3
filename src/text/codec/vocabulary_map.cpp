#include "text/codec/vocabulary_map.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "text/words.h"

namespace nmt {
namespace {

using PieceIds = std::unordered_map<std::string, int32_t>;

PieceIds ids_of_pieces(const Tokenizer& tokenizer) {
  PieceIds ids;
  for (auto id = SpecialIds::kEnd + 1; id < tokenizer.size(); ++id) ids.emplace(tokenizer.piece(id), id);
  return ids;
}

bool begins_a_word(std::string_view piece) { return piece.starts_with(kSpaceMark); }

std::string text_of(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const bool is_mark = begins_a_word(piece);
    text += is_mark ? ' ' : piece.front();
    piece.remove_prefix(is_mark ? kSpaceMark.size() : 1);
  }
  return text;
}

/// The tokenizer takes each text for one that begins with a word: the first piece of a text that does not goes, or
/// gives its place to the same piece without the space.
void begin_inside_a_word(std::vector<int32_t>& pieces, const Tokenizer& tokenizer, const PieceIds& ids) {
  if (pieces.empty()) return;
  const auto first = tokenizer.piece(pieces.front());
  if (first == kSpaceMark) {
    pieces.erase(pieces.begin());
  } else if (begins_a_word(first)) {
    const auto inside = ids.find(first.substr(kSpaceMark.size()));
    if (inside != ids.end()) pieces.front() = inside->second;
  }
}

}  // namespace

std::vector<std::vector<int32_t>> map_vocabulary(const Tokenizer& from, const Normalization& normalization,
                                                 const Tokenizer& to) {
  const auto ids = ids_of_pieces(from);
  const bool of_words = dynamic_cast<const WordTokenizer*>(&to) != nullptr;
  std::vector<std::vector<int32_t>> map(static_cast<size_t>(to.size()));
  for (int32_t id = 0; id < to.size(); ++id) {
    auto& pieces = map[static_cast<size_t>(id)];
    if (id <= SpecialIds::kEnd) {
      pieces = {id};
      continue;
    }
    const auto piece = to.piece(id);
    if (const auto same = ids.find(piece); same != ids.end()) {
      pieces = {same->second};
      continue;
    }
    pieces = from.encode(normalize(text_of(piece), normalization));
    if (!of_words && !begins_a_word(piece)) begin_inside_a_word(pieces, from, ids);
    std::erase(pieces, SpecialIds::kUnknown);
    if (pieces.size() == 1 && from.piece(pieces.front()) == kSpaceMark) pieces.clear();  // nothing else was known
  }
  return map;
}

std::vector<std::string> sentence_differences(const TextCodec& theirs, const TextCodec& ours) {
  const auto &a = theirs.options(), &b = ours.options();
  std::vector<std::string> found;
  const auto compare = [&](const char* option, const auto& there, const auto& here) {
    if (there != here) found.push_back(fmt::format("{} is {} there and {} here", option, there, here));
  };
  compare("data.source_markers", name_of(a.source_markers), name_of(b.source_markers));
  compare("data.reverse_source", a.reverse_source, b.reverse_source);
  compare("tags_both_sides", a.tags_both_sides, b.tags_both_sides);
  return found;
}

}  // namespace nmt
