// What is read straight from a file has the bytes of what LibTorch's model packs.
#include "nn/inference/read_transformer.h"

#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/schema.h"
#include "models/formula_weights.h"
#include "models/interface/safetensors.h"
#include "support.h"

namespace nmt::read_transformer_test {
namespace {

using inference::TransformerWeights;
using inference::Unsupported;
using kernels::WeightFormat;

constexpr int64_t kSource = 90, kTarget = 75;
const std::string kSmall = "d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2";

/// All that a Transformer's weights hold: bytes by the name of a part.
class Contents {
 public:
  explicit Contents(const TransformerWeights& weights) : model_(weights.model) {
    add_stack("encoder", weights.encoder);
    add_stack("decoder", weights.decoder);
    add("output", weights.output);
  }
  const std::map<std::string, std::string>& parts() const { return parts_; }

 private:
  template <typename T>
  void add(const std::string& name, const T* data, int64_t count) {
    parts_[name] = data ? std::string(reinterpret_cast<const char*>(data), count * sizeof(T)) : "none";
  }
  void add(const std::string& name, const inference::Map& map) {
    const auto& w = map.weight;
    const int64_t padded = kernels::panel_count(w.out) * kernels::kPanel;
    parts_[name] = std::to_string(int(w.format)) + " " + std::to_string(w.out) + " " + std::to_string(w.in);
    add(name + " panels", w.panels, padded * kernels::words_in_row(w.format, w.in));
    add(name + " scales", w.scales, padded);
    add(name + " sums", w.sums, padded);
    add(name + " bias", map.bias, w.out);
  }
  void add(const std::string& name, const std::optional<inference::Map>& map) {
    if (map) add(name, *map);
  }
  void add(const std::string& name, const inference::NormWeights& norm) {
    add(name + " weight", norm.weight, model_);
    add(name + " bias", norm.bias, model_);
    parts_[name] = std::to_string(norm.epsilon);
  }
  void add(const std::string& name, const inference::FeedForwardWeights& weights) {
    add(name + " inner", weights.inner);
    add(name + " gate", weights.gate);
    add(name + " outer", weights.outer);
    parts_[name] = std::to_string(int(weights.activation));
  }
  void add(const std::string& name, const std::shared_ptr<inference::PositionRows>& rows, int64_t features) {
    if (!rows) return;
    const auto table = rows->table(9);
    add(name, table.rows, 9 * features);
    parts_[name + " count"] = std::to_string(table.count);
  }
  void add(const std::string& name, const inference::AttentionWeights& weights) {
    add(name + " query", weights.query);
    add(name + " together", weights.together);
    add(name + " output", weights.output);
    add(name + " rotation", weights.rotation, weights.head_dim);
    for (const int64_t number :
         {weights.heads, weights.key_value_heads, weights.head_dim, int64_t(weights.activation), int64_t(weights.kept)})
      parts_[name] += std::to_string(number) + " ";
  }
  void add(const std::string& name, const inference::AverageWeights& weights) {
    add(name + " net", weights.feed_forward);
    add(name + " gate", weights.gate);
  }
  void add(const std::string& name, const inference::SsruWeights& weights) {
    add(name + " forget", weights.forget);
    add(name + " input", weights.input);
  }
  void add_stack(const std::string& name, const inference::StackWeights& stack) {
    add(name + " table", stack.input.table, stack.input.vocabulary * model_);
    add(name + " packed", stack.input.packed);
    add(name + " positions", stack.input.positions, model_);
    add(name + " norm", stack.norm);
    for (size_t i = 0; i < stack.blocks.size(); ++i) {
      const auto& block = stack.blocks[i];
      const auto prefix = name + " " + std::to_string(i);
      parts_[prefix] = std::to_string(block.pre_norm) + " " + std::to_string(block.residual_weight);
      std::visit([&](const auto& mixer) { add(prefix + " mixer", mixer); }, block.mixer);
      add(prefix + " mixer norm", block.mixer_norm);
      if (block.cross_attention) add(prefix + " cross", *block.cross_attention);
      add(prefix + " cross norm", block.cross_attention_norm);
      add(prefix + " feed-forward", block.feed_forward);
      add(prefix + " feed-forward norm", block.feed_forward_norm);
    }
  }

