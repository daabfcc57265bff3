#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/where.h>

#include "nn/ops/parameter.h"
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

}  // namespace nmt
