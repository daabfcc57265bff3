#include "convert/formats/zip_members.h"

#include <cstdint>

#include "archive/zip_archive.h"

namespace nmt::convert {

ZipMembers read_zip(std::span<const std::byte> file, const std::string& name) {
  constexpr uint64_t kMostExpansion = 2;
  constexpr size_t kMostMembers = 65535;
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  const ZipArchive archive(bytes, name, {.unpacked_bytes = kMostExpansion * file.size(), .entries = kMostMembers});
  ZipMembers members;
  for (const auto& member : archive.names()) members.emplace(member, archive.read(member));
  return members;
}

}  // namespace nmt::convert
