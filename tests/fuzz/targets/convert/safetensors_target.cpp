#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "base/files/adapter.h"
#include "base/files/stored_weights.h"
#include "fuzz_target.h"
#include "read_weights.h"

namespace {
using namespace nmt;
using fuzz::require;

/// The rows of a weight in int8 are within half a unit of what they were.
void quantize(std::span<const float> row) {
  std::vector<int8_t> numbers(row.size());
  const float scale = quantize_row(row, numbers.data());
  const bool finite = std::ranges::all_of(row, [](float x) { return std::isfinite(x); });
  require(finite == std::isfinite(scale), "a row of numbers has a scale");
  for (size_t i = 0; finite && i < row.size(); ++i)
    require(std::abs(double{scale} * numbers[i] - row[i]) <= 0.5001 * scale + 1e-36, "int8 is near");
}

/// The file as that of a quantized model directory.
void read_quantized(const SafetensorsIndex& index, WeightType type) {
  std::map<std::string, StoredWeight> weights;
  if (!fuzz::takes([&] { weights = stored_weights(index, type, "x.safetensors"); })) return;
  for (const auto& [name, weight] : weights) {
    const auto& [values, scales] = weight;
    if (values.type == "I8") {
      require(values.shape.size() == 2 && std::ssize(scales) == values.shape[0], "a scale a row");
      require(std::ranges::all_of(scales, [](float scale) { return std::isfinite(scale) && scale >= 0; }),
              "scales are numbers");
    }
    const auto floats = weight.to_floats();
    const size_t size = values.type == "I8" ? 1 : values.type == "BF16" ? 2 : 4;
    require(floats.size() * size == values.data.size(), "a weight has all of its numbers");
    if (size == 4) quantize(floats);
  }
}
}  // namespace

NMT_FUZZ_TARGET(safetensors, input) {
  const auto bytes = std::as_bytes(std::span(input));
  SafetensorsIndex index;
  if (!fuzz::takes([&] { index = read_safetensors_index(bytes, "x.safetensors"); })) return;
  std::string again = safetensors_header(index.tensors, index.metadata);
  for (const auto& entry : index.tensors)
    again.append(reinterpret_cast<const char*>(entry.data.data()), entry.data.size());
  const auto second = read_safetensors_index(std::as_bytes(std::span(again)), "again");
  require(second.metadata == index.metadata, "metadata stay");
  require(std::ranges::equal(index.tensors, second.tensors,
                             [](const auto& a, const auto& b) {
                               return a.name == b.name && a.type == b.type && a.shape == b.shape &&
                                      std::ranges::equal(a.data, b.data);
                             }),
          "tensors that are written are read again");
  for (const auto type : {WeightType::kInt8, WeightType::kBfloat16}) read_quantized(index, type);
  static const fuzz::Folder folder;
  const auto path = folder.put("x.safetensors", input);
  fuzz::read_weights(path);
  fuzz::takes([&] {
    for (const auto& [name, factors] : read_adapter(path).factors)
      require(std::ssize(factors.a) == factors.rank * factors.in && std::ssize(factors.b) == factors.out * factors.rank,
              "an adapter's factors have its rank");
  });
}
