#include "data/prepared_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
namespace {

namespace format = prepared_corpus_format;

[[noreturn]] void throw_damaged(const std::filesystem::path& path, const std::string& why) {
  throw Error(fmt::format("{}: {}; run nmt-prepro again with --overwrite", path.string(), why));
}

format::Header read_header(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  format::Header header;
  const size_t known = std::min(bytes.size(), sizeof header.magic);
  if (bytes.empty() || std::memcmp(bytes.data(), format::kMagic.data(), known) != 0) {
    throw_damaged(path, "not a file of nmt-prepro");
  }
  if (bytes.size() < sizeof header) throw_damaged(path, "cut short in its header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != format::kVersion) {
    throw_damaged(path, fmt::format("of format version {}, where {} is read", header.version, format::kVersion));
  }
  if (header.header_size != sizeof header) throw_damaged(path, "damaged in its header");
  return header;
}

/// Where each column begins; checks that they fill the file exactly and agree with the number of pairs.
std::array<size_t, format::kColumns> column_offsets(const std::filesystem::path& path, const format::Header& header,
                                                    uint64_t file_size) {
  std::array<size_t, format::kColumns> offsets{};
  uint64_t offset = sizeof header;
  for (int column = 0; column < format::kColumns; ++column) {
    offsets[column] = offset;
    const uint64_t bytes = header.column_bytes[column];
    // The first test keeps the sum from overflowing.
    if (bytes > file_size || offset + format::aligned(bytes) > file_size) {
      throw_damaged(path, fmt::format("cut short at {} bytes", file_size));
    }
    offset += format::aligned(bytes);
  }
  if (offset != file_size) throw_damaged(path, fmt::format("of {} bytes, where {} are right", file_size, offset));
  for (int column = format::kSourceEnds; column <= format::kTargetTextEnds; ++column) {
    if (header.column_bytes[column] / sizeof(uint64_t) != header.pairs ||
        header.column_bytes[column] % sizeof(uint64_t) != 0) {
      throw_damaged(path, "damaged in its header");
    }
  }
  if (header.column_bytes[format::kCorpora] != header.pairs * sizeof(int32_t) ||
      header.column_bytes[format::kSourceIds] % sizeof(int32_t) != 0 ||
      header.column_bytes[format::kTargetIds] % sizeof(int32_t) != 0) {
    throw_damaged(path, "damaged in its header");
  }
  return offsets;
}

/// `ends` never falls and ends at `size`.
void check_ends(const std::filesystem::path& path, std::span<const uint64_t> ends, uint64_t size) {
  uint64_t last = 0;
  for (const uint64_t end : ends) {
    if (end < last || end > size) throw_damaged(path, "damaged in its offsets");
    last = end;
  }
  if (last != size) throw_damaged(path, "damaged in its offsets");
}

/// Item i of a column of variable length.
template <typename T>
std::span<const T> slice(const T* items, const uint64_t* ends, int64_t i) {
  const uint64_t begin = i == 0 ? 0 : ends[i - 1];
  return {items + begin, items + ends[i]};
}

}  // namespace

PreparedCorpus::PreparedCorpus(const std::filesystem::path& path, SourceForm source_form)
    : path_(path), file_(path), source_form_(source_form) {
  const auto bytes = file_.bytes();
  const format::Header header = read_header(path, bytes);
  const auto offsets = column_offsets(path, header, bytes.size());
  size_ = static_cast<int64_t>(header.pairs);
  const auto at = [&](format::Column column) { return bytes.data() + offsets[column]; };
  source_ends_ = reinterpret_cast<const uint64_t*>(at(format::kSourceEnds));
  target_ends_ = reinterpret_cast<const uint64_t*>(at(format::kTargetEnds));
  source_text_ends_ = reinterpret_cast<const uint64_t*>(at(format::kSourceTextEnds));
  target_text_ends_ = reinterpret_cast<const uint64_t*>(at(format::kTargetTextEnds));
  corpora_ = reinterpret_cast<const int32_t*>(at(format::kCorpora));
  source_ids_ = reinterpret_cast<const int32_t*>(at(format::kSourceIds));
  target_ids_ = reinterpret_cast<const int32_t*>(at(format::kTargetIds));
  source_bytes_ = reinterpret_cast<const char*>(at(format::kSourceBytes));
  target_bytes_ = reinterpret_cast<const char*>(at(format::kTargetBytes));
  const auto column_of = [&](format::Column column) {
    return IdColumn{.begin = offsets[column], .end = offsets[column] + header.column_bytes[column]};
  };
  source_column_ = column_of(format::kSourceIds);
  target_column_ = column_of(format::kTargetIds);
  const auto pairs = static_cast<size_t>(header.pairs);
  check_ends(path, {source_ends_, pairs}, header.column_bytes[format::kSourceIds] / sizeof(int32_t));
  check_ends(path, {target_ends_, pairs}, header.column_bytes[format::kTargetIds] / sizeof(int32_t));
  check_ends(path, {source_text_ends_, pairs}, header.column_bytes[format::kSourceBytes]);
  check_ends(path, {target_text_ends_, pairs}, header.column_bytes[format::kTargetBytes]);
}

