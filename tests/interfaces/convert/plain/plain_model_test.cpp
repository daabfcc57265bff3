#include "convert/plain/plain_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/files/protocol_buffer.h"
#include "convert/formats/array.h"
#include "convert/marian/marian_export.h"
#include "convert/plain/ctranslate2.h"
#include "convert/plain/model_weights.h"
#include "convert/plain/plain_safetensors.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt::convert::plain_model_test {
namespace {

using test::message_of;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kPieces = 6;

std::shared_ptr<const Tokenizer> tokenizer() {
  ProtocolMessage model;
  for (const auto& piece : std::vector<Piece>{{"<pad>", 0, PieceType::kControl},
                                              {"<unk>", 0, PieceType::kUnknown},
                                              {"<s>", 0, PieceType::kControl},
                                              {"</s>", 0, PieceType::kControl},
                                              {"\xE2\x96\x81", -1},
                                              {"a", -2}}) {
    ProtocolMessage part;
    part.bytes(1, piece.text).real32(2, piece.score).number(3, static_cast<uint64_t>(piece.type));
    model.message(1, part);
  }
  return std::make_shared<SentencePieceTokenizer>(model.encoded(), "test");
}

/// A Transformer that every format takes, or with what `change` makes of its configuration.
PlainModel small_model(const std::function<void(Config&)>& change = [](Config&) {}) {
  Config config;
  config.model.d_model = config.model.d_ff = 4;
  config.model.num_heads = 2;
  config.model.num_blocks = 1;
  change(config);
  const auto pieces = tokenizer();
  PlainModel model{.config = config, .codec = TextCodec({}, pieces, pieces), .weights = {}, .name = "model"};
  for (const auto& [name, shape] : transformer_weights(config.model, kPieces, kPieces)) {
    model.weights[name] = zeros(shape);
    model.parameters += element_count(shape);
  }
  return model;
}

/// Every way out, into folders of its own.
std::map<std::string, std::function<void(const PlainModel&)>> ways(const test::TemporaryDirectory& folder) {
  std::map<std::string, std::function<void(const PlainModel&)>> all;
  const auto& path = folder.path();
  all["int8"] = [path](const auto& model) { write_quantized_model(path, model, WeightType::kInt8, path); };
  all["bf16"] = [path](const auto& model) { write_quantized_model(path, model, WeightType::kBfloat16, path); };
  for (const char* type : {"float32", "int8", "float16", "bfloat16"})
    all[std::string("ctranslate2 ") + type] = [path, type](const auto& model) {
      write_ctranslate2(path, model, parse_ctranslate2_type(type));
    };
  all["marian"] = [path](const auto& model) { write_marian(path, model); };
  all["safetensors"] = [path](const auto& model) { write_plain_safetensors(path, model); };
  return all;
}

TEST(Export, RefusesWeightsThatAreNotTheModels) {
  const std::map<std::string, std::function<void(Arrays&)>> damages = {
      {"tensor encoder_0.feed_forward.inner.bias is missing",
       [](Arrays& weights) { weights.erase("encoder_0.feed_forward.inner.bias"); }},
      {"tensor other belongs to no part of this model", [](Arrays& weights) { weights["other"] = zeros({3}); }},
      {"tensor embedding is [5, 4], the configuration needs [6, 4]",
       [](Arrays& weights) {
         weights["embedding"] = zeros({5, 4});
       }},
      {"tensor embedding has numbers that are not finite: a training that failed",
       [](Arrays& weights) { weights["embedding"].values[7] = std::numeric_limits<float>::quiet_NaN(); }},
      {"tensor encoder_0.feed_forward.outer.bias has numbers that are not finite", [](Arrays& weights) {
         weights["encoder_0.feed_forward.outer.bias"].values[0] = -std::numeric_limits<float>::infinity();
       }}};
  const test::TemporaryDirectory folder;
  for (const auto& [way, write] : ways(folder)) {
    write(small_model());
    for (const auto& [expected, damage] : damages) {
      auto model = small_model();
      damage(model.weights);
      EXPECT_THAT(message_of<Error>([&] { write(model); }), HasSubstr(expected)) << way;
    }
  }
}

// Nothing names the weights of these models without LibTorch. Their number is known.
TEST(Export, CountsTheWeightsOfOtherModels) {
  const test::TemporaryDirectory folder;
  for (const auto& change : std::vector<std::function<void(Config&)>>{
           [](Config& config) { config.model.architecture = Architecture::kRecurrent; },
           [](Config& config) { config.model.positions = PositionKind::kShaw; }}) {
    for (const char* way : {"int8", "bf16", "safetensors"}) {
      const auto write = ways(folder)[way];
      auto model = small_model(change);
      model.weights["other"] = zeros({3});
      model.parameters += 3;
      write(model);
      model.weights["other"] = zeros({2});
      EXPECT_THAT(message_of<Error>([&] { write(model); }), StartsWith("model: damaged: its weights have ")) << way;
      model.weights.erase("other");
      EXPECT_THAT(message_of<Error>([&] { write(model); }), StartsWith("model: damaged: its weights have ")) << way;
    }
  }
}

TEST(Export, RefusesNumbersThatFloat16DoesNotHold) {
  const test::TemporaryDirectory folder;
  const auto write = ways(folder)["ctranslate2 float16"];
  auto model = small_model([](Config& config) { config.model.output_bias = true; });
  auto& weight = model.weights["embedding"].values[0];
  for (const float value : {65504.0F, -65504.0F}) {
    weight = value;
    write(model);
  }
  for (const float value : {65505.0F, -1e9F}) {
    weight = value;
    EXPECT_THAT(message_of<Error>([&] { write(model); }), HasSubstr("tensor embedding has ")) << value;
    for (const char* way : {"ctranslate2 float32", "ctranslate2 int8", "ctranslate2 bfloat16", "int8", "marian"})
      ways(folder)[way](model);
  }
  weight = 0;
  model.weights["output_bias"].values[0] = -1e9F;  // a token that is never put out
  write(model);
  model.weights["output_bias"].values[0] = 1e9F;
  EXPECT_THAT(message_of<Error>([&] { write(model); }), HasSubstr("tensor output_bias has "));
}

TEST(Import, IsAModelThatCanBeRead) {
  check_import(small_model());
  const std::pair<const char*, std::function<void(Config&)>> cases[] = {
      {"data.source_prefix", [](Config& config) { config.data.source_prefix = "a\x01"; }},
      {"data.source_prefix", [](Config& config) { config.data.source_prefix = "a\nb"; }},
      {"decoding.length_penalty", [](Config& config) { config.decoding.length_penalty = -1; }},
      {"model.num_heads", [](Config& config) { config.model.num_heads = 3; }}};
  for (const auto& [option, change] : cases)
    EXPECT_THAT(message_of<Error>([&] { check_import(small_model(change)); }),
                testing::AllOf(StartsWith("model as a model of this toolkit"), HasSubstr(option)));
  auto model = small_model();
  model.weights["embedding"].values[0] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(message_of<Error>([&] { check_import(model); }), HasSubstr("not finite"));
}

/// 7 where `write` ends with Stopped after a signal, 8 where it continues to its end.
void write_after_a_signal(const std::function<void()>& write) {
  catch_stop_signals();
  std::raise(SIGTERM);
  try {
    write();
  } catch (const Stopped&) {
    std::_Exit(7);
  }
  std::_Exit(8);
}

TEST(ExportDeathTest, EndsForASignal) {
  const test::TemporaryDirectory folder;
  const auto model = small_model();
  for (const auto& [way, write] : ways(folder))
    EXPECT_EXIT(write_after_a_signal([&] { write(model); }), testing::ExitedWithCode(7), "") << way;
  write_plain_model(folder.path(), model);
  EXPECT_EXIT(write_after_a_signal([&] { write_plain_model(folder.path(), model); }), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(write_after_a_signal([&] { read_plain_model(folder.path()); }), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace nmt::convert::plain_model_test
