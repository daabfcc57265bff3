#include "convert/plain/plain_safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "config/option_listing.h"
#include "convert/formats/array.h"
#include "convert/plain/model_weights.h"

namespace nmt::convert {
namespace {

/// torch.nn.Transformer joins the projections of an attention and numbers its norms.
class Renamer {
 public:
  explicit Renamer(const PlainModel& model) : model_(model), config_(model.config.model) {}

  Arrays run() {
    for (int64_t i = 0; i < encoder_blocks(config_); ++i) {
      const auto ours = fmt::format("encoder_{}.", i), theirs = fmt::format("encoder.layers.{}.", i);
      attention(ours + "self_attention", theirs + "self_attn", theirs + "norm1");
      feed_forward(ours, theirs, theirs + "norm2");
    }
    for (int64_t i = 0; i < decoder_blocks(config_); ++i) {
      const auto ours = fmt::format("decoder_{}.", i), theirs = fmt::format("decoder.layers.{}.", i);
      attention(ours + "self_attention", theirs + "self_attn", theirs + "norm1");
      attention(ours + "cross_attention", theirs + "multihead_attn", theirs + "norm2");
      feed_forward(ours, theirs, theirs + "norm3");
    }
    for (const char* side : {"encoder", "decoder"})
      for (const char* part : {".weight", ".bias"})
        if (model_.weights.contains(std::string(side) + "_norm" + part))
          arrays_[fmt::format("{}.norm{}", side, part)] = model_.weight(std::string(side) + "_norm" + part);
    for (const auto& [name, array] : model_.weights)  // embeddings, positions, output layer
      if (name.find('.') == std::string::npos || name.find("positions") != std::string::npos) arrays_[name] = array;
    return std::move(arrays_);
  }

 private:
  void copy(const std::string& ours, const std::string& theirs) {
    for (const char* part : {".weight", ".bias"})
      if (model_.weights.contains(ours + part)) arrays_[theirs + part] = model_.weight(ours + part);
  }

  Array projection(const std::string& name, const char* part) const {
    return repeat_heads(model_.weight(name + part), config_);
  }

  void attention(const std::string& ours, const std::string& theirs, const std::string& norm) {
    for (const std::string part : {".weight", ".bias"}) {
      if (!model_.weights.contains(ours + ".query" + part)) continue;
      const auto& query = model_.weight(ours + ".query" + part);
      const auto key = projection(ours + ".key", part.c_str()), value = projection(ours + ".value", part.c_str());
      arrays_[theirs + ".in_proj_" + part.substr(1)] = join_rows({&query, &key, &value});
    }
    if (config_.attention_output_projection)
      copy(ours + ".output", theirs + ".out_proj");
    else
      arrays_[theirs + ".out_proj.weight"] = identity(config_.d_model);
    copy(ours + "_norm", norm);
  }

  void feed_forward(const std::string& ours, const std::string& theirs, const std::string& norm) {
    copy(ours + "feed_forward.inner", theirs + "linear1");
    copy(ours + "feed_forward.outer", theirs + "linear2");
    copy(ours + "feed_forward_norm", norm);
  }

  const PlainModel& model_;
  const ModelConfig& config_;
  Arrays arrays_;
};

}  // namespace

std::string torch_obstacle(const PlainModel& model) {
  const ModelConfig& config = model.config.model;
  if (auto obstacle = plain_transformer_obstacle(config); !obstacle.empty()) return obstacle;
  if (config.activation != FeedForwardActivation::kRelu && config.activation != FeedForwardActivation::kGelu)
    return "model.activation: " + config.activation.name();
  return config.norm_form == NormForm::kLayer ? "" : "model.norm_form: " + config.norm_form.name();
}

void write_plain_safetensors(const std::filesystem::path& directory, const PlainModel& model) {
  check_weights(model);
  const bool fits = torch_obstacle(model).empty();
  write_safetensors(directory / "model.safetensors", fits ? Renamer(model).run() : model.weights);
  write_file_atomically(directory / "config.json", to_json(model.config).dump(2) + "\n");
  model.codec.save(directory);
}

}  // namespace nmt::convert

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
  copy_lexicon(source, directory);
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
