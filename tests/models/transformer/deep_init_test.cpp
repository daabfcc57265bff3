#include "config/deep_init.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "tensor_support.h"

namespace nmt::deep_init_test {
namespace {

using test::model_config;

// The gain of each matrix of a model, by its name.
void expect_gains(const char* kind, const std::function<double(const std::string&)>& gain_of) {
  const auto plain = model_config("d_model: 16, d_ff: 32, encoder_blocks: 4, decoder_blocks: 2, num_heads: 2");
  auto config = plain;
  config.deep_init = kind;
  const auto a = make_model(plain, 9, 9), b = make_model(config, 9, 9);
  initialise(*a, plain, 1), initialise(*b, config, 1);
  for (const auto& item : a->named_parameters()) {
    const double gain = item.value().dim() == 2 ? gain_of(item.key()) : 1;
    test::expect_close(b->named_parameters()[item.key()], item.value() * gain, 1e-6, item.key());
  }
}

TEST(DeepInit, OfDeepNetIsInTheInitialWeights) {
  expect_gains("deepnet", [](const std::string& name) {
    const bool scaled = name.find(".feed_forward.") != std::string::npos || name.ends_with(".value.weight") ||
                        name.ends_with(".output.weight");
    return !scaled ? 1 : name.starts_with("encoder_") ? 0.589101 : 0.451801;
  });
}

TEST(DeepInit, ByDepthIsInTheInitialWeights) {
  expect_gains("depth_scaled", [](const std::string& name) {
    return name == "embedding" ? 1 : 1 / std::sqrt(1.0 + name.at(std::string("encoder_").size()) - '0');
  });
}

// LN(a x + f(x)) does not see a common factor (but for its epsilon): a model whose sub-layers' outputs are a times as
// large, with weight a, computes what the plain one does. In training and step by step.
TEST(DeepInit, WeighsWhatRunsPastASublayer) {
  const auto plain = model_config("d_model: 16, d_ff: 32, num_blocks: 2, num_heads: 2, norm_epsilon: 1.0e-12");
  auto deep = plain;
  deep.deep_init = DeepInitKind::kDeepNet;
  const auto a = test::formula_model(plain, 9, 9), b = test::formula_model(deep, 9, 9);
  {
    const torch::NoGradGuard no_grad;
    for (auto& item : b->named_parameters()) {
      const auto& name = item.key();
      if (name.find(".output.") == std::string::npos && name.find(".outer.") == std::string::npos) continue;
      item.value().mul_(
          DeepInit(deep, name.starts_with("encoder") ? Stack::kEncoder : Stack::kDecoder).residual_weight());
    }
  }
  const auto batch = to_tensors(test::batch_of({{{4, 5, 6}, {7, 8}}}), torch::kCPU);
  const torch::NoGradGuard no_grad;
  ForwardContext none;
  const auto expected = a->forward(batch, none);
  test::expect_close(b->forward(batch, none), expected, 2e-5);
  const auto state = b->start(batch.source, batch.source_lengths);
  for (int64_t t = 0; t < 3; ++t)
    test::expect_close(b->step(*state, batch.target_in.select(1, t)), b->logits(expected.select(1, t)), 1e-4);
}

}  // namespace
}  // namespace nmt::deep_init_test