  int64_t model_;
  std::map<std::string, std::string> parts_;
};

/// A model's weights as a directory of this type holds them.
NamedTensors stored(const TranslationModel& model, WeightType type) {
  NamedTensors tensors;
  for (const auto& [name, weight] : named_parameters(model)) {
    if (type == WeightType::kFloat32 || !is_quantized(name, weight.dim())) {
      tensors.emplace_back(name, weight);
    } else if (type == WeightType::kBfloat16) {
      tensors.emplace_back(name, weight.to(torch::kBFloat16));
    } else {
      const auto rows = weight.detach().contiguous();
      auto numbers = torch::empty(rows.sizes(), torch::kInt8), scales = torch::empty({rows.size(0)}, torch::kFloat32);
      const auto columns = static_cast<size_t>(rows.size(1));
      for (int64_t i = 0; i < rows.size(0); ++i)
        scales[i] = quantize_row({rows.const_data_ptr<float>() + i * columns, columns},
                                 numbers.mutable_data_ptr<int8_t>() + i * columns);
      tensors.emplace_back(name, numbers);
      tensors.emplace_back(name + "_scale", scales);
    }
  }
  return tensors;
}

class ReadTransformer : public testing::Test {
 protected:
  std::shared_ptr<TranslationModel> make(const ModelConfig& config) {
    const bool one_table =
        config.architecture == Architecture::kTransformer && config.tie_embeddings == TiedEmbeddings::kAll;
    description_.config.model = config;
    description_.source_vocabulary = one_table ? kTarget : kSource;
    description_.target_vocabulary = kTarget;
    return test::formula_model(config, description_.source_vocabulary, kTarget);
  }
  void write(const NamedTensors& tensors, WeightType type) {
    description_.weights = type;
    save_safetensors(folder_ / "model.safetensors", tensors);
  }
  std::shared_ptr<const TransformerWeights> read(WeightFormat format) {
    return inference::read_transformer(folder_.path(), description_, format, &threads_);
  }

  /// A directory of float32 weights in every format, and each quantized directory in its own.
  void expect_same(const ModelConfig& config, const std::string& what) {
    const auto model = make(config);
    for (const auto& [type, format] : {std::pair{WeightType::kFloat32, WeightFormat::kFloat32},
                                       {WeightType::kFloat32, WeightFormat::kBfloat16},
                                       {WeightType::kFloat32, WeightFormat::kInt8},
                                       {WeightType::kBfloat16, WeightFormat::kBfloat16},
                                       {WeightType::kInt8, WeightFormat::kInt8}}) {
      write(stored(*model, type), type);
      model->set_packing({.format = format});
      std::shared_ptr<const TransformerWeights> packed;
      try {
        packed = model->inference_weights();
      } catch (const Unsupported&) {
        EXPECT_THROW(read(format), Unsupported) << what;
        continue;
      }
      const Contents expected(*packed), found(*read(format));
      ASSERT_EQ(found.parts().size(), expected.parts().size()) << what;
      for (const auto& [name, bytes] : expected.parts())
        ASSERT_TRUE(found.parts().contains(name) && found.parts().at(name) == bytes)
            << what << ", directory " << Choice(type).name() << ", format " << int(format) << ": " << name;
    }
  }

  test::TemporaryDirectory folder_;
  ModelDescription description_;
  ThreadPool threads_{1};
  const c10::NoGradGuard no_gradients_;
};

TEST_F(ReadTransformer, HasTheBytesOfEveryPreset) {
  int presets = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_directory() / "configs")) {
    auto config = load_config(file.path()).config.model;
    if (config.architecture != Architecture::kTransformer) continue;
    config.d_model = 64;  // 16 heads at most
    config.d_ff = 70;
    config.max_positions = 12;
    expect_same(config, file.path().filename());
    ++presets;
  }
  EXPECT_GT(presets, 10);
}

