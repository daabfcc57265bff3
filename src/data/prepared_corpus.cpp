#include "data/prepared_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/prepared_corpus_format.h"

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

}  // namespace nmt
