#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/stored_weights.h"
#include "convert/plain/plain_safetensors.h"
#include "models/decoding_precision.h"
#include "models/formula_weights.h"
#include "models/transformer/transformer_forms.h"
#include "support.h"
#include "tensor_support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace fs = std::filesystem;

namespace nmt::quantized_directory_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using testing::HasSubstr;

constexpr int64_t kPieces = 60;

std::shared_ptr<const Tokenizer> tokenizer() {
  static const auto kMade = [] {
    const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = kPieces, .character_coverage = 1.0});
    return std::make_shared<SentencePieceTokenizer>(*bytes, "test");
  }();
  return kMade;
}

/// Every form of Transformer and two recurrent models.
std::map<std::string, ModelConfig> all_forms() {
  auto forms = test::transformer_forms();
  forms["recurrent"] = test::model_config(
      "architecture: recurrent, d_model: 16, num_blocks: 1, attention_score: additive, tie_embeddings: none");
  forms["recurrent_tied"] = test::model_config(
      "architecture: recurrent, d_model: 16, num_blocks: 1, attention_score: general, readout: tanh, readout_size: 16, "
      "tie_embeddings: target");
  for (auto& [name, config] : forms) config.max_positions = 128;  // as many as a directory's own maxlen asks for
  return forms;
}

void save_float32(const fs::path& directory, const ModelConfig& model) {
  Config config = parse_config("{}", "test").config;
  config.model = model;
  fs::create_directory(directory);
  save_model(directory, *test::formula_model(model, kPieces, kPieces), config, TextCodec({}, tokenizer(), tokenizer()),
             {{"update", 3}});
}

void quantize(const fs::path& from, const fs::path& to, WeightType type) {
  fs::create_directory(to);
  convert::write_quantized_model(to, convert::read_plain_model(from), type, from);
}

LoadedModel prepared(const fs::path& directory, DecodingPrecision precision = DecodingPrecision::kAuto) {
  auto loaded = load_model(directory, torch::kCPU);
  prepare_decoding(loaded, resolve_decoding_precision(precision, torch::kCPU, loaded));
  return loaded;
}

/// All that a search and what stands beside it see of a model, one after the other.
std::vector<torch::Tensor> seen_of(TranslationModel& model) {
  const c10::NoGradGuard no_gradients;
  const auto source = torch::tensor({{5, 9, 4, 59, 3}, {7, 3, 0, 0, 0}}, torch::kInt64);
  const auto lengths = torch::tensor({5, 2}, torch::kInt64);
  std::vector<torch::Tensor> seen{model.source_embeddings(source[0]), model.encoder_output(source, lengths)[0]};
  const auto state = model.start(source, lengths);
  seen.push_back(model.step(*state, torch::tensor({2, 2}, torch::kInt64)));
  state->select(torch::tensor({0, 0, 1}, torch::kInt64));
  seen.push_back(model.step(*state, torch::tensor({7, 59, 8}, torch::kInt64)));
  const auto few = model.start(source, lengths);
  model.restrict_outputs(*few, {3, 58, 11});
  seen.push_back(model.step(*few, torch::tensor({2, 2}, torch::kInt64)).narrow(1, 0, 3));
  const TensorBatch batch{.source = source.narrow(0, 0, 1),
                          .source_lengths = lengths.narrow(0, 0, 1),
                          .target_in = torch::tensor({{2, 9, 4}}, torch::kInt64),
                          .target_out = {},
                          .target_lengths = torch::tensor({3}, torch::kInt64)};
  for (const auto& map : model.attention_maps(batch)) seen.push_back(map.weights);
  return seen;
}

TEST(QuantizedDirectory, ComputesWhatTheFloat32OneComputes) {
  for (const auto& [name, config] : all_forms()) {
    SCOPED_TRACE(name);
    const TemporaryDirectory folder;
    save_float32(folder / "fp32", config);
    for (const auto& [type, precision] :
         {std::pair{WeightType::kInt8, DecodingPrecision::kInt8}, {WeightType::kBfloat16, DecodingPrecision::kBf16}}) {
      const auto directory = folder / name_of(type);
      quantize(folder / "fp32", directory, type);
      const auto original = prepared(folder / "fp32", precision), quantized = prepared(directory);
      EXPECT_EQ(quantized.precision, name_of(precision));
      EXPECT_EQ(quantized.summary["update"], 3);
      const auto expected = seen_of(*original.model), found = seen_of(*quantized.model);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << name_of(type) << " " << i;
      EXPECT_FALSE(found[2].equal(seen_of(*prepared(folder / "fp32", DecodingPrecision::kFp32).model)[2]));
    }
  }
}

