#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nmt {

/// The safetensors format: u64 length of a JSON header {name: {dtype, shape, data_offsets}, "__metadata__": {...}}, the
/// header, raw little-endian data.
struct SafetensorsEntry {
  std::string name, type;  ///< type: F32, BF16, F16, F64, I64, I32, I8, U8
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};
struct SafetensorsIndex {
  std::vector<SafetensorsEntry> tensors;  ///< by name
  std::map<std::string, std::string> metadata;
};

/// From the bytes of a file, into which the result points. Every length, type, shape and offset is checked: the tensors
/// together are no larger than the file. Throws Error ("NAME: damaged: ...").
SafetensorsIndex read_safetensors_index(std::span<const std::byte> file, const std::string& name);

/// What a file begins with, length and padding included: data in the order of the entries (whose `data` plays no part).
std::string safetensors_header(const std::vector<SafetensorsEntry>& entries,
                               const std::map<std::string, std::string>& metadata);

}  // namespace nmt
