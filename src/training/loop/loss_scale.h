#pragma once

#include <torch/types.h>

#include "models/interface/safetensors.h"

namespace nmt {

/// Dynamic loss scaling for float16 (Micikevicius et al. 2018, sec. 3.2): the loss is multiplied by a power of two, so
/// that small gradients do not become zero in 16 bits, and the gradients are divided by it. Where one overflows the
/// update is left out and the scale halved; after `growth` updates in a row that were made it is doubled. All of it
/// happens on the device: the host asks for nothing.
class LossScale {
 public:
  struct Options {
    double initial = 65536;
    int64_t growth = 2000;  ///< updates
  };
  explicit LossScale(torch::Device device) : LossScale(device, Options()) {}
  LossScale(torch::Device device, Options options);

  /// The loss as backward() starts from it.
  torch::Tensor scaled(const torch::Tensor& loss) const { return loss * scale_; }
  /// The gradients of the loss itself, in place; one that overflowed is not finite afterwards.
  void unscale(const std::vector<torch::Tensor>& gradients) const;
  /// skipped: float32 scalar on the device, 1 where the update was left out.
  void follow(const torch::Tensor& skipped);

  /// float32 scalar on the device.
  const torch::Tensor& value() const { return scale_; }
  /// What a checkpoint holds: tensors that the caller may write to.
  NamedTensors state() const { return {{"loss_scale.scale", scale_}, {"loss_scale.good_updates", good_updates_}}; }

 private:
  torch::Tensor scale_, good_updates_;  // float32, int32 scalars on the device
  int64_t growth_;
};

}  // namespace nmt
