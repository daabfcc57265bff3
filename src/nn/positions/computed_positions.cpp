#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

#include "nn/ops/activation.h"
#include "nn/ops/initial_values.h"
#include "nn/ops/linear.h"
#include "nn/positions/positions.h"

namespace nmt {
namespace {

// A causal convolution of each feature by itself, added to the embeddings: y_t = x_t + sum over j < width of k_j *
// x_{t-j}, and zeros before the sentence. These zeros tell where it begins (Islam et al. 2020), and the kernel tells a
// word from its neighbours (Chu et al. 2021, whose convolution is two-sided). Padding behind a sentence changes
// nothing.
class ConvolutionPositions final : public Positions {
 public:
  explicit ConvolutionPositions(const PositionOptions& options) {
    kernel_ = register_parameter("kernel", empty_parameter({options.convolution_width, options.model}));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    values.positions.draw(kernel_, generator);
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& is_real) override {
    const auto y = convolved(at::constant_pad_nd(x, {0, 0, before(), 0}), x.size(1));
    return is_real.defined() ? at::where(is_real, y, x) : y;
  }

  std::unique_ptr<LayerCache> start(const CacheOptions& /*options*/) const override {
    return std::make_unique<RowState>();
  }
  torch::Tensor step(const torch::Tensor& x, const RowPositions& /*positions*/, LayerCache* cache) override {
    auto& read = dynamic_cast<RowState&>(*cache).value;  // the last embeddings: [rows, width - 1, model]
    if (!read.defined()) read = x.new_zeros({x.size(0), before(), x.size(2)});
    const auto all = at::cat({read, x}, 1);
    read = all.narrow(1, all.size(1) - before(), before());
    return convolved(all, x.size(1));
  }

 private:
  int64_t before() const { return kernel_.size(0) - 1; }

  // all [rows, before + n, model]: n positions, and those before them. One order of sums for any n.
  torch::Tensor convolved(const torch::Tensor& all, int64_t n) const {
    auto y = all.narrow(1, before(), n);
    for (int64_t j = 0; j <= before(); ++j) y = y + all.narrow(1, before() - j, n) * kernel_[j];
    return y;
  }

  torch::Tensor kernel_;  // [width, model]
};

}  // namespace

std::shared_ptr<Positions> make_convolution(const PositionOptions& options) {
  return std::make_shared<ConvolutionPositions>(options);
}

namespace {

// A gated recurrent unit (Cho et al. 2014) over the embeddings; its states take their place, h_{-1} = 0:
//   z = sigmoid(W_z x + U_z h),  r = sigmoid(W_r x + U_r h),  n = tanh(W_n x + b_n + r * (U_n h)),
//   h' = (1 - z) * n + z * h
// Left to right in encoder and decoder, so that padding behind a sentence changes nothing.
class RecurrentPositions final : public Positions {
 public:
  explicit RecurrentPositions(const PositionOptions& options) {
    const int64_t model = options.model;
    input_ = register_module("input", Linear(model, 3 * model, LinearImpl::Bias::kYes));
    hidden_ = register_module("hidden", Linear(model, 3 * model, LinearImpl::Bias::kNo));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& is_real) override {
    const auto inputs = input_(x).unbind(1);  // time times [batch, 3 model]
    std::vector<torch::Tensor> states{at::zeros_like(x.select(1, 0))};
    for (const auto& input : inputs) states.push_back(next(input, states.back()));
    const auto h = at::stack(at::TensorList(states).slice(1), 1);  // [batch, time, model]
    return is_real.defined() ? at::where(is_real, h, x) : h;
  }

  std::unique_ptr<LayerCache> start(const CacheOptions& /*options*/) const override {
    return std::make_unique<RowState>();
  }
  torch::Tensor step(const torch::Tensor& x, const RowPositions& /*positions*/, LayerCache* cache) override {
    auto& state = dynamic_cast<RowState&>(*cache).value;  // [rows, model]
    if (!state.defined()) state = at::zeros_like(x.select(1, 0));
    std::vector<torch::Tensor> states;
    for (const auto& input : input_(x).unbind(1)) states.push_back(state = next(input, state));
    return at::stack(states, 1);
  }

 private:
  // input [rows, 3 model] (update, reset, new), state [rows, model].
  torch::Tensor next(const torch::Tensor& input, const torch::Tensor& state) {
    const auto of_input = input.chunk(3, -1), of_state = hidden_(state).chunk(3, -1);
    const auto update = activate(of_input[0] + of_state[0], Activation::kSigmoid);
    const auto reset = activate(of_input[1] + of_state[1], Activation::kSigmoid);
    // tanh(a) = 2 sigmoid(2a) - 1: the sigmoid does not depend on where in the batch an element stands.
    const auto fresh = 2 * activate(2 * (of_input[2] + reset * of_state[2]), Activation::kSigmoid) - 1;
    return fresh + update * (state - fresh);
  }

  Linear input_{nullptr}, hidden_{nullptr};
};

}  // namespace

std::shared_ptr<Positions> make_recurrent(const PositionOptions& options) {
  return std::make_shared<RecurrentPositions>(options);
}

}  // namespace nmt
