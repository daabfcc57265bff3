#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/codec/codec.h"

namespace nmt {

/// Which target pieces translate a source piece: what decoding.shortlist takes its candidates from. nmt-prepro makes it
/// (train_lexicon) and writes it beside the prepared data; nmt-train copies it into model directories.
class Lexicon {
 public:
  /// best: for each source piece its translations, the most probable first, each below target_vocabulary. frequent:
  /// all target pieces, the most frequent of the training text first. most: how many were asked for a source piece.
  /// vocabularies: of vocabularies_of().
  Lexicon(std::vector<std::vector<int32_t>> best, std::vector<int32_t> frequent, int64_t max, std::string vocabularies);

  /// Throws Error for a file that is missing, foreign, damaged or of another version.
  static Lexicon read(const std::filesystem::path& path);
  void write(const std::filesystem::path& path) const;  ///< throws as write_file_atomically

  std::span<const int32_t> best(int32_t source_piece) const;  ///< fewer than most() where fewer are probable
  std::span<const int32_t> frequent() const { return frequent_; }
  int64_t max() const { return max_; }
  int64_t source_vocabulary() const { return static_cast<int64_t>(ends_.size()); }
  int64_t target_vocabulary() const { return static_cast<int64_t>(frequent_.size()); }
  const std::string& vocabularies() const { return vocabularies_; }

 private:
  Lexicon() = default;
  void parse(std::string_view bytes, const std::filesystem::path& path);

  std::vector<uint32_t> ends_;  // where the translations of each source piece end in translations_
  std::vector<int32_t> translations_, frequent_;
  int64_t max_ = 0;
  std::string vocabularies_;
};

constexpr const char* kLexiconFile = "shortlist.bin";

/// SHA-256 of the pieces of both languages in their order: a lexicon is for one pair of vocabularies.
std::string vocabularies_of(const TextCodec& codec);

}  // namespace nmt
