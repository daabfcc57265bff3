// Several layers with dropout between them, layer by layer through LibTorch's own functions and through our cells.
#include <gtest/gtest.h>

#include "models/formula_weights.h"
#include "models/recurrent/recurrent_parts.h"
#include "tensor_support.h"

namespace nmt::recurrent_encoder_test {
namespace {

using test::expect_close;
using test::wave;

constexpr int64_t kSource = 6;
const std::vector<int64_t> kLengths = {6, 2, 5};

struct Outcome {
  torch::Tensor states;
  std::vector<torch::Tensor> others;  ///< last states and cells of each layer and direction, gradients
};

Outcome encoded(const std::string& cell, bool fused, double dropout) {
  const auto config =
      test::model_config("architecture: recurrent, d_model: 12, encoder_size: 5, num_blocks: 3, cell: " + cell +
                         ", dropout_rate: " + std::to_string(dropout));
  RecurrentEncoder encoder(config);
  {
    const torch::NoGradGuard no_grad;
    double start = 0.3;
    for (auto& item : encoder->named_parameters()) item.value().copy_(wave(item.value().sizes(), 0.4, start += 0.9));
  }
  for (const auto& part : encoder->modules())
    if (const auto layer = std::dynamic_pointer_cast<RecurrentLayerImpl>(part)) layer->set_fused(fused);
  const auto lengths = torch::tensor(at::ArrayRef<int64_t>(kLengths), torch::kInt64);
  auto x = wave({3, kSource, 12}, 1, 0.3).requires_grad_();
  ForwardContext pass(3, 4, 5);
  const auto output = encoder(x, lengths, pass);
  const auto real = (torch::arange(kSource) < lengths.unsqueeze(1)).unsqueeze(2);
  const auto states = output.states.masked_fill(real.logical_not(), 0);
  auto loss = (states * wave(states.sizes(), 1, 0.8)).sum();
  Outcome outcome{.states = states.detach(), .others = {}};
  for (const auto& layer : output.last)
    for (const auto& direction : layer)
      for (const auto& last : {direction.state, direction.cell}) {
        if (!last.defined()) continue;
        loss = loss + (last * wave(last.sizes(), 1, 1.7)).sum();
        outcome.others.push_back(last.detach());
      }
  loss.backward();
  outcome.others.push_back(x.grad());
  for (const auto& parameter : encoder->parameters()) outcome.others.push_back(parameter.grad());
  return outcome;
}

TEST(RecurrentEncoder, IsTheSameByLibTorchsFunctions) {
  for (const char* cell : {"gru", "lstm", "elman"}) {
    SCOPED_TRACE(cell);
    const auto expected = encoded(cell, false, 0.3), found = encoded(cell, true, 0.3);
    expect_close(found.states, expected.states, 1e-5);
    ASSERT_EQ(found.others.size(), expected.others.size());
    for (size_t i = 0; i < expected.others.size(); ++i) {
      const double size = std::max(1.0, expected.others[i].abs().max().item<double>());
      expect_close(found.others[i], expected.others[i], 1e-5 * size, std::to_string(i));
    }
    EXPECT_FALSE(encoded(cell, true, 0).states.allclose(found.states)) << "there is dropout between layers";
  }
}

}  // namespace
}  // namespace nmt::recurrent_encoder_test
