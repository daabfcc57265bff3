#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace nmt::test {

inline std::span<const std::byte> as_bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A number as it stands in a file.
template <typename T>
std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// What an entry says of itself that is not so.
struct Lies {
  uint16_t method = 0;
  std::optional<uint32_t> claimed = {}, checksum = {};
};

/// A zip archive, written by hand after PKWARE's APPNOTE; it may lie.
class Archive {
 public:
  Archive& add(const std::string& name, const std::string& data, Lies lies = {}) {
    const auto sum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
    const auto size = static_cast<uint32_t>(data.size());
    const auto place = static_cast<uint32_t>(body_.size());
    const std::string sizes = number(lies.checksum.value_or(sum)) + number(size) + number(lies.claimed.value_or(size));
    const std::string lengths = number(static_cast<uint16_t>(name.size())) + number(uint16_t{0});
    const std::string kind = number(uint16_t{20}) + number(uint16_t{0}) + number(lies.method) + number(uint32_t{0});
    body_ += "PK\x03\x04" + kind + sizes + lengths + name + data;
    directory_ += "PK\x01\x02" + number(uint16_t{20}) + kind + sizes + lengths + number(uint16_t{0}) +
                  number(uint16_t{0}) + number(uint16_t{0}) + number(uint32_t{0}) + number(place) + name;
    ++count_;
    return *this;
  }
  Archive& add_deflated(const std::string& name, const std::string& data) {
    std::string packed(compressBound(data.size()) + 16, '\0');
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    const auto sum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
    return add(name, packed, {.method = 8, .claimed = static_cast<uint32_t>(data.size()), .checksum = sum});
  }
  std::string bytes() const {
    return body_ + directory_ + "PK\x05\x06" + number(uint32_t{0}) + number(count_) + number(count_) +
           number(static_cast<uint32_t>(directory_.size())) + number(static_cast<uint32_t>(body_.size())) +
           number(uint16_t{0});
  }

 private:
  std::string body_, directory_;
  uint16_t count_ = 0;
};

}  // namespace nmt::test
