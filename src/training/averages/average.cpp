#include "training/averages/average.h"

#include "base/error.h"

namespace nmt {

void load_average(const NamedTensors& targets, std::span<const std::filesystem::path> files) {
  if (files.empty()) throw Error("no checkpoints to average");
  const torch::NoGradGuard no_grad;
  NamedTensors part;
  std::vector<torch::Tensor> sums;
  for (const auto& [name, target] : targets) {
    part.emplace_back(name, torch::empty_like(target, torch::TensorOptions(torch::kCPU)));
    sums.push_back(torch::zeros(target.sizes(), torch::kFloat64));
  }
  for (const auto& file : files) {
    copy_into(part, load_safetensors(file), file);
    for (size_t i = 0; i < part.size(); ++i) sums[i].add_(part[i].second);
  }
  for (size_t i = 0; i < targets.size(); ++i)
    targets[i].second.detach().copy_(sums[i] / static_cast<double>(files.size()));
}

}  // namespace nmt
