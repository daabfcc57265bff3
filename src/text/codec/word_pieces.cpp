#include "text/codec/word_pieces.h"

#include <algorithm>

#include "base/unicode.h"

namespace nmt {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  return {words.begin(), words.end()};
}

/// What a piece adds to a text that it stands behind.
std::string text_behind_another(const Tokenizer& tokenizer, int32_t id) {
  constexpr int32_t kOther = SpecialIds::kUnknown;  // every vocabulary has it, and writes it
  return tokenizer.decode(std::vector{kOther, id}).substr(tokenizer.decode(std::vector{kOther}).size());
}

/// For each piece the number of the word of the decoded text that it ends in.
std::vector<int64_t> count_words(const Tokenizer& tokenizer, std::span<const int32_t> ids, int64_t word_count) {
  std::vector<int64_t> word_of_piece;
  int64_t word = -1;
  bool between_words = true;
  for (const int32_t id : ids) {
    const auto text = text_behind_another(tokenizer, id);
    std::vector<std::string_view> words;
    split_words(text, words);
    if (!words.empty()) {
      const bool begins_word = between_words || space_length(text, 0) > 0;
      word += std::ssize(words) - 1 + (begins_word ? 1 : 0);
      between_words = words.back().end() != std::string_view(text).end();
    } else if (!text.empty()) {
      between_words = true;  // a space alone belongs to the word that it begins
    }
    const int64_t own = between_words && words.empty() ? word + 1 : word;
    word_of_piece.push_back(std::clamp<int64_t>(own, 0, std::max<int64_t>(0, word_count - 1)));
  }
  return word_of_piece;
}

}  // namespace

WordPieces source_words(const TextCodec& codec, std::string_view line, std::span<const int32_t> ids) {
  WordPieces result{.words = words_of(line), .word_of_piece = {}};
  std::vector<int32_t> one_by_one;
  for (size_t word = 0; word < result.words.size(); ++word) {
    const auto own = codec.source().encode(codec.normalized(result.words[word]));
    one_by_one.insert(one_by_one.end(), own.begin(), own.end());
    result.word_of_piece.insert(result.word_of_piece.end(), own.size(), static_cast<int64_t>(word));
  }
  if (!std::ranges::equal(one_by_one, ids))
    result.word_of_piece = count_words(codec.source(), ids, std::ssize(result.words));
  return result;
}

WordPieces target_words(const TextCodec& codec, std::span<const int32_t> ids) {
  WordPieces result{.words = words_of(codec.decode_target(ids)), .word_of_piece = {}};
  result.word_of_piece = count_words(codec.target(), ids, std::ssize(result.words));
  return result;
}

}  // namespace nmt