// nmt-export goes by names, since it knows no LibTorch; what the model says must agree.
TEST(QuantizedDirectory, HoldsNothingQuantizedThatTheModelNeedsInFloat32) {
  for (const auto& [name, config] : all_forms()) {
    const auto model = make_model(config, kPieces, kPieces);
    const auto packed = model->packed_parameters();
    int64_t elements = 0, quantized = 0;
    for (const auto& parameter : model->named_parameters()) {
      elements += parameter.value().numel();
      if (!is_quantized(parameter.key(), parameter.value().sizes().size())) continue;
      EXPECT_TRUE(packed.contains(parameter.key())) << name << ": " << parameter.key();
      quantized += parameter.value().numel();
    }
    EXPECT_GT(quantized, 0) << name;
    const bool is_usual = name == "vaswani" || name == "pre_norm" || name == "grouped" || name == "bare";
    for (const auto& parameter : packed) {
      if (!is_usual) continue;
      EXPECT_TRUE(is_quantized(parameter, 2)) << name << ": " << parameter;
    }
  }
}

/// A float32 directory and its int8 and bf16 ones, made once.
class QuantizedFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = new TemporaryDirectory;
    save_float32(*made_ / "fp32",
                 test::model_config("d_model: 64, d_ff: 128, num_blocks: 2, num_heads: 2, tie_embeddings: none"));
    quantize(*made_ / "fp32", *made_ / "int8", WeightType::kInt8);
    quantize(*made_ / "fp32", *made_ / "bf16", WeightType::kBfloat16);
  }
  static void TearDownTestSuite() { delete made_; }
  void SetUp() override {
    for (const char* name : {"fp32", "int8", "bf16"})
      fs::copy(*made_ / name, folder_ / name, fs::copy_options::recursive);
  }
  fs::path weights(const std::string& name) const { return folder_ / name / "model.safetensors"; }

  /// The int8 directory's file with other entries.
  void rewrite(const std::function<void(std::vector<SafetensorsEntry>&)>& change) const {
    const std::string before = read_file(weights("int8"));
    const auto index = read_safetensors_index(std::as_bytes(std::span(before)), "before");
    auto tensors = index.tensors;
    change(tensors);
    std::string bytes = safetensors_header(tensors, index.metadata);
    for (const auto& tensor : tensors)
      bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    write_file_atomically(weights("int8"), bytes);
  }
  std::string refused(const std::string& name) const {
    return message_of<Error>([&] { load_model(folder_ / name, torch::kCPU); });
  }

  static TemporaryDirectory* made_;
  TemporaryDirectory folder_;
};
TemporaryDirectory* QuantizedFiles::made_ = nullptr;

TEST_F(QuantizedFiles, AreAQuarterAndAHalf) {
  const auto size = [&](const char* name) { return static_cast<double>(fs::file_size(weights(name))); };
  EXPECT_LT(size("int8"), 0.32 * size("fp32")) << "a matrix of 64 columns has a scale a row";
  EXPECT_LT(size("bf16"), 0.54 * size("fp32"));
  const auto json = nlohmann::json::parse(read_file(folder_ / "int8" / "model.json"));
  EXPECT_EQ(json["format_version"], 2);
  EXPECT_EQ(json["weights"], "int8");
  EXPECT_EQ(json["parameters"], load_model(folder_ / "fp32", torch::kCPU).model->parameter_count());
  EXPECT_EQ(json["configuration"]["decoding"]["precision"], "int8");
}

TEST_F(QuantizedFiles, HaveOnePrecision) {
  for (const auto& [name, own, other] : {std::tuple{"int8", Precision::kInt8, DecodingPrecision::kBf16},
                                         {"bf16", Precision::kBf16, DecodingPrecision::kInt8}}) {
    const auto loaded = load_model(folder_ / name, torch::kCPU);
    const auto resolve = [&](DecodingPrecision wanted) {
      return resolve_decoding_precision(wanted, torch::kCPU, loaded);
    };
    EXPECT_EQ(resolve(DecodingPrecision::kAuto), own);
    EXPECT_EQ(resolve(Choice<DecodingPrecision>(name)), own);
    EXPECT_EQ(message_of<Error>([&] { resolve(DecodingPrecision::kFp32); }),
              (folder_ / name).string() + ": its weights are " + name +
                  ", from which no fp32 can be made; use --precision " + name +
                  ", or the float32 directory that it was made of");
    EXPECT_THROW(resolve(other), Error);
    EXPECT_EQ(message_of<Error>([&] { require_float32(loaded, "training.init_from"); }),
              "training.init_from " + (folder_ / name).string() + ": its weights are " + name +
                  ", which is for translating only; name the float32 directory that it was made of");
  }
  require_float32(load_model(folder_ / "fp32", torch::kCPU), "anything");
  EXPECT_THAT(message_of<Error>([&] { load_model(folder_ / "int8", torch::kCUDA); }),
              HasSubstr("its weights are int8, which is for the CPU; use --device cpu"));
}

TEST_F(QuantizedFiles, AreNotNeededOnceTheyAreLoaded) {
  for (const char* name : {"int8", "bf16"}) {
    const auto loaded = prepared(folder_ / name);
    const auto before = seen_of(*loaded.model);
    fs::resize_file(weights(name), 0);
    const auto after = seen_of(*loaded.model);
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i].equal(before[i])) << name << " " << i;
  }
}

