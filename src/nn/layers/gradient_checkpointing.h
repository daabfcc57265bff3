#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/ops/forward_context.h"

namespace nmt {

/// A part of a model as a function of the tensors that enter it: the same inputs and the same pass give the same bits.
/// It may use the parameters that checkpointed() is told of, and no other tensor that wants a gradient.
using PartOfModel =
    std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>& inputs, ForwardContext&)>;

/// part(inputs, pass), of which the backward pass keeps the inputs alone and computes the rest again, with the same
/// dropout masks (Chen et al. 2016). On the CPU gradients have the bits of part(); those of a parameter that several
/// parts share and each uses twice are the same up to rounding. parameters: all that `part` uses. Inputs and outputs
/// are defined. Without gradients, or outside training, it is part() itself.
std::vector<torch::Tensor> checkpointed(const PartOfModel& part, const std::vector<torch::Tensor>& inputs,
                                        const std::vector<torch::Tensor>& parameters, ForwardContext& pass);

/// A module that goes through checkpointed() where it is asked to.
class CanCheckpoint {
 public:
  virtual ~CanCheckpoint() = default;
  virtual void set_checkpointing(bool on) = 0;
};
/// For all such modules of a model; `blocks` > 0: for those alone whose name ends in a number below it ("encoder_0").
void set_gradient_checkpointing(torch::nn::Module& model, bool on, int64_t blocks = 0);

}  // namespace nmt
