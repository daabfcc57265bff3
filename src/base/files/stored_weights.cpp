#include "base/files/stored_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/files/strict_json.h"

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
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), [](const auto& x) { return whole_number(x); }))
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
  // The other sizes of an empty tensor must not overflow either: there zeros count as ones, up to a bound of their own.
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

namespace {

constexpr std::string_view kScale = "_scale";
constexpr int64_t kMostColumns = 1 << 16;  // exact sums of int8: kernels::kMaxInt8In

const char* type_in_file(WeightType type) {
  switch (type) {
    case WeightType::kFloat32:
      return "F32";
    case WeightType::kBfloat16:
      return "BF16";
    case WeightType::kInt8:
      return "I8";
  }
  return "";
}

std::vector<float> read_scales(const SafetensorsEntry& entry, int64_t rows, const std::string& file) {
  if (entry.type != "F32" || entry.shape != std::vector<int64_t>{rows})
    throw Error(
        fmt::format("{}: tensor {} is not F32 [{}], a number a row; export the model again", file, entry.name, rows));
  std::vector<float> scales(static_cast<size_t>(rows));
  if (!scales.empty()) std::memcpy(scales.data(), entry.data.data(), entry.data.size());
  if (!std::ranges::all_of(scales, [](float scale) { return std::isfinite(scale) && scale >= 0; }))
    throw Error(fmt::format("{}: tensor {} has a scale that is negative or not finite; export the model again", file,
                            entry.name));
  return scales;
}

}  // namespace

bool is_quantized(std::string_view name, size_t axes) {
  if (axes != 2 || name.ends_with(kScale)) return false;
  const size_t dot = name.rfind('.');
  if (dot == name.npos) return name.ends_with("embedding") || name == "output_weight";
  if (name.substr(dot) != ".weight") return false;
  const auto layer = name.substr(0, dot);
  constexpr std::array<std::string_view, 7> kLayers{".query", ".key",   ".value", ".output",
                                                    ".inner", ".gated", ".outer"};
  return std::ranges::any_of(kLayers, [&](std::string_view end) { return layer.ends_with(end); }) &&
         (layer.find("attention.") != layer.npos || layer.find("feed_forward.") != layer.npos) &&
         std::ranges::count(layer, '.') == 2;
}

float quantize_row(std::span<const float> row, int8_t* to) {
  constexpr float kLeastRange = 256 / FLT_MAX;
  float largest = 0, nan_flag = 0;
  for (const float x : row) {
    largest = std::max(largest, std::abs(x));
    nan_flag += x - x;
  }
  const float inverse = largest > kLeastRange && nan_flag == 0 ? 127 / largest : 0;
  // With an inverse of 0 not even multiplied: 0 times what is not finite is no number.
  for (const float x : row)
    *to++ = inverse == 0 ? int8_t{0} : static_cast<int8_t>(std::clamp(std::nearbyint(x * inverse), -127.0f, 127.0f));
  return largest / 127 + nan_flag;
}

std::vector<float> StoredWeight::to_floats() const {
  const size_t size = values.type == "I8" ? 1 : values.type == "BF16" ? 2 : 4, count = values.data.size() / size;
  const size_t columns = values.type == "I8" && !scales.empty() ? count / scales.size() : 1;
  std::vector<float> floats(count);
  for (size_t i = 0; i < count; ++i) {
    const std::byte* at = values.data.data() + i * size;
    if (size == 1) {
      floats[i] = scales[i / columns] * static_cast<float>(std::to_integer<int8_t>(*at));
    } else {
      uint32_t bits = 0;
      std::memcpy(&bits, at, size);
      floats[i] = std::bit_cast<float>(size == 2 ? bits << 16 : bits);
    }
  }
  return floats;
}

std::map<std::string, StoredWeight> stored_weights(const SafetensorsIndex& index, WeightType type,
                                                   const std::string& name) {
  std::map<std::string, const SafetensorsEntry*> by_name;
  for (const auto& entry : index.tensors) by_name[entry.name] = &entry;
  size_t scales = 0;
  std::map<std::string, StoredWeight> weights;
  for (const auto& entry : index.tensors) {
    if (std::string_view(entry.name).ends_with(kScale)) {
      ++scales;
      continue;
    }
    const char* expected = type_in_file(is_quantized(entry.name, entry.shape.size()) ? type : WeightType::kFloat32);
    if (entry.type != expected)
      throw Error(fmt::format("{}: tensor {} is {}, in a directory of {} weights it is {}; export the model again",
                              name, entry.name, entry.type, Choice(type).name(), expected));
    auto& weight = weights[entry.name] = {.values = entry};
    if (entry.type != "I8") continue;
    if (entry.shape[1] > kMostColumns)
      throw Error(fmt::format("{}: tensor {} has {} columns, int8 takes {}; use float32", name, entry.name,
                              entry.shape[1], kMostColumns));
    const auto scale = by_name.find(entry.name + std::string(kScale));
    if (scale == by_name.end())
      throw Error(fmt::format("{}: tensor {}{} is missing; export the model again", name, entry.name, kScale));
    weight.scales = read_scales(*scale->second, entry.shape[0], name);
    --scales;
  }
  if (scales == 0) return weights;
  for (const auto& entry : index.tensors) {
    if (!std::string_view(entry.name).ends_with(kScale)) continue;
    const auto owner = weights.find(entry.name.substr(0, entry.name.size() - kScale.size()));
    if (owner == weights.end() || owner->second.scales.empty())
      throw Error(fmt::format("{}: tensor {} belongs to no int8 weight; export the model again", name, entry.name));
  }
  return weights;
}

}  // namespace nmt
