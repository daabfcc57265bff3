#include "models/decoding_precision.h"

#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/formula_weights.h"
#include "support.h"
#include "tensor_support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::decoding_precision_test {
namespace {

using test::message_of;

TEST(DecodingPrecision, HasNames) {
  for (const auto& [name, precision] :
       {std::pair{"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}, {"int8", Precision::kInt8}}) {
    EXPECT_EQ(resolve_decoding_precision(Choice<DecodingPrecision>(name), torch::kCPU), precision);
    EXPECT_EQ(precision_name(precision), name);
  }
  EXPECT_EQ(resolve_decoding_precision(DecodingPrecision::kFp16, capabilities_of_cuda(7, 0, 0)), Precision::kFp16);
  EXPECT_EQ(precision_name(Precision::kFp16), "fp16");
  EXPECT_EQ(message_of<Error>([] { resolve_decoding_precision(DecodingPrecision::kFp16, torch::kCPU); }),
            "precision fp16: is for GPUs; use fp32, bf16 or int8");
  EXPECT_EQ(
      message_of<Error>([] { resolve_decoding_precision(DecodingPrecision::kInt8, capabilities_of_cuda(9, 0, 0)); }),
      "precision int8: is for the CPU; use bf16, fp16 or --device cpu");
}

TEST(DecodingPrecision, IsChosenByWhatTheProcessorHasInstructionsFor) {
  const bool bf16 = kernels::has_dot_products(kernels::WeightFormat::kBfloat16);
  EXPECT_EQ(resolve_decoding_precision(DecodingPrecision::kAuto, torch::kCPU),
            bf16 ? Precision::kBf16 : Precision::kFp32);
  EXPECT_EQ(resolve_decoding_precision(DecodingPrecision::kAuto, capabilities_of_cuda(8, 0, 0)), Precision::kBf16);
  EXPECT_EQ(resolve_decoding_precision(DecodingPrecision::kAuto, capabilities_of_cuda(7, 5, 0)), Precision::kFp16);
  EXPECT_EQ(resolve_decoding_precision(DecodingPrecision::kAuto, capabilities_of_cuda(6, 1, 0)), Precision::kFp32);
}

// Every architecture: what is packed does not need the weights' own memory, and computes near them.
TEST(DecodingPrecision, PreparesEveryArchitecture) {
  const test::TemporaryDirectory folder;
  for (const std::string model :
       {"d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, norm: pre",
        "d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, decoder_mixer: ssru",
        "architecture: recurrent, d_model: 16, num_blocks: 1, attention_score: additive, tie_embeddings: none"}) {
    const auto config = parse_config("{model: {" + model + "}}", "test").config;
    const auto bytes = train_sentencepiece(test::training_lines(), {.vocab_size = 60, .character_coverage = 1.0});
    const auto both = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
    const auto directory = folder / std::to_string(std::hash<std::string>()(model));
    std::filesystem::create_directory(directory);
    const auto original = test::formula_model(config.model, 60, 60);
    save_model(directory, *original, config, TextCodec({}, both, both), nlohmann::json::object());

    const c10::NoGradGuard no_gradients;
    const auto source = torch::tensor({{5, 9, 4, 3}}, torch::kInt64), length = torch::tensor({4}, torch::kInt64);
    const auto logits = [&](TranslationModel& one) {
      const auto state = one.start(source, length);
      one.step(*state, torch::tensor({2}, torch::kInt64));
      return one.step(*state, torch::tensor({7}, torch::kInt64));
    };
    const auto exact = logits(*original);
    for (const auto precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8}) {
      auto loaded = load_model(directory, torch::kCPU);
      prepare_decoding(loaded, precision);
      EXPECT_EQ(loaded.precision, precision_name(precision));
      EXPECT_EQ(loaded.model->compute_type(), torch::kFloat32);
      const auto found = logits(*loaded.model);
      EXPECT_EQ(found.equal(exact), precision == Precision::kFp32) << model << " " << precision_name(precision);
      EXPECT_LT((found - exact).abs().mean().item<double>(), 0.1 * exact.std().item<double>()) << model;
    }
  }
}

}  // namespace
}  // namespace nmt::decoding_precision_test
