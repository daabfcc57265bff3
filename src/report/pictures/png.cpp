#include "report/pictures/png.h"

#include <zlib.h>

#include "base/error.h"

namespace nmt {
namespace {

void append_big_endian(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
}

void append_chunk(std::string& png, const std::string& type, const std::string& data) {
  append_big_endian(png, static_cast<uint32_t>(data.size()));
  const std::string checked = type + data;
  png += checked;
  append_big_endian(png, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                                     static_cast<uInt>(checked.size()))));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw MachineError("out of memory while writing a picture; free some");
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(const Image& image) {
  std::string png = "\x89PNG\r\n\x1a\n";
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(image.width));
  append_big_endian(header, static_cast<uint32_t>(image.height));
  // 8 bits a channel, truecolour, deflate, the five filters, no interlacing.
  header += std::string("\x08\x02\x00\x00\x00", 5);
  append_chunk(png, "IHDR", header);
  std::string rows;
  const auto stride = static_cast<size_t>(image.width) * 3;
  for (int64_t y = 0; y < image.height; ++y) {
    rows += '\0';  // filter: none
    rows.append(reinterpret_cast<const char*>(image.rgb.data()) + static_cast<size_t>(y) * stride, stride);
  }
  append_chunk(png, "IDAT", deflated(rows));
  append_chunk(png, "IEND", "");
  return png;
}

}  // namespace nmt
