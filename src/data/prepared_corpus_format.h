#pragma once

#include <array>
#include <bit>
#include <cstdint>

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
