#include "base/files/safetensors_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/files/json_file.h"
#include "base/strict_json.h"

namespace nmt {
namespace {

constexpr JsonLimits kHeaderLimits{.bytes = 1 << 22, .depth = 4, .values = 1 << 19};  // 30,000 tensors

Error damaged(const std::string& file, const std::string& what) {
  return Error(fmt::format("{}: damaged: {}; copy the file again or use another checkpoint", file, what));
}

/// Bytes of an element; 0 for an unknown type.
uint64_t element_size(const std::string& type) {
  static const std::map<std::string, uint64_t> kSizes{{"F32", 4}, {"BF16", 2}, {"F16", 2}, {"F64", 8},
                                                      {"I64", 8}, {"I32", 4},  {"I8", 1},  {"U8", 1}};
  const auto found = kSizes.find(type);
  return found == kSizes.end() ? 0 : found->second;
}

// A list of whole numbers; nlohmann's get() would round fractions and wrap what is out of range.
template <typename T>
std::vector<T> whole_numbers(const nlohmann::json& list, const std::string& file) {
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), [](const auto& x) { return x.is_number_integer(); }))
    throw damaged(file, "a header entry of the wrong form");
  return list.get<std::vector<T>>();
}

SafetensorsEntry read_entry(const nlohmann::json& entry, std::span<const std::byte> data, const std::string& file,
                            const std::string& name) {
  const auto type = entry.at("dtype").get<std::string>();
  const auto shape = whole_numbers<int64_t>(entry.at("shape"), file);
  const auto offsets = whole_numbers<uint64_t>(entry.at("data_offsets"), file);
  uint64_t bytes = element_size(type);
  if (bytes == 0) throw damaged(file, fmt::format("unknown type {} of {}", type, name));
  // Of an empty tensor the other sizes must not overflow either: there zeros count as ones, up to a bound of their own.
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  const uint64_t bound = empty ? uint64_t{1} << 40 : data.size();
  for (const int64_t n : shape) {
    const auto size = static_cast<uint64_t>(std::max<int64_t>(n, 1));
    if (n < 0 || bytes > bound / size) throw damaged(file, "shape of " + name);
    bytes *= size;
  }
  if (empty) bytes = 0;
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() || offsets[1] - offsets[0] != bytes)
    throw damaged(file, "extent of " + name);
  return {.name = name, .type = type, .shape = shape, .data = data.subspan(offsets[0], bytes)};
}

}  // namespace

SafetensorsIndex read_safetensors_index(std::span<const std::byte> file, const std::string& name) {
  uint64_t length = 0;
  if (file.size() < sizeof length) throw damaged(name, "shorter than its header");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > file.size() - sizeof length) throw damaged(name, "shorter than its header");
  const auto* text = reinterpret_cast<const char*>(file.data()) + sizeof length;
  if (const auto problem = problem_of_json({text, length}, kHeaderLimits))
    throw damaged(name, "its header is " + *problem);
  const auto header = parse_json_or_null({text, length}, kHeaderLimits);
  if (!header.is_object()) throw damaged(name, "its header is not JSON of the right form");
  const auto data = file.subspan(sizeof length + length);
  SafetensorsIndex index;
  uint64_t total = 0;
  try {
    for (const auto& [key, entry] : header.items()) {
      if (key == "__metadata__") {
        index.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      index.tensors.push_back(read_entry(entry, data, name, key));
      total += index.tensors.back().data.size();
      if (total > data.size()) throw damaged(name, "its tensors overlap");
    }
  } catch (const nlohmann::json::exception&) {
    throw damaged(name, "a header entry of the wrong form");
  }
  return index;
}

std::string safetensors_header(const std::vector<SafetensorsEntry>& entries,
                               const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& entry : entries) {
    uint64_t bytes = element_size(entry.type);
    for (const int64_t n : entry.shape) bytes *= static_cast<uint64_t>(n);
    header[entry.name] = {{"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data starts aligned
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace nmt
