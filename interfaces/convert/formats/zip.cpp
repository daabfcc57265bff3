#include "convert/formats/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace nmt::convert {
namespace {

// APPNOTE.TXT of PKWARE, 4.3.
constexpr uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr uint32_t kMemberSignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr size_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20, kMemberSize = 46, kLocalSize = 30;

constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint64_t kMostExpansion = 2, kMostMembers = 65535;

struct Member {
  std::string name;
  std::span<const std::byte> data;  ///< as it stands in the file
  uint16_t method = kStored;
  uint64_t size = 0;  ///< of what comes out
  uint32_t checksum = 0;
};

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  /// Without space for what is unpacked, nothing may be compressed.
  ZipMembers members(std::deque<std::vector<std::byte>>* unpacked) {
    const auto list = list_members();
    if (unpacked) check_expansion(list);
    ZipMembers found;
    for (const auto& member : list) {
      auto data = member.data;
      if (member.method != kStored) {
        if (!unpacked)
          throw Error(fmt::format("{}: {} is compressed, which PyTorch never does; save it again uncompressed", name_,
                                  member.name));
        data = unpacked->emplace_back(inflated(member));
      }
      const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size());
      if (member.checksum != 0 && member.checksum != sum) throw damaged("the checksum of " + member.name + " differs");
      if (!found.emplace(member.name, data).second) throw damaged("a name stands twice");
    }
    return found;
  }

 private:
  Error damaged(const std::string& what) const {
    return Error(fmt::format("{}: damaged archive: {}; fetch the file again", name_, what));
  }
  std::span<const std::byte> bytes(uint64_t at, uint64_t size) const {
    if (at > file_.size() || size > file_.size() - at) throw damaged("it ends too early");
    return file_.subspan(at, size);
  }
  template <typename T>
  T number(uint64_t at) const {
    T value;
    std::memcpy(&value, bytes(at, sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(uint64_t at, uint64_t size) const {
    const auto span = bytes(at, size);
    return {reinterpret_cast<const char*>(span.data()), span.size()};
  }

  void find_directory() {
    if (file_.size() < kEndSize) throw damaged("it ends too early");
    uint64_t at = file_.size() - kEndSize;
    const uint64_t first = at > 0xFFFF ? at - 0xFFFF : 0;  // a comment may follow
    while (number<uint32_t>(at) != kEndSignature) {
      if (at == first) throw damaged("its directory is missing");
      --at;
    }
    count_ = number<uint16_t>(at + 10);
    directory_ = number<uint32_t>(at + 16);
    if (at >= kLocator64Size && number<uint32_t>(at - kLocator64Size) == kLocator64Signature) {
      const auto end64 = number<uint64_t>(at - kLocator64Size + 8);
      bytes(end64, kEnd64Size);
      if (number<uint32_t>(end64) != kEnd64Signature) throw damaged("its directory is missing");
      count_ = number<uint64_t>(end64 + 32);
      directory_ = number<uint64_t>(end64 + 48);
    }
    if (count_ > std::min<uint64_t>(file_.size() / kMemberSize, kMostMembers))
      throw damaged("its directory is too long");
  }

  std::vector<Member> list_members() {
    find_directory();
    uint64_t at = directory_, total = 0;
    std::vector<Member> list;
    for (uint64_t i = 0; i < count_; ++i) {
      list.push_back(member(at));
      total += list.back().data.size();
      if (total > file_.size()) throw damaged("its members overlap");
    }
    return list;
  }

  /// The member whose directory entry begins at `at`, which moves on to the next one.
  Member member(uint64_t& at) const {
    bytes(at, kMemberSize);
    if (number<uint32_t>(at) != kMemberSignature) throw damaged("an entry of its directory");
    const auto flags = number<uint16_t>(at + 8), method = number<uint16_t>(at + 10);
    const auto checksum = number<uint32_t>(at + 16);
    uint64_t packed = number<uint32_t>(at + 20), size = number<uint32_t>(at + 24), local = number<uint32_t>(at + 42);
    const auto name_size = number<uint16_t>(at + 28), extra_size = number<uint16_t>(at + 30);
    const auto name = text(at + kMemberSize, name_size);
    read_extra(at + kMemberSize + name_size, extra_size, size, packed, local);
    at += kMemberSize + name_size + extra_size + number<uint16_t>(at + 32);

    check_name(name);
    if (flags & 1) throw Error(fmt::format("{}: {} is encrypted", name_, name));
    if (method != kStored && method != kDeflated)
      throw Error(
          fmt::format("{}: {} is compressed in a way that is not read; save it again uncompressed", name_, name));
    if (method == kStored && packed != size) throw damaged("the length of " + name);
    bytes(local, kLocalSize);
    if (number<uint32_t>(local) != kLocalSignature) throw damaged("the place of " + name);
    const auto data = bytes(local + kLocalSize + number<uint16_t>(local + 26) + number<uint16_t>(local + 28), packed);
    return {.name = name, .data = data, .method = method, .size = size, .checksum = checksum};
  }

  void check_expansion(const std::vector<Member>& list) const {
    uint64_t room = kMostExpansion * file_.size();
    for (const auto& member : list) {
      if (member.size > room)
        throw Error(fmt::format("{}: its members would be more than {} times as large as the file; it is not used",
                                name_, kMostExpansion));
      room -= member.size;
    }
  }

  std::vector<std::byte> inflated(const Member& member) const {
    std::vector<std::byte> data(member.size);
    Bytef nowhere = 0;  // zlib refuses a null pointer, even for no bytes
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw MachineError(name_ + ": zlib does not start");
    auto from = member.data;
    std::span<std::byte> to(data);
    int state = Z_OK;
    // zlib counts in 32 bits.
    while (state == Z_OK) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
      stream.avail_in = static_cast<uInt>(std::min<size_t>(from.size(), UINT32_MAX));
      stream.next_out = to.empty() ? &nowhere : reinterpret_cast<Bytef*>(to.data());
      stream.avail_out = static_cast<uInt>(std::min<size_t>(to.size(), UINT32_MAX));
      const size_t in = stream.avail_in, out = stream.avail_out;
      state = inflate(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR where neither side has space left
      from = from.subspan(in - stream.avail_in);
      to = to.subspan(out - stream.avail_out);
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END || !from.empty() || !to.empty()) throw damaged(member.name + " does not unpack");
    return data;
  }

  /// The numbers of zip64, which stand in for those that are all ones, in this order.
  void read_extra(uint64_t at, uint64_t room, uint64_t& size, uint64_t& packed, uint64_t& local) const {
    const uint64_t end = at + room;
    while (at + 4 <= end) {
      const auto kind = number<uint16_t>(at), length = number<uint16_t>(at + 2);
      uint64_t field = at + 4;
      at = field + length;
      if (kind != 1) continue;
      for (uint64_t* value : {&size, &packed, &local})
        if (*value == UINT32_MAX) {
          if (field + 8 > at) throw damaged("an entry of its directory");
          *value = number<uint64_t>(field);
          field += 8;
        }
    }
  }

  void check_name(const std::string& name) const {
    if (name.starts_with('/') || name == ".." || name.starts_with("../") || name.find("/../") != std::string::npos ||
        name.ends_with("/..") || name.find('\\') != std::string::npos || name.find('\0') != std::string::npos)
      throw Error(fmt::format("{}: holds a name that leaves the folder; it is not used", name_));
  }

  std::span<const std::byte> file_;
  const std::string& name_;
  uint64_t count_ = 0, directory_ = 0;
};

}  // namespace

ZipMembers read_zip(std::span<const std::byte> file, const std::string& name) {
  return ZipReader(file, name).members(nullptr);
}

ZipMembers read_zip(std::span<const std::byte> file, const std::string& name,
                    std::deque<std::vector<std::byte>>& unpacked) {
  return ZipReader(file, name).members(&unpacked);
}

}  // namespace nmt::convert
