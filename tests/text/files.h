#pragma once

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace nmt::test {

inline std::filesystem::path write_text(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::filesystem::path write_gzip(const std::filesystem::path& path, std::string_view bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return path;
}

}  // namespace nmt::test