TEST_F(ReadTransformer, HasTheBytesOfEveryForm) {
  for (const std::string form :
       {"norm: post", "norm: pre", "norm: pre, final_norm: false, positions: learned, max_positions: 12",
        "norm: pre, positions: rotary", "positions: none, norm_form: rms, norm_epsilon: 0.001",
        "tie_embeddings: none, output_bias: true", "tie_embeddings: target, attention_bias: false", "output_bias: true",
        "attention_output_projection: false, qkv_activation: relu", "activation: swiglu", "activation: gelu",
        "key_value_heads: 1, positions: rotary", "decoder_mixer: average",
        "norm: pre, decoder_mixer: ssru, encoder_blocks: 3, decoder_blocks: 1", "deep_init: deepnet",
        "sinusoid: half_split"})
    expect_same(test::model_config(kSmall + ", " + form), form);
}

TEST_F(ReadTransformer, LeavesTheUnusualToLibTorch) {
  for (const std::string form : {"positions: t5", "positions: alibi", "positions: hierarchical", "positions: product",
                                 "positions: convolution", "attention_score: cosine", "attention_normalization: none"})
    EXPECT_THROW((make(test::model_config(kSmall + ", " + form)), read(WeightFormat::kFloat32)), Unsupported) << form;
  make(
      test::model_config("architecture: recurrent, d_model: 12, num_blocks: 1, attention_score: additive, "
                         "tie_embeddings: none"));
  EXPECT_THROW(read(WeightFormat::kFloat32), Unsupported);
}

// No array of a header is aligned in a file whose header has an odd length.
TEST_F(ReadTransformer, TakesNumbersFromAnywhere) {
  const auto model = make(test::model_config(kSmall));
  write(stored(*model, WeightType::kFloat32), WeightType::kFloat32);
  const Contents expected(*read(WeightFormat::kFloat32));
  auto bytes = read_file(folder_ / "model.safetensors");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.insert(sizeof length + length, 1, ' ');
  ++length;
  std::memcpy(bytes.data(), &length, sizeof length);
  write_file_atomically(folder_ / "model.safetensors", bytes);
  EXPECT_EQ(Contents(*read(WeightFormat::kFloat32)).parts(), expected.parts());
}

TEST_F(ReadTransformer, SaysWhatIsWrongWithAFile) {
  const auto model = make(test::model_config(kSmall));
  const auto whole = stored(*model, WeightType::kInt8);
  const auto path = (folder_ / "model.safetensors").string();
  const auto message = [&](WeightType type) {
    return test::message_of<Error>(
        [&] { read(type == WeightType::kInt8 ? WeightFormat::kInt8 : WeightFormat::kFloat32); });
  };
  const auto changed = [&](const std::string& name, const torch::Tensor& tensor) {
    auto tensors = whole;
    std::erase_if(tensors, [&](const auto& item) { return item.first == name; });
    if (tensor.defined()) tensors.emplace_back(name, tensor);
    write(tensors, WeightType::kInt8);
    return message(WeightType::kInt8);
  };
  EXPECT_EQ(changed("encoder_1.self_attention.key.bias", {}),
            path + ": tensor encoder_1.self_attention.key.bias is missing");
  EXPECT_EQ(changed("encoder_1.self_attention.key.bias", torch::ones({15})),
            path + ": tensor encoder_1.self_attention.key.bias is F32 [15], the configuration needs [16]");
  EXPECT_EQ(changed("decoder_2.self_attention.key.bias", torch::ones({16})),
            path + ": tensor decoder_2.self_attention.key.bias belongs to no part of this model");
  EXPECT_EQ(changed("encoder_1.self_attention.key.weight_scale", {}),
            path + ": tensor encoder_1.self_attention.key.weight_scale is missing; export the model again");
  write(stored(*model, WeightType::kBfloat16), WeightType::kFloat32);
  EXPECT_EQ(message(WeightType::kFloat32),
            path +
                ": tensor decoder_0.cross_attention.key.weight is BF16, in a directory of fp32 weights it is F32; "
                "export the model again");
}

}  // namespace
}  // namespace nmt::read_transformer_test
