#include "data/piece_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/files/sha256.h"

namespace nmt {
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
