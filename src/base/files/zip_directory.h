#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nmt {

/// A file in a zip archive, as the archive's directory describes it.
struct ZipMember {
  std::string name;
  uint64_t offset = 0;  ///< in the archive, of its packed bytes
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;     ///< unpacked
  uint32_t checksum = 0;  ///< CRC-32 of the unpacked bytes
  uint16_t method = 0;    ///< kStored, kDeflated or one that no reader of ours knows
  bool is_encrypted = false;

  static constexpr uint16_t kStored = 0, kDeflated = 8;
};

/// Whether a regular file begins as zip archives do.
bool is_zip_archive(const std::filesystem::path& path);

/// The members of a zip archive, in the order of its directory, folders left out (PKWARE's APPNOTE 6.3.10, with ZIP64).
/// For archives of texts of any size; interfaces/archive reads those that fit into memory. Throws Error: a damaged
/// archive, a directory of more than 1 MiB.
std::vector<ZipMember> list_zip_members(const std::filesystem::path& archive);

}  // namespace nmt
