#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/choice.h"

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

/// How a model directory holds its matrices (model.json, "weights"). The words are those of decoding.precision.
enum class WeightType { kFloat32, kBfloat16, kInt8 };
template <>
inline constexpr auto kNames<WeightType> = names("fp32", "bf16", "int8");

/// Whether a quantized directory holds a weight of this name and number of axes in its type: tables of embeddings, the
/// output layer, and the matrices of affine maps. Biases, norms, positions and attention scores stay float32.
bool is_quantized(std::string_view name, size_t axes);

/// Symmetric quantization of one row, as the kernels do it (nn/kernels/packed): row = scale * int8, the largest
/// magnitude is 127 units. Returns the scale; NaN where a number is none.
float quantize_row(std::span<const float> row, int8_t* to);

/// A weight of a quantized directory.
struct StoredWeight {
  SafetensorsEntry values;         ///< F32; or BF16 or I8 [rows, columns]
  std::vector<float> scales = {};  ///< of I8: what a unit of a row is worth, the tensor NAME_scale of the file
  std::vector<float> to_floats() const;
};

/// The weights of a quantized directory's file by name. `name` is shown in messages. Throws Error for a weight of
/// another type than is_quantized() and `type` say, scales that are missing, of another shape, not finite or negative,
/// and scales of no weight.
std::map<std::string, StoredWeight> stored_weights(const SafetensorsIndex& index, WeightType type,
                                                   const std::string& name);

}  // namespace nmt