TEST_F(QuantizedFiles, ThatChangeWhileTheyAreLoadedAreNoticed) {
  auto loaded = load_model(folder_ / "int8", torch::kCPU);
  fs::resize_file(weights("int8"), 100);
  EXPECT_THAT(message_of<Error>([&] { prepare_decoding(loaded, Precision::kInt8); }),
              HasSubstr("model.safetensors: was changed while it was read"));
  auto replaced = load_model(folder_ / "bf16", torch::kCPU);
  fs::rename(weights("fp32"), weights("bf16"));
  EXPECT_NO_THROW(prepare_decoding(replaced, Precision::kBf16)) << "the old file is whole";
}

TEST_F(QuantizedFiles, AreRefusedWhereTheyAreDamaged) {
  const auto change = [&](const std::string& name, const std::function<void(SafetensorsEntry&)>& action) {
    rewrite([&](auto& tensors) {
      const auto found = std::ranges::find(tensors, name, &SafetensorsEntry::name);
      ASSERT_NE(found, tensors.end());
      action(*found);
    });
  };
  const auto restore = [&] {
    fs::copy_file(*made_ / "int8" / "model.safetensors", weights("int8"), fs::copy_options::overwrite_existing);
  };
  const std::string query = "encoder_0.self_attention.query.weight";
  static const std::vector<float> kInfinite(64, HUGE_VALF);
  change(query + "_scale", [&](auto& entry) { entry.data = std::as_bytes(std::span(kInfinite)); });
  EXPECT_THAT(refused("int8"), HasSubstr("tensor " + query + "_scale has a scale that is negative or not finite"));
  restore();
  change(query, [](auto& entry) { entry.name = "encoder_0.self_attention.other.query.weight"; });
  EXPECT_THAT(refused("int8"), HasSubstr("encoder_0.self_attention.other.query.weight is I8"));
  restore();
  change(query, [](auto& entry) { entry.name = "encoder_7.self_attention.query.weight"; });
  EXPECT_THAT(refused("int8"), HasSubstr("encoder_7.self_attention.query.weight_scale is missing"));
  restore();
  rewrite([&](auto& tensors) {
    for (auto& tensor : tensors)
      if (tensor.name.starts_with(query)) tensor.name[8] = '7';
  });
  EXPECT_THAT(refused("int8"), HasSubstr("encoder_7.self_attention.query.weight is I8, the model needs it in float32"));
  restore();
  change(query, [](auto& entry) { entry.shape = {32, 128}; });
  EXPECT_THAT(refused("int8"), HasSubstr(query + "_scale is not F32 [32]"));
  restore();
  rewrite([&](auto& tensors) {
    for (auto& tensor : tensors) {
      if (tensor.name == query) tensor.shape = {32, 64}, tensor.data = tensor.data.first(32 * 64);
      if (tensor.name == query + "_scale") tensor.shape = {32}, tensor.data = tensor.data.first(32 * 4);
    }
  });
  EXPECT_THAT(refused("int8"), HasSubstr("tensor " + query + " is I8 [32, 64], the configuration needs F32 [64, 64]"));
  restore();
  rewrite([&](auto& tensors) { std::erase_if(tensors, [&](auto& tensor) { return tensor.name.starts_with(query); }); });
  EXPECT_THAT(refused("int8"), HasSubstr("tensor " + query + " is missing"));
  restore();
  fs::resize_file(weights("int8"), fs::file_size(weights("int8")) - 1);
  EXPECT_THAT(refused("int8"), HasSubstr("model.safetensors: damaged"));
  fs::copy_file(weights("fp32"), weights("int8"), fs::copy_options::overwrite_existing);
  EXPECT_THAT(refused("int8"), HasSubstr("is F32, in a directory of int8 weights it is I8"));
  fs::copy_file(*made_ / "int8" / "model.safetensors", weights("fp32"), fs::copy_options::overwrite_existing);
  EXPECT_THAT(refused("fp32"), HasSubstr("is I8"));
}

TEST_F(QuantizedFiles, AreMadeOfFiniteWeightsOnly) {
  auto model = convert::read_plain_model(folder_ / "fp32");
  model.weights.at("encoder_1.feed_forward.inner.weight").values[5] = std::nanf("");
  fs::create_directory(folder_ / "new");
  EXPECT_THAT(message_of<Error>(
                  [&] { convert::write_quantized_model(folder_ / "new", model, WeightType::kInt8, folder_ / "fp32"); }),
              HasSubstr("encoder_1.feed_forward.inner.weight has numbers that are not finite"));
}

TEST_F(QuantizedFiles, OfAnUnknownTypeAreRefused) {
  auto json = nlohmann::ordered_json::parse(read_file(folder_ / "int8" / "model.json"));
  json["weights"] = "int4";
  write_file_atomically(folder_ / "int8" / "model.json", json.dump());
  EXPECT_THAT(refused("int8"), HasSubstr("model.json: damaged: 'weights' is none of fp32, bf16, int8"));
}

}  // namespace
}  // namespace nmt::quantized_directory_test
