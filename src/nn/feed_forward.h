#pragma once

#include <torch/nn/module.h>

#include <string>

#include "nn/linear.h"
#include "nn/pass.h"

namespace nmt {

enum class Activation { kNone, kRelu, kGelu, kSwish };
Activation parse_activation(const std::string& name);  ///< throws Error naming the choices
torch::Tensor activate(const torch::Tensor& x, Activation activation);

/// Position-wise feed-forward net (Vaswani et al. 2017, sec. 3.3): W2 dropout(activation(W1 x + b1)) + b2. x [...,
/// model].
class FeedForwardImpl : public torch::nn::Module {
 public:
  struct Options {
    int64_t model = 512, inner = 2048;
    Activation activation = Activation::kRelu;
    double dropout = 0;
  };
  explicit FeedForwardImpl(const Options& options);
  torch::Tensor forward(const torch::Tensor& x, Pass& pass);

 private:
  Options options_;
  Linear inner_{nullptr}, outer_{nullptr};
};
TORCH_MODULE(FeedForward);

}  // namespace nmt
