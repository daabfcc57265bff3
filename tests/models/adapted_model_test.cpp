// A model with an adapter, by LibTorch and without it: the sums of base and updates, and what models have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/files/adapter.h"
#include "base/files/file.h"
#include "config/loading/model_description.h"
#include "models/formula_weights.h"
#include "models/interface/safetensors.h"
#include "models/model_directory.h"
#include "nn/inference/read_transformer.h"
#include "support.h"
#include "tensor_support.h"
#include "text/words.h"

namespace fs = std::filesystem;

namespace nmt::adapted_model_test {
namespace {

using inference::TransformerWeights;
using kernels::WeightFormat;

const char* const kInner = "encoder_0.feed_forward.inner.weight";
const char* const kQuery = "decoder_0.self_attention.query.weight";
constexpr int64_t kRank = 2, kModel = 16;
constexpr double kAlpha = 6;

/// A base, an adapter of two of its matrices, and a directory with the sums.
class AdaptedModel : public testing::Test {
 protected:
  AdaptedModel() {
    Config config;
    config.model = test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, tie_embeddings: target");
    std::string vocabulary = "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\n";
    for (const char* word : {"a", "b", "c", "d"}) vocabulary += std::string(word) + "\t1\n";
    const auto words = std::make_shared<WordTokenizer>(vocabulary, "vocabulary", WordLimits());
    const TextCodec codec({}, words, words);
    const auto model = test::formula_model(config.model, words->size(), words->size());
    const auto save = [&](const fs::path& directory) {
      fs::create_directory(directory);
      save_model(directory, *model, config, codec, nlohmann::json::object());
    };
    save(base_);
    NamedTensors factors;
    auto parameters = model->named_parameters();
    for (const char* name : {kInner, kQuery}) {
      const auto a = test::wave({kRank, kModel}, 0.3, 1), b = test::wave({parameters[name].size(0), kRank}, 0.2, 5);
      factors.emplace_back(factor_name(name, "lora_A"), a);
      factors.emplace_back(factor_name(name, "lora_B"), b);
      const torch::NoGradGuard no_grad;
      parameters[name].add_(b.matmul(a), kAlpha / kRank);
    }
    save(sums_);
    save_safetensors(adapter_, factors, adapter_metadata(sha256_of_file(base_ / "model.safetensors"), kRank, kAlpha));
  }

  std::shared_ptr<const TransformerWeights> read(const fs::path& directory, const fs::path& adapter,
                                                 WeightFormat format = WeightFormat::kBfloat16) const {
    return inference::read_transformer(directory, read_model_description(directory), format, nullptr, adapter);
  }

  test::TemporaryDirectory folder_;
  fs::path base_ = folder_ / "base", sums_ = folder_ / "sums", adapter_ = folder_ / "adapter.safetensors";
};

TEST_F(AdaptedModel, HasTheSumsAndElseTheBase) {
  for (const auto device : test::devices()) {
    const auto base = load_model(base_, device), adapted = load_model(base_, device, adapter_),
               sums = load_model(sums_, device);
    const auto before = named_parameters(*base.model), found = named_parameters(*adapted.model),
               expected = named_parameters(*sums.model);
    for (size_t i = 0; i < found.size(); ++i) {
      const auto& [name, weight] = found[i];
      test::expect_close(weight.cpu(), expected[i].second.cpu(), 1e-6, name);
      EXPECT_EQ(weight.equal(before[i].second), name != kInner && name != kQuery) << name;
    }
  }
}

TEST_F(AdaptedModel, HasTheSameBytesWithoutLibTorch) {
  const c10::NoGradGuard no_gradients;
  for (const auto format : {WeightFormat::kFloat32, WeightFormat::kBfloat16, WeightFormat::kInt8}) {
    const auto loaded = load_model(base_, torch::kCPU, adapter_);
    loaded.model->set_packing({.format = format});
    const auto expected = loaded.model->inference_weights(), found = read(base_, adapter_, format),
               base = read(base_, {}, format);
    const auto bytes = [&](const inference::Map& map) {
      const auto& w = map.weight;
      return std::string(
          reinterpret_cast<const char*>(w.panels),
          sizeof(float) * kernels::panel_count(w.out) * kernels::kPanel * kernels::words_in_row(w.format, w.in));
    };
    const auto inner = [&](const TransformerWeights& weights) {
      return bytes(weights.encoder.blocks[0].feed_forward.inner);
    };
    const auto together = [&](const TransformerWeights& weights) {
      return bytes(std::get<inference::AttentionWeights>(weights.decoder.blocks[0].mixer).together);
    };
    EXPECT_TRUE(inner(*found) == inner(*expected) && inner(*found) != inner(*base)) << int(format);
    EXPECT_TRUE(together(*found) == together(*expected) && together(*found) != together(*base)) << int(format);
    EXPECT_TRUE(bytes(found->output) == bytes(base->output));
  }
}

TEST_F(AdaptedModel, SharesWithTheBaseWhatItLeavesAsItIs) {
  const auto base = read(base_, {}), adapted = read(base_, adapter_), other = read(sums_, {});
  const auto source = [](const TransformerWeights& weights) { return weights.encoder.input.packed->weight.panels; };
  const auto outer = [](const TransformerWeights& weights) {
    return weights.encoder.blocks[0].feed_forward.outer.weight.panels;
  };
  EXPECT_EQ(adapted->output.weight.panels, base->output.weight.panels);
  EXPECT_EQ(source(*adapted), source(*base));
  EXPECT_EQ(outer(*adapted), outer(*base));
  EXPECT_NE(adapted->encoder.blocks[0].feed_forward.inner.weight.panels,
            base->encoder.blocks[0].feed_forward.inner.weight.panels);
  EXPECT_NE(source(*other), source(*base)) << "of another file";
  EXPECT_NE(source(*read(base_, {}, WeightFormat::kInt8)), source(*base)) << "in another format";
}

// Another model in the place of the one that is in memory.
TEST_F(AdaptedModel, SharesNothingWithAFileThatWasReplaced) {
  const auto before = read(base_, {});
  fs::copy_file(sums_ / "model.safetensors", base_ / "new");
  fs::rename(base_ / "new", base_ / "model.safetensors");
  EXPECT_NE(read(base_, {})->output.weight.panels, before->output.weight.panels);
}

TEST_F(AdaptedModel, MustBeTheAdaptersOwn) {
  const auto refusal = [&](const std::function<void()>& load) { return test::message_of<Error>(load); };
  const auto says = testing::HasSubstr("is for a model whose weights have the SHA-256");
  EXPECT_THAT(refusal([&] { load_model(sums_, torch::kCPU, adapter_); }), says);
  EXPECT_THAT(refusal([&] { read(sums_, adapter_); }), says);
}

}  // namespace
}  // namespace nmt::adapted_model_test
