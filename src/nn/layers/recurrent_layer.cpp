#include "nn/layers/recurrent_layer.h"

#include "nn/device/device.h"
#include "nn/device/device_capabilities.h"

namespace nmt {

RecurrentLayerImpl::RecurrentLayerImpl(kernels::Cell kind, int64_t input, int64_t size, bool bidirectional)
    : kind_(kind) {
  cells_.push_back(register_module("forward", RecurrentCell(kind, input, size)));
  if (bidirectional) cells_.push_back(register_module("backward", RecurrentCell(kind, input, size)));
}

RecurrentLayerImpl::Output RecurrentLayerImpl::forward(const torch::Tensor& x, const torch::Tensor& lengths) {
  const bool fused = fused_ ? *fused_ : capabilities_of(x.device()).recurrent_layers;
  return fused ? run_fused(x, lengths) : run_cells(x, lengths);
}

RecurrentLayerImpl::Output RecurrentLayerImpl::run_fused(const torch::Tensor& x, const torch::Tensor& lengths) {
  std::vector<RecurrentWeights> directions;
  for (const auto& cell : cells_) directions.push_back(cell->weights());
  return fused_recurrent_layer(kind_, x, lengths, directions);
}

RecurrentLayerImpl::Output RecurrentLayerImpl::run_cells(const torch::Tensor& x, const torch::Tensor& lengths) {
  const int64_t time = x.size(0), batch = x.size(1);
  const auto active = copy_to_device(torch::arange(time, torch::kInt64).unsqueeze(1) < lengths, x.device()).unbind(0);
  Output output;
  std::vector<torch::Tensor> directions;
  for (size_t i = 0; i < cells_.size(); ++i) {
    auto& cell = cells_[i];
    const auto projected = cell->project(x).unbind(0);  // one product for the whole sequence
    auto last = cell->zero_state(batch, x.device());
    std::vector<torch::Tensor> states(time);
    for (int64_t step = 0; step < time; ++step) {
      const int64_t t = i == 0 ? step : time - 1 - step;
      last = cell->advance(projected[t], last, active[t]);
      states[t] = last.state;
    }
    directions.push_back(torch::stack(states));
    output.last.push_back(last);
  }
  output.states = torch::cat(directions, -1).to(x.scalar_type());
  return output;
}

}  // namespace nmt
