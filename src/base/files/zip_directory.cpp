#include "base/files/zip_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace nmt {
namespace {

using namespace std::string_view_literals;

constexpr auto kLocalHeader = "PK\x03\x04"sv, kEntry = "PK\x01\x02"sv, kEnd = "PK\x05\x06"sv, kEnd64 = "PK\x06\x06"sv,
               kLocator64 = "PK\x06\x07"sv;
constexpr size_t kLocalHeaderBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr size_t kLongestComment = 0xFFFF;
constexpr uint64_t kLargestDirectory = 1 << 20;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // the number stands among those of ZIP64

/// A number of a record, which is little-endian, as the machine is.
template <typename T>
T number(std::string_view record, size_t at) {
  T value;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

class Archive {
 public:
  explicit Archive(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
    file_.seekg(0, std::ios::end);
    size_ = static_cast<uint64_t>(std::max<std::streamoff>(file_.tellg(), 0));
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(fmt::format("{}: damaged zip archive ({}); get the file anew", path_.string(), why));
  }
  uint64_t size() const { return size_; }

  std::string read(uint64_t offset, uint64_t size) {
    if (offset > size_ || size > size_ - offset) refuse("it ends too early");
    std::string bytes(size, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(bytes.data(), static_cast<std::streamsize>(size))) refuse("it ends too early");
    return bytes;
  }

  /// A record that begins with a signature.
  std::string read_record(uint64_t offset, size_t size, std::string_view signature) {
    std::string record = read(offset, size);
    if (!record.starts_with(signature)) refuse("a record is not where it should be");
    return record;
  }

  struct Directory {
    uint64_t offset, bytes;
  };
  /// Where the packed bytes of a member begin: behind its local header, which is at an offset that the directory has.
  uint64_t find_packed_bytes(uint64_t header_offset, uint64_t packed_bytes) {
    const std::string header = read_record(header_offset, kLocalHeaderBytes, kLocalHeader);
    const uint64_t begin =
        header_offset + kLocalHeaderBytes + number<uint16_t>(header, 26) + number<uint16_t>(header, 28);
    if (begin > size_ || packed_bytes > size_ - begin) refuse("it ends too early");
    return begin;
  }

  Directory find_directory() {
    const uint64_t tail = std::min<uint64_t>(size_, kEndBytes + kLongestComment);
    const std::string bytes = read(size_ - tail, tail);
    size_t at = bytes.rfind(kEnd);
    // A comment may hold the signature, too.
    while (at != bytes.npos && (bytes.size() - at < kEndBytes ||
                                bytes.size() - at - kEndBytes != number<uint16_t>(bytes, at + kEndBytes - 2)))
      at = at == 0 ? bytes.npos : bytes.rfind(kEnd, at - 1);
    if (at == bytes.npos) refuse("its directory is missing");
    const std::string_view end = std::string_view(bytes).substr(at);
    Directory directory{number<uint32_t>(end, 16), number<uint32_t>(end, 12)};
    const uint64_t end_offset = size_ - tail + at;
    if (directory.offset == kIn64 || directory.bytes == kIn64 || number<uint16_t>(end, 10) == 0xFFFF) {
      if (end_offset < kLocator64Bytes) refuse("it ends too early");
      const auto locator = read_record(end_offset - kLocator64Bytes, kLocator64Bytes, kLocator64);
      const auto end64 = read_record(number<uint64_t>(locator, 8), kEnd64Bytes, kEnd64);
      directory = {number<uint64_t>(end64, 48), number<uint64_t>(end64, 40)};
    }
    if (directory.bytes > kLargestDirectory)
      throw Error(path_.string() + ": a zip archive whose directory has more than 1 MiB; unpack it first");
    return directory;
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  uint64_t size_ = 0;
};

/// The numbers of ZIP64 in an entry's extra field; empty where it has none.
std::string_view numbers64(std::string_view extra) {
  constexpr uint16_t kZip64 = 1;
  while (extra.size() >= 4) {
    const auto id = number<uint16_t>(extra, 0), size = number<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (id == kZip64) return extra.substr(0, size);
    extra.remove_prefix(std::min<size_t>(size, extra.size()));
  }
  return {};
}

}  // namespace

bool is_zip_archive(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::string bytes(kLocalHeader.size(), '\0');
  return std::ifstream(path, std::ios::binary).read(bytes.data(), std::ssize(bytes)) && bytes == kLocalHeader;
}

std::vector<ZipMember> list_zip_members(const std::filesystem::path& path) {
  Archive archive(path);
  const auto [offset, bytes] = archive.find_directory();
  const std::string directory = archive.read(offset, bytes);
  std::vector<ZipMember> members;
  for (std::string_view rest = directory; !rest.empty();) {
    if (rest.size() < kEntryBytes || !rest.starts_with(kEntry)) archive.refuse("its directory is not sound");
    const size_t name = number<uint16_t>(rest, 28), extra = number<uint16_t>(rest, 30);
    const size_t entry = kEntryBytes + name + extra + number<uint16_t>(rest, 32);
    if (rest.size() < entry) archive.refuse("its directory is not sound");
    ZipMember member{.name = std::string(rest.substr(kEntryBytes, name)),
                     .offset = number<uint32_t>(rest, 42),
                     .packed_bytes = number<uint32_t>(rest, 20),
                     .bytes = number<uint32_t>(rest, 24),
                     .checksum = number<uint32_t>(rest, 16),
                     .method = number<uint16_t>(rest, 10),
                     .is_encrypted = (number<uint16_t>(rest, 8) & 1) != 0};
    std::string_view large = numbers64(rest.substr(kEntryBytes + name, extra));
    for (uint64_t* value :
         {&member.bytes, &member.packed_bytes, &member.offset}) {  // in this order, those that do not fit
      if (*value != kIn64) continue;
      if (large.size() < sizeof *value) archive.refuse("its directory is not sound");
      *value = number<uint64_t>(large, 0);
      large.remove_prefix(sizeof *value);
    }
    rest.remove_prefix(entry);
    if (member.name.ends_with('/')) continue;
    member.offset = archive.find_packed_bytes(member.offset, member.packed_bytes);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace nmt
