#include <gtest/gtest.h>
#include <zlib.h>

#include "report/pictures/attention_picture.h"

namespace nmt::png_test {
namespace {

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

struct Chunk {
  std::string type, data;
};

/// The chunks behind the signature, their checksums checked.
std::vector<Chunk> chunks_of(const std::string& png) {
  std::vector<Chunk> chunks;
  for (size_t at = 8; at < png.size();) {
    const size_t size = big_endian(png, at);
    const std::string checked = png.substr(at + 4, size + 4);
    EXPECT_EQ(big_endian(png, at + 8 + size),
              crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    chunks.push_back({checked.substr(0, 4), checked.substr(4)});
    at += size + 12;
  }
  return chunks;
}

// Two rows of three pixels: red green blue, black grey white.
const Image kImage{
    .width = 3, .height = 2, .rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 128, 128, 128, 255, 255, 255}};

TEST(Png, HasItsHeaderItsRowsAndItsEnd) {
  const auto png = encode_png(kImage);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto chunks = chunks_of(png);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].type, "IHDR");
  EXPECT_EQ(chunks[0].data, std::string("\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0", 13));
  EXPECT_EQ(chunks[1].type, "IDAT");
  std::string rows(100, '\0');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(chunks[1].data.data()), chunks[1].data.size()),
            Z_OK);
  rows.resize(size);
  std::string expected;
  for (size_t row = 0; row < 2; ++row)
    expected += '\0' + std::string(kImage.rgb.begin() + 9 * row, kImage.rgb.begin() + 9 * (row + 1));
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(chunks[2].type, "IEND");
  EXPECT_EQ(chunks[2].data, "");
}

}  // namespace
}  // namespace nmt::png_test
