#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

// The real part of r exp(i (omega t + theta)) feature by feature (Wang et al. 2020, eq. 6, with frequencies shared by
// all words): the embedding r is the amplitude, x_t * cos(omega t + theta). Frequencies omega and phases theta are
// trained. omega starts as those of the sinusoids, 10000^(-2 pair / model), theta as tables of positions.
class ComplexPositions final : public TablePositions {
 public:
  explicit ComplexPositions(const PositionOptions& options) {
    frequencies_ = register_parameter("frequencies", torch::empty({1, options.model}));
    phases_ = register_parameter("phases", torch::empty({1, options.model}));
  }

  void reset_parameters(const InitialValues& values, at::Generator& generator) override {
    const torch::NoGradGuard no_grad;
    const int64_t model = frequencies_.size(1);
    auto own = torch::empty({1, model}, torch::kFloat32);
    for (int64_t k = 0; k < model; ++k)
      own.mutable_data_ptr<float>()[k] =
          static_cast<float>(std::pow(10000.0, -static_cast<double>(k - k % 2) / static_cast<double>(model)));
    frequencies_.copy_(own);
    values.positions.draw(phases_, generator);
  }

 private:
  torch::Tensor rows(int64_t first, int64_t count) override {
    // In double: what float32 keeps of a cosine does not depend then on where in the table an element stands.
    const auto doubles = frequencies_.options().dtype(torch::kFloat64).requires_grad(false);
    const auto t = at::arange(first, first + count, doubles).unsqueeze(1);
    return at::cos(t * frequencies_.to(torch::kFloat64) + phases_.to(torch::kFloat64)).to(torch::kFloat32);
  }
  torch::Tensor combine(const torch::Tensor& x, const torch::Tensor& vectors) const override { return x * vectors; }
  torch::Tensor where_real(const torch::Tensor& vectors, const torch::Tensor& is_real) const override {
    return at::where(is_real, vectors, 1.0);
  }

  torch::Tensor frequencies_, phases_;  // [1, model]
};

}  // namespace

std::shared_ptr<Positions> make_complex(const PositionOptions& options) {
  return std::make_shared<ComplexPositions>(options);
}

}  // namespace nmt
