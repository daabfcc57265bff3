#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/files/mapped_file.h"
#include "text/codec/codec.h"

/// The layout of {train,valid,test}.bin, version 1. Little-endian; a header, then the columns in this order, each
/// starting at a multiple of 8 bytes (zeros between):
///
///   source_ends, target_ends            uint64[pairs]  where pair i's ids end in source_ids, target_ids (its ids begin
///   source_text_ends, target_text_ends  uint64[pairs]  where pair i - 1's end); the same of the texts' bytes
///   corpora                             int32[pairs]   which of the configured corpora the pair came from
///   source_ids, target_ids              int32[]        pieces, without <s> and </s>
///   source_bytes, target_bytes          char[]         UTF-8 (a reference: as it stands in its file)
namespace nmt::prepared_corpus_format {

static_assert(std::endian::native == std::endian::little, "the prepared corpus is mapped as it stands in memory");

constexpr std::array<char, 8> kMagic = {'N', 'M', 'T', 'P', 'A', 'I', 'R', 'S'};
constexpr uint32_t kVersion = 1;
constexpr uint64_t kAlignment = 8;

enum Column {
  kSourceEnds,
  kTargetEnds,
  kSourceTextEnds,
  kTargetTextEnds,
  kCorpora,
  kSourceIds,
  kTargetIds,
  kSourceBytes,
  kTargetBytes,
  kColumns
};

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t header_size = sizeof(Header);
  uint64_t pairs = 0;
  std::array<uint64_t, kColumns> column_bytes{};  // without what fills up to kAlignment
};
static_assert(sizeof(Header) == 96 && sizeof(Header) % kAlignment == 0);

constexpr uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace nmt::prepared_corpus_format

namespace nmt {

/// One split of the prepared data ({train,valid,test}.bin), mapped from disk: costs no memory of its own. Thread-safe.
/// The file's layout stands in prepared_corpus.cpp.
class PreparedCorpus {
 public:
  /// Throws Error for a missing, foreign, truncated or older file; every offset is checked.
  explicit PreparedCorpus(const std::filesystem::path& path, SourceForm source_form = {});

  /// Reads the whole file once: it must have this SHA-256, and its ids must be below the sizes of the vocabularies.
  /// Throws Error.
  void verify(const std::string& sha256, int64_t source_vocabulary, int64_t target_vocabulary) const;

  int64_t size() const;
  const SourceForm& source_form() const { return source_form_; }  ///< how batches have a source's pieces
  std::span<const int32_t> source(int64_t pair) const;            ///< pieces, without <s> and </s>
  std::span<const int32_t> target(int64_t pair) const;
  std::string_view source_text(int64_t pair) const;  ///< as it was encoded
  std::string_view target_text(int64_t pair) const;  ///< validation and test: the reference as it stands in the file
  int32_t corpus(int64_t pair) const;                ///< which of the configured corpora it came from

 private:
  /// What a column of ids takes of the file.
  struct IdColumn {
    size_t begin = 0, end = 0;  ///< in bytes
  };

  std::filesystem::path path_;
  MappedFile file_;
  int64_t size_ = 0;
  SourceForm source_form_;
  // Columns of the mapping, set by the constructor.
  const uint64_t* source_ends_ = nullptr;
  const uint64_t* target_ends_ = nullptr;
  const uint64_t* source_text_ends_ = nullptr;
  const uint64_t* target_text_ends_ = nullptr;
  const int32_t* source_ids_ = nullptr;
  const int32_t* target_ids_ = nullptr;
  const char* source_bytes_ = nullptr;
  const char* target_bytes_ = nullptr;
  const int32_t* corpora_ = nullptr;
  IdColumn source_column_, target_column_;
};

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