void PreparedCorpus::verify(const std::string& sha256, int64_t source_vocabulary, int64_t target_vocabulary) const {
  constexpr size_t kChunk = 1 << 20;  // stays in the cache for the second look at it
  const auto bytes = file_.bytes();
  Sha256 sum;
  const auto check_ids = [&](const IdColumn& column, size_t begin, size_t end, int64_t vocabulary, const char* side) {
    begin = std::max(begin, column.begin);
    end = std::min(end, column.end);
    if (begin >= end) return;
    const std::span<const int32_t> ids(reinterpret_cast<const int32_t*>(bytes.data() + begin),
                                       (end - begin) / sizeof(int32_t));
    const auto [lowest, highest] = std::ranges::minmax(ids);
    if (lowest < 0 || highest >= vocabulary)
      throw_damaged(path_, fmt::format("holds the id {} of a {} piece, where the vocabulary has {}",
                                       lowest < 0 ? lowest : highest, side, vocabulary));
  };
  for (size_t begin = 0; begin < bytes.size(); begin += kChunk) {
    const size_t end = std::min(begin + kChunk, bytes.size());
    sum.add({reinterpret_cast<const char*>(bytes.data()) + begin, end - begin});
    check_ids(source_column_, begin, end, source_vocabulary, "source");
    check_ids(target_column_, begin, end, target_vocabulary, "target");
  }
  file_.release_pages();
  if (sum.hex() != sha256) throw_damaged(path_, "damaged (its checksum is not the manifest's)");
}

int64_t PreparedCorpus::size() const { return size_; }

std::span<const int32_t> PreparedCorpus::source(int64_t pair) const { return slice(source_ids_, source_ends_, pair); }

std::span<const int32_t> PreparedCorpus::target(int64_t pair) const { return slice(target_ids_, target_ends_, pair); }

std::string_view PreparedCorpus::source_text(int64_t pair) const {
  const auto text = slice(source_bytes_, source_text_ends_, pair);
  return {text.data(), text.size()};
}

std::string_view PreparedCorpus::target_text(int64_t pair) const {
  const auto text = slice(target_bytes_, target_text_ends_, pair);
  return {text.data(), text.size()};
}

int32_t PreparedCorpus::corpus(int64_t pair) const { return corpora_[pair]; }

namespace {

static_assert(std::endian::native == std::endian::little, "links are written as they stand in memory");

constexpr std::array<char, 8> kMagic = {'N', 'M', 'T', 'L', 'I', 'N', 'K', 'S'};
constexpr uint32_t kVersion = 1;

/// Little-endian; then ends uint64[pairs] and links uint16[links, 2].
struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t header_size = sizeof(Header);
  uint64_t pairs = 0, links = 0;
};
static_assert(sizeof(Header) == 32);

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(fmt::format("{}: {}; run nmt-prepro again with --overwrite (data.alignment)", path.string(), why));
}

}  // namespace

PieceLinks::PieceLinks(const std::filesystem::path& path, const std::string& sha256, const PreparedCorpus& pairs)
    : file_(path) {
  const std::string_view bytes(reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size());
  Header header;
  if (bytes.size() < sizeof header) refuse(path, "cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic || header.version != kVersion || header.header_size != sizeof header)
    refuse(path, "no alignment of this version");
  const auto count = static_cast<uint64_t>(pairs.size());
  const uint64_t rest = bytes.size() - sizeof header;
  if (header.pairs != count || rest / sizeof(uint64_t) < count ||
      (rest - count * sizeof(uint64_t)) / sizeof(PieceLink) != header.links || rest % sizeof(PieceLink) != 0)
    refuse(path, fmt::format("damaged: {} bytes for {} pairs", bytes.size(), count));
  if (sha256_of_bytes(bytes) != sha256) refuse(path, "damaged: its checksum differs");
  ends_ = reinterpret_cast<const uint64_t*>(bytes.data() + sizeof header);
  links_ = reinterpret_cast<const PieceLink*>(bytes.data() + sizeof header + count * sizeof(uint64_t));
  const std::span ends(ends_, count);
  if (!std::ranges::is_sorted(ends) || (ends.empty() ? 0 : ends.back()) != header.links)
    refuse(path, "damaged in its lists");
  for (int64_t pair = 0; pair < pairs.size(); ++pair) {
    const auto sources = std::ssize(pairs.source(pair)), targets = std::ssize(pairs.target(pair));
    const auto fits = [&](const PieceLink& link) { return link.source < sources && link.target < targets; };
    if (!std::ranges::all_of(of(pair), fits)) refuse(path, fmt::format("pair {} is shorter than its links", pair));
  }
}

std::span<const PieceLink> PieceLinks::of(int64_t pair) const {
  const uint64_t begin = pair == 0 ? 0 : ends_[pair - 1];
  return {links_ + begin, ends_[pair] - begin};
}

void write_piece_links(const std::filesystem::path& path, const std::vector<uint64_t>& ends,
                       const std::vector<PieceLink>& links) {
  const Header header{.pairs = ends.size(), .links = links.size()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(ends.data()), ends.size() * sizeof(uint64_t));
  bytes.append(reinterpret_cast<const char*>(links.data()), links.size() * sizeof(PieceLink));
  write_file_atomically(path, bytes);
}

}  // namespace nmt
