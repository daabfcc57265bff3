#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {

/// The vectors that a file has for the pieces of a vocabulary.
struct WordVectors {
  std::vector<int32_t> ids;   ///< pieces that were found, ascending
  std::vector<float> values;  ///< [ids, size], row-major
  int64_t size = 0;
};

/// Reads a text file of word vectors (word2vec, GloVe, fastText; plain or gzip): a line a word, the word and its
/// numbers with spaces between, perhaps under a line "WORDS SIZE". A word stands for the piece of its text and for the
/// one that is "▁" and its text; where the file has both, each gets its own. Of a word that stands there twice the
/// first counts. Throws Error ("FILE:LINE: ...") for a line that has not `size` numbers, for what is no number, and for
/// a file without vectors or with fewer than its first line says.
WordVectors read_word_vectors(const std::filesystem::path& path, const Tokenizer& vocabulary, int64_t size);

}  // namespace nmt
