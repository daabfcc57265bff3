#include "convert/plain/ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/array.h"
#include "convert/plain/model_weights.h"

namespace nmt::convert {
namespace {

constexpr uint32_t kBinaryVersion = 6;
enum TypeCode : uint8_t { kF32 = 0, kI8 = 1, kI16 = 2, kF16 = 4, kBF16 = 5 };

class Writer {
 public:
  explicit Writer(const std::filesystem::path& path) : file_(path) {}

  template <typename T>
  void number(T value) {
    file_.write({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void text(const std::string& value) {  // length with the NUL, bytes, NUL
    number(static_cast<uint16_t>(value.size() + 1));
    file_.write({value.c_str(), value.size() + 1});
  }
  template <typename T>
  void variable(const std::string& name, const Shape& shape, TypeCode type, const std::vector<T>& data) {
    text(name);
    number(static_cast<uint8_t>(shape.size()));
    for (const int64_t size : shape) number(static_cast<uint32_t>(size));
    number(static_cast<uint8_t>(type));
    const uint64_t bytes = data.size() * sizeof(T);
    if (bytes > UINT32_MAX) throw Error(name + ": too large for CTranslate2's format (4 GiB); use --quantization int8");
    number(static_cast<uint32_t>(bytes));
    file_.write({reinterpret_cast<const char*>(data.data()), bytes});
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

template <typename Function>
std::vector<uint16_t> convert(const std::vector<float>& values, Function&& function) {
  std::vector<uint16_t> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), function);
  return result;
}

// q = rint(w * 127 / max|row|), and the scale of each row.
void write_int8(Writer& writer, const std::string& name, const Array& array) {
  std::vector<int8_t> quantized(array.values.size());
  std::vector<float> scales(array.rows());
  for (int64_t r = 0; r < array.rows(); ++r) {
    const auto row = array.row(r);
    float largest = 0;
    for (const float value : row) largest = std::max(largest, std::fabs(value));
    scales[r] = largest > 0 ? 127 / largest : 1;
    for (size_t c = 0; c < row.size(); ++c)
      quantized[r * row.size() + c] = static_cast<int8_t>(std::nearbyint(row[c] * scales[r]));
  }
  writer.variable(name, array.shape, kI8, quantized);
  writer.variable(name + "_scale", {array.rows()}, kF32, scales);
}

}  // namespace

CTranslate2Type parse_ctranslate2_type(const std::string& name) {
  if (name == "float32") return CTranslate2Type::kFloat32;
  if (name == "int8" || name == "int8_float32") return CTranslate2Type::kInt8;
  if (name == "float16") return CTranslate2Type::kFloat16;
  if (name == "bfloat16") return CTranslate2Type::kBfloat16;
  throw Error("--quantization: '" + name + "' is none of float32, int8, int8_float32, float16, bfloat16");
}

void CTranslate2File::write(const std::filesystem::path& path, const std::string& specification,
                            uint32_t revision) const {
  Writer writer(path);
  writer.number(kBinaryVersion);
  writer.text(specification);
  writer.number(revision);
  const bool int8 = type_ == CTranslate2Type::kInt8;
  const auto matrices = std::count_if(variables_.begin(), variables_.end(), [](const auto& v) { return v.is_matrix; });
  writer.number(static_cast<uint32_t>(variables_.size() + (int8 ? matrices : 0)));
  for (const auto& [name, value, is_matrix] : variables_) {
    throw_if_stopped();
    if (const auto* flag = std::get_if<int8_t>(&value)) {
      writer.variable(name, {}, kI8, std::vector{*flag});
    } else if (const auto* whole = std::get_if<int16_t>(&value)) {
      writer.variable(name, {}, kI16, std::vector{*whole});
    } else {
      const auto& array = std::get<Array>(value);
      if (int8 && is_matrix)
        write_int8(writer, name, array);
      else if (type_ == CTranslate2Type::kFloat16)
        writer.variable(name, array.shape, kF16, convert(array.values, to_half));
      else if (type_ == CTranslate2Type::kBfloat16)
        writer.variable(name, array.shape, kBF16, convert(array.values, to_bfloat16));
      else
        writer.variable(name, array.shape, kF32, array.values);
    }
  }
  writer.number(static_cast<uint32_t>(aliases_.size()));
  for (const auto& [alias, name] : aliases_) {
    writer.text(alias);
    writer.text(name);
  }
  writer.commit();
}

namespace {

constexpr int64_t kPositions = 2048;  // of sinusoids; CTranslate2 takes no longer sentences than the table
constexpr uint32_t kRevision = 7;     // of its TransformerSpec
constexpr float kLargestHalf = 65504;

int8_t activation_code(FeedForwardActivation activation) {
  switch (activation) {
    case FeedForwardActivation::kRelu:
      return 0;
    case FeedForwardActivation::kSwish:
    case FeedForwardActivation::kSwiglu:
      return 2;
    case FeedForwardActivation::kGelu:
    case FeedForwardActivation::kGeglu:
      return 3;  // the exact one
    case FeedForwardActivation::kGeluTanh:
    case FeedForwardActivation::kGegluTanh:
      return 1;
  }
  return 0;
}

/// Writes our weights under CTranslate2's names.
class Exporter {
 public:
  Exporter(const PlainModel& model, CTranslate2Type type) : model_(model), config_(model.config.model), file_(type) {}

  CTranslate2File& build() {
    for (const char* side : {"encoder", "decoder"}) add_side(side);
    add_embeddings();
    add_positions();
    for (int64_t i = 0; i < encoder_blocks(config_); ++i)
      add_block(fmt::format("encoder_{}", i), fmt::format("encoder/layer_{}", i), false);
    for (int64_t i = 0; i < decoder_blocks(config_); ++i)
      add_block(fmt::format("decoder_{}", i), fmt::format("decoder/layer_{}", i), true);
    return file_;
  }

 private:
  void add_side(const std::string& side) {
    file_.add_number(side + "/num_heads", static_cast<int16_t>(config_.num_heads));
    file_.add_flag(side + "/pre_norm", config_.norm == Norm::kPre);
    file_.add_flag(side + "/activation", activation_code(config_.activation));
    file_.add_flag(side + "/scale_embeddings", 1);
    if (config_.norm == Norm::kPre && config_.final_norm) add_norm(side + "_norm", side + "/layer_norm");
  }

  void add_embeddings() {
    file_.add_flag("encoder/embeddings_merge", 0);
    file_.add_flag("decoder/start_from_zero_embedding", 0);
    file_.add_number("decoder/alignment_layer", -1);
    file_.add_number("decoder/alignment_heads", 1);
    const std::string source = "encoder/embeddings_0/weight", target = "decoder/embeddings/weight";
    const std::string output = "decoder/projection/weight";
    if (config_.tie_embeddings == TiedEmbeddings::kAll) {
      file_.add_matrix(target, model_.weight("embedding"));
      file_.add_alias(source, target);
    } else {
      file_.add_matrix(source, model_.weight("source_embedding"));
      file_.add_matrix(target, model_.weight("target_embedding"));
    }
    if (config_.tie_embeddings == TiedEmbeddings::kNone)
      file_.add_matrix(output, model_.weight("output_weight"));
    else
      file_.add_alias(output, target);
    if (config_.output_bias) file_.add_vector("decoder/projection/bias", model_.weight("output_bias"));
  }

  void add_positions() {
    const std::string source = "encoder/position_encodings/encodings", target = "decoder/position_encodings/encodings";
    if (config_.positions == PositionKind::kLearned) {
      file_.add_vector(source, model_.weight("source_positions.weight"));
      file_.add_vector(target, model_.weight("target_positions.weight"));
      return;
    }
    const bool none = config_.positions == PositionKind::kNone;  // without a table CTranslate2 makes its own
    file_.add_vector(
        source, none ? zeros({kPositions, config_.d_model}) : sinusoids(config_.sinusoid, kPositions, config_.d_model));
    file_.add_alias(target, source);
  }

  void add_norm(const std::string& ours, const std::string& theirs) {
    file_.add_vector(theirs + "/gamma", model_.weight(ours + ".weight"));
    if (config_.norm_form == NormForm::kLayer) file_.add_vector(theirs + "/beta", model_.weight(ours + ".bias"));
  }

  void add_linear(const std::string& theirs, Array weight, Array bias) {
    file_.add_matrix(theirs + "/weight", std::move(weight));
    file_.add_vector(theirs + "/bias", std::move(bias));
  }

  Array bias_of(const std::string& ours) const {
    return config_.attention_bias ? model_.weight(ours + ".bias") : zeros({model_.weight(ours + ".weight").rows()});
  }

  void add_attention(const std::string& ours, const std::string& theirs, bool cross) {
    const auto& query = model_.weight(ours + ".query.weight");
    const auto key = repeat_heads(model_.weight(ours + ".key.weight"), config_);
    const auto value = repeat_heads(model_.weight(ours + ".value.weight"), config_);
    const auto query_bias = bias_of(ours + ".query");
    const auto key_bias = repeat_heads(bias_of(ours + ".key"), config_);
    const auto value_bias = repeat_heads(bias_of(ours + ".value"), config_);
    if (cross) {
      add_linear(theirs + "/linear_0", query, query_bias);
      add_linear(theirs + "/linear_1", join_rows({&key, &value}), join_rows({&key_bias, &value_bias}));
    } else {
      add_linear(theirs + "/linear_0", join_rows({&query, &key, &value}),
                 join_rows({&query_bias, &key_bias, &value_bias}));
    }
    const std::string output = theirs + (cross ? "/linear_2" : "/linear_1");
    if (config_.attention_output_projection)
      add_linear(output, model_.weight(ours + ".output.weight"), bias_of(ours + ".output"));
    else
      add_linear(output, identity(config_.d_model), zeros({config_.d_model}));
    add_norm(ours + "_norm", theirs + "/layer_norm");
  }

  void add_block(const std::string& ours, const std::string& theirs, bool decoder) {
    add_attention(ours + ".self_attention", theirs + "/self_attention", false);
    if (decoder) add_attention(ours + ".cross_attention", theirs + "/attention", true);
    const auto add = [&](const char* from, const char* to) {
      const std::string name = ours + ".feed_forward." + from;
      add_linear(theirs + "/ffn/" + to, model_.weight(name + ".weight"), model_.weight(name + ".bias"));
    };
    add("inner", "linear_0");
    if (model_.weights.contains(ours + ".feed_forward.gated.weight")) add("gated", "linear_0_noact");
    add("outer", "linear_1");
    add_norm(ours + ".feed_forward_norm", theirs + "/ffn/layer_norm");
  }

  const PlainModel& model_;
  const ModelConfig& config_;
  CTranslate2File file_;
};

/// A bias beneath float16 says that a token is never put out, which its least number says, too.
void refuse_beyond_half(const PlainModel& model) {
  for (const auto& [name, array] : model.weights)
    for (const float value : array.values)
      if (value > kLargestHalf || (value < -kLargestHalf && name != "output_bias"))
        throw Error(
            fmt::format("--quantization float16: {}: tensor {} has {}, beyond {}, the largest number of "
                        "float16; use bfloat16 or float32",
                        model.name, name, value, kLargestHalf));
}

nlohmann::ordered_json settings(const PlainModel& model) {
  const auto markers = model.codec.options().source_markers;
  return {{"add_source_bos", markers == SourceMarkers::kBoth},
          {"add_source_eos", markers != SourceMarkers::kNone},
          {"bos_token", model.codec.target().piece(SpecialIds::kBegin)},
          {"decoder_start_token", model.codec.target().piece(SpecialIds::kBegin)},
          {"eos_token", model.codec.target().piece(SpecialIds::kEnd)},
          {"layer_norm_epsilon", model.config.model.norm_epsilon},
          {"multi_query_attention", false},
          {"unk_token", model.codec.target().piece(SpecialIds::kUnknown)}};
}

}  // namespace

std::string ctranslate2_obstacle(const PlainModel& model) {
  if (auto obstacle = plain_transformer_obstacle(model.config.model); !obstacle.empty()) return obstacle;
  return model.codec.options().reverse_source ? "data.reverse_source: true" : "";
}

void write_ctranslate2(const std::filesystem::path& directory, const PlainModel& model, CTranslate2Type type) {
  if (const auto obstacle = ctranslate2_obstacle(model); !obstacle.empty())
    throw Error(
        fmt::format("{}: {} has no place in CTranslate2's Transformer; use --to safetensors", model.name, obstacle));
  check_weights(model);
  if (type == CTranslate2Type::kFloat16) refuse_beyond_half(model);
  Exporter(model, type).build().write(directory / "model.bin", "TransformerSpec", kRevision);
  write_json(directory / "config.json", settings(model));
  const auto source = pieces(model.codec.source()), target = pieces(model.codec.target());
  if (source == target) {
    write_json(directory / "shared_vocabulary.json", target);
  } else {
    write_json(directory / "source_vocabulary.json", source);
    write_json(directory / "target_vocabulary.json", target);
  }
  write_tokenizers(directory, model.codec, "source.spm", "target.spm");
}

}  // namespace nmt::convert
