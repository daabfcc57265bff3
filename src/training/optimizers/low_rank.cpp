#include "training/optimizers/low_rank.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files/adapter.h"
#include "base/random.h"
#include "nn/device/cpu_kernels.h"
#include "nn/ops/linear.h"

namespace nmt {
namespace {

constexpr uint64_t kDrawsOfFactors = 0x6c6f7261;  // apart from those of a new model's weights
constexpr int64_t kRowsAtOnce = 16;

std::span<const float> numbers_of(const torch::Tensor& x) {
  return {x.const_data_ptr<float>(), static_cast<size_t>(x.numel())};
}

}  // namespace

NamedTensors adapted_matrices(const TranslationModel& model, const NamedTensors& parameters) {
  std::set<std::string> names;
  for (const auto& item : model.named_modules())
    if (std::dynamic_pointer_cast<LinearImpl>(item.value())) names.insert(item.key() + ".weight");
  NamedTensors matrices;
  for (const auto& [name, parameter] : parameters) {
    parameter.set_requires_grad(names.contains(name));
    if (names.contains(name)) matrices.emplace_back(name, parameter);
  }
  if (matrices.empty())
    throw Error("training.lora_rank: training.freeze leaves no matrix of attention and feed-forward layers; let some");
  return matrices;
}

NamedTensors empty_factors(const NamedTensors& matrices, int64_t rank) {
  NamedTensors factors;
  for (const auto& [name, matrix] : matrices) {
    factors.emplace_back(factor_name(name, "lora_A"), torch::empty({rank, matrix.size(1)}, matrix.options()));
    factors.emplace_back(factor_name(name, "lora_B"), torch::empty({matrix.size(0), rank}, matrix.options()));
  }
  return factors;
}

LowRankOptimizer::LowRankOptimizer(const NamedTensors& matrices, const Config& config)
    : Optimizer(matrices),
      rank_(config.training.lora_rank),
      alpha_(config.training.lora_alpha),
      factors_(empty_factors(matrices, rank_)) {
  const torch::NoGradGuard no_grad;
  auto generator = at::detail::createCPUGenerator(mix64(static_cast<uint64_t>(config.run.seed)) ^ kDrawsOfFactors);
  for (size_t i = 0; i < matrices.size(); ++i) {
    bases_.push_back(matrices[i].second.detach().clone());
    const auto &a = factors_[2 * i].second, &b = factors_[2 * i + 1].second;
    a.copy_(
        torch::empty(a.sizes(), torch::kFloat32).normal_(0, 1 / std::sqrt(static_cast<double>(a.size(1))), generator));
    b.zero_();
  }
  for (const auto& item : factors_) item.second.set_requires_grad(true);
  of_factors_ = make_optimizer(config.training, factors_);
}

torch::Tensor LowRankOptimizer::clip_gradients(double max_norm) {
  const torch::NoGradGuard no_grad;
  const double scale = alpha_ / static_cast<double>(rank_);
  for (size_t i = 0; i < bases_.size(); ++i) {
    const auto& of_matrix = parameters()[i].second.grad();
    auto a = factors_[2 * i].second, b = factors_[2 * i + 1].second;
    a.mutable_grad() = of_matrix.defined() ? at::mm(b.t(), of_matrix).mul_(scale) : torch::Tensor();
    b.mutable_grad() = of_matrix.defined() ? at::mm(of_matrix, a.t()).mul_(scale) : torch::Tensor();
  }
  return of_factors_->clip_gradients(max_norm);
}

void LowRankOptimizer::step(double learning_rate) {
  of_factors_->step(learning_rate);
  add_to_matrices();
}

void LowRankOptimizer::step_unless(const torch::Tensor& skip, double learning_rate) {
  of_factors_->step_unless(skip, learning_rate);
  add_to_matrices();
}

void LowRankOptimizer::add_to_matrices() {
  const torch::NoGradGuard no_grad;
  const double scale = alpha_ / static_cast<double>(rank_);
  for (size_t i = 0; i < bases_.size(); ++i) {
    const auto& a = factors_[2 * i].second;
    const auto& b = factors_[2 * i + 1].second;
    auto matrix = parameters()[i].second.detach();
    matrix.copy_(bases_[i]);
    if (!matrix.device().is_cpu()) {
      matrix.add_(at::mm(b, a), scale);
      continue;
    }
    // The sums of whoever adds the adapter to its base later.
    const LowRankUpdate update{rank_, matrix.size(0), matrix.size(1), numbers_of(a), numbers_of(b)};
    const std::span<float> numbers(matrix.mutable_data_ptr<float>(), static_cast<size_t>(matrix.numel()));
    parallel_ranges(update.out, kRowsAtOnce, [&](int64_t begin, int64_t end) {
      add_update(numbers, update, static_cast<float>(scale), begin, end);
    });
  }
}

void LowRankOptimizer::load(const std::filesystem::path& file) {
  const torch::NoGradGuard no_grad;
  copy_into(factors_, load_safetensors(file), file);
  add_to_matrices();
}

void LowRankOptimizer::save(const std::filesystem::path& file, const std::string& base) const {
  save_safetensors(file, factors_, adapter_metadata(base, rank_, alpha_));
}

}  // namespace nmt
