#include "nn/ops/initial_values.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linalg_qr.h>

#include <cmath>
#include <optional>
#include <utility>

namespace nmt {
namespace {

thread_local std::optional<int64_t> elements_left;

}  // namespace

torch::Tensor empty_parameter(at::IntArrayRef sizes) {
  if (elements_left) {
    int64_t elements = 1;
    for (const int64_t size : sizes)
      if (__builtin_mul_overflow(elements, size, &elements) || elements > *elements_left)
        throw ParameterLimit::Exceeded();
    *elements_left -= elements;
    return torch::zeros({1}).expand(sizes);
  }
  return torch::empty(sizes);
}

ParameterLimit::ParameterLimit(int64_t elements) { elements_left = elements; }

ParameterLimit::~ParameterLimit() { elements_left.reset(); }

namespace {

// Uniform over all orthogonal matrices: Q of a normal matrix, with signs that make the diagonal of R positive.
torch::Tensor orthogonal_blocks(const torch::Tensor& matrix, at::Generator& generator) {
  std::vector<torch::Tensor> blocks;
  for (int64_t row = 0; row < matrix.size(0); row += matrix.size(1)) {
    const auto normal = torch::empty({matrix.size(1), matrix.size(1)}, torch::kFloat64).normal_(0, 1, generator);
    const auto [q, r] = at::linalg_qr(normal);
    blocks.push_back(q * r.diagonal().sign());
  }
  return at::cat(blocks).to(torch::kFloat32);
}

}  // namespace

void InitialDistribution::draw(torch::Tensor matrix, at::Generator& generator) const {
  const torch::NoGradGuard no_grad;
  auto values = torch::empty(matrix.sizes(), torch::kFloat32);
  switch (kind) {
    case Kind::kXavierUniform: {
      const double glorot = std::sqrt(6.0 / static_cast<double>(matrix.size(0) + matrix.size(1)));
      values.uniform_(-glorot, glorot, generator);
      break;
    }
    case Kind::kUniform:
      values.uniform_(-limit, limit, generator);
      break;
    case Kind::kFanIn: {
      const double lecun = 1 / std::sqrt(static_cast<double>(matrix.size(1)));
      values.uniform_(-lecun, lecun, generator);
      break;
    }
    case Kind::kNormal:
      values.normal_(0, deviation, generator);
      break;
    case Kind::kOrthogonal:
      values = orthogonal_blocks(matrix, generator);
      break;
  }
  for (const double gain : gains) values.mul_(gain);
  matrix.copy_(values);
}

InitialValues InitialValues::scaled(double gain) const {
  auto values = *this;
  if (gain == 1) return values;
  for (auto* distribution : {&values.matrices, &values.embeddings, &values.positions, &values.recurrent, &values.scores,
                             &values.score_vectors})
    distribution->gains.push_back(gain);
  return values;
}

void InitialValues::draw_bias(torch::Tensor bias, int64_t features, at::Generator& generator) const {
  const torch::NoGradGuard no_grad;
  if (!biases) {
    bias.zero_();
  } else if (biases->kind == InitialDistribution::Kind::kFanIn) {
    InitialDistribution{.kind = InitialDistribution::Kind::kUniform,
                        .limit = 1 / std::sqrt(static_cast<double>(features))}
        .draw(bias, generator);
  } else {
    biases->draw(bias, generator);
  }
}

InitialValues InitialValues::with_matrices(const InitialDistribution& distribution) const {
  auto values = *this;
  values.matrices = distribution;
  return values;
}

void reset_all_parameters(torch::nn::Module& module, const InitialValues& values, at::Generator& generator) {
  const torch::NoGradGuard no_grad;
  auto* own = dynamic_cast<HasInitialValues*>(&module);
  if (own) own->reset_parameters(values, generator);
  for (const auto& submodule : module.children())
    reset_all_parameters(*submodule, own ? own->initial_values_below(*submodule, values) : values, generator);
}

}  // namespace nmt
