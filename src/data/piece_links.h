#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "data/prepared_corpus.h"

namespace nmt {

/// A source piece and a target piece of a pair that say the same, by their places among the prepared pieces.
struct PieceLink {
  uint16_t source = 0, target = 0;
  bool operator==(const PieceLink&) const = default;
};

constexpr const char* kPieceLinksFile = "alignment.bin";
/// Places of a pair that links can name: pairs with longer sides have no links.
constexpr int64_t kLongestLinked = 1 << 16;

/// The alignment of the training pairs (data.alignment), mapped from disk: what training.guided_alignment learns from.
/// Thread-safe.
class PieceLinks {
 public:
  /// Reads the whole file once: it must have this SHA-256, and links of these pairs only. Throws Error.
  PieceLinks(const std::filesystem::path& path, const std::string& sha256, const PreparedCorpus& pairs);

  std::span<const PieceLink> of(int64_t pair) const;  ///< ascending by target

 private:
  MappedFile file_;
  const uint64_t* ends_ = nullptr;  // [pairs]
  const PieceLink* links_ = nullptr;
};

/// Throws as write_file_atomically.
void write_piece_links(const std::filesystem::path& path, const std::vector<uint64_t>& ends,
                       const std::vector<PieceLink>& links);

}  // namespace nmt
