#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <vector>

#include "config/config.h"
#include "nn/layers/recurrent_layer.h"
#include "nn/modules/gradient_checkpointing.h"
#include "nn/ops/forward_context.h"

namespace nmt {

/// Sentences as a recurrent decoder sees them.
struct Encoded {
  torch::Tensor states;                      ///< [batch, source, directions * encoder size], of the last layer
  torch::Tensor lengths;                     ///< int64 [batch] on the CPU
  std::vector<std::vector<CellState>> last;  ///< [layer][direction]
};

/// Layers of recurrent nets over the source. Dropout (model.residual_dropout_rate) between layers. With checkpointing
/// a layer keeps its input alone, and StepwiseGradients of its own: who runs it makes none for it.
class RecurrentEncoderImpl : public torch::nn::Module, public CanCheckpoint {
 public:
  explicit RecurrentEncoderImpl(const ModelConfig& config);

  /// embedded [batch, source, embedding], lengths int64 [batch] on the CPU.
  Encoded forward(const torch::Tensor& embedded, const torch::Tensor& lengths, ForwardContext& pass);

  void set_checkpointing(bool on) override { checkpointing_ = on; }
  bool checkpointing() const { return checkpointing_; }

  int64_t layers() const { return static_cast<int64_t>(layers_.size()); }
  int64_t directions() const { return directions_; }
  int64_t size() const { return size_; }                       ///< of a state, a direction
  int64_t output_size() const { return directions_ * size_; }  ///< of Encoded::states

 private:
  RecurrentLayerImpl::Output run_checkpointed(RecurrentLayer& layer, const torch::Tensor& x,
                                              const torch::Tensor& lengths, ForwardContext& pass) const;

  int64_t directions_, size_;
  double dropout_;
  bool checkpointing_ = false;
  std::vector<RecurrentLayer> layers_;
};
TORCH_MODULE(RecurrentEncoder);

}  // namespace nmt
