#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/kinds.h"
#include "text/tokenizer.h"

namespace nmt {

/// The first four words of every word vocabulary, in the order of SpecialIds. No word of a text is one of them.
constexpr std::array<std::string_view, 4> kSpecialWords = {"<PAD>", "<UNK>", "<S>", "</S>"};

/// Counts the words (what white space parts) of a text, line by line. Memory grows with the different words alone.
class WordCounts {
 public:
  void add(std::string_view line);
  int64_t size() const { return static_cast<int64_t>(counts_.size()); }  ///< different words

  /// A vocabulary file as Kyubyong's program of 2017 writes it: `word TAB count` a line, first kSpecialWords with count
  /// 1000000000, then all words, the most frequent first; of equal counts, the one that came first, or the one
  /// whose code points are smaller.
  std::string to_tsv(WordTies ties = WordTies::kFirst) const;

 private:
  struct Count {
    int64_t count = 0;
    int64_t order = 0;  // of first occurrence
  };
  std::unordered_map<std::string, Count, StringHash, std::equal_to<>> counts_;
  std::vector<std::string_view> words_;  // of the line in hand
};

/// Which of a file's words are in the vocabulary: the others are unknown.
struct WordLimits {
  int64_t min_count = 1;       ///< rarer words are not
  int64_t max_size = 1000000;  ///< at most so many of the first ones, special words included
};

/// A vocabulary of words as they stand between white space (that of Python's str.split()). The ids are the places in
/// the file, less the words that the limits leave out.
class WordTokenizer final : public Tokenizer {
 public:
  /// From the bytes of a file such as WordCounts::to_tsv() makes (any order of words will do); `name` is shown in
  /// messages. Throws Error ("NAME:LINE: ...") for a damaged or foreign file, or one of which no word is left.
  WordTokenizer(std::string tsv, const std::string& name, WordLimits limits);
  WordTokenizer(const WordTokenizer&) = delete;

  static std::shared_ptr<const WordTokenizer> load(const std::filesystem::path& path, WordLimits limits);

  int64_t size() const override { return static_cast<int64_t>(words_.size()); }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;  ///< words joined by spaces
  std::string piece(int32_t id) const override;
  int64_t count(int32_t id) const;  ///< of the file; throws Error for an id out of range

  /// The file's bytes, as they were given: all words.
  const std::string& serialized() const { return serialized_; }
  const WordLimits& limits() const { return limits_; }

 private:
  std::string serialized_;
  WordLimits limits_;
  std::vector<std::string_view> words_;                // by id; into serialized_
  std::vector<int64_t> counts_;                        // by id
  std::unordered_map<std::string_view, int32_t> ids_;  // without the special words, which no text can name
};

/// The vectors that a file has for the pieces of a vocabulary.
struct WordVectors {
  std::vector<int32_t> ids;   ///< pieces that were found, ascending
  std::vector<float> values;  ///< [ids, size], row-major
  int64_t size = 0;
};

/// Reads a text file of word vectors (word2vec, GloVe, fastText; plain, gzip or zstd): a line a word, the word and its
/// numbers with spaces between, perhaps under a line "WORDS SIZE". A word stands for the piece of its text and for the
/// one that is "▁" and its text; where the file has both, each gets its own. Of a word that stands there twice the
/// first counts. Throws Error ("FILE:LINE: ...") for a line that has not `size` numbers, for what is no number, and for
/// a file without vectors or with fewer than its first line says.
WordVectors read_word_vectors(const std::filesystem::path& path, const Tokenizer& vocabulary, int64_t size);

}  // namespace nmt
