#include "convert/plain/quantized_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "convert/formats/stop.h"
#include "convert/plain/model_weights.h"
#include "data/lexicon.h"

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

template <typename T>
void append(std::string& bytes, std::span<const T> values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

std::string bfloat16_of(const Array& array) {
  std::string bytes;
  for (const float value : array.values) {
    const uint16_t bits = to_bfloat16(value);
    append(bytes, std::span(&bits, 1));
  }
  return bytes;
}

/// int8 numbers; scales are appended.
std::string int8_of(const Array& array, std::vector<float>& scales) {
  std::vector<int8_t> numbers(array.values.size());
  for (int64_t row = 0; row < array.rows(); ++row)
    scales.push_back(quantize_row(array.row(row), numbers.data() + row * array.columns()));
  std::string bytes;
  append(bytes, std::span<const int8_t>(numbers));
  return bytes;
}

/// Tensors of a file in the order of their names, those of wide numbers first: each then stands where it is aligned.
class Tensors {
 public:
  void add(const std::string& name, const char* type, const Shape& shape, std::string bytes) {
    tensors_.push_back({{.name = name, .type = type, .shape = shape, .data = {}}, std::move(bytes)});
  }
  void write(const fs::path& path, const std::string& format) {
    std::ranges::stable_sort(tensors_, {}, [](const Tensor& tensor) {
      return tensor.entry.type == "F32" ? 0 : tensor.entry.type == "BF16" ? 1 : 2;
    });
    std::vector<SafetensorsEntry> entries;
    for (const auto& tensor : tensors_) entries.push_back(tensor.entry);
    AtomicFile file(path);
    file.write(safetensors_header(entries, {{"format", "pt"}, {"weights", format}}));
    for (const auto& tensor : tensors_) file.write(tensor.bytes);
    file.commit();
  }

 private:
  struct Tensor {
    SafetensorsEntry entry;
    std::string bytes;
  };
  std::vector<Tensor> tensors_;
};

}  // namespace

void write_quantized_model(const fs::path& directory, const PlainModel& model, Choice<WeightType> type,
                           const fs::path& source) {
  check_weights(model);
  Tensors tensors;
  int64_t parameters = 0;
  for (const auto& [name, array] : model.weights) {
    throw_if_stopped();
    parameters += std::ssize(array.values);
    if (!is_quantized(name, array.shape.size())) {
      std::string bytes;
      append(bytes, std::span(array.values));
      tensors.add(name, "F32", array.shape, std::move(bytes));
    } else if (type == WeightType::kBfloat16) {
      tensors.add(name, "BF16", array.shape, bfloat16_of(array));
    } else {
      std::vector<float> scales;
      tensors.add(name, "I8", array.shape, int8_of(array, scales));
      std::string bytes;
      append(bytes, std::span<const float>(scales));
      tensors.add(name + "_scale", "F32", {array.rows()}, std::move(bytes));
    }
  }
  tensors.write(directory / "model.safetensors", type.name());
  if (fs::exists(source / kLexiconFile)) Lexicon::read(source / kLexiconFile).write(directory / kLexiconFile);
  Config config = model.config;
  config.decoding.precision.assign(type.name());
  write_model_description(directory, {.config = std::move(config),
                                      .tokenizer = model.codec.save(directory),
                                      .summary = model.summary,
                                      .parameters = parameters,
                                      .source_vocabulary = model.codec.source().size(),
                                      .target_vocabulary = model.codec.target().size(),
                                      .weights = type});
}

}  // namespace nmt::convert
