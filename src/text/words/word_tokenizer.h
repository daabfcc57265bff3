#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {

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

}  // namespace nmt
