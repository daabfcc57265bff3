#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/random.h"

namespace nmt {

/// The weights of one attention layer in one forward pass, before dropout.
struct AttentionMap {
  std::string name;       ///< such as encoder.0.self or decoder.2.cross
  torch::Tensor weights;  ///< [batch, heads, target, source] float32
  /// Whether the target looks at the source in it.
  bool is_cross() const { return name.ends_with(".cross") || name == "decoder.attention"; }
};

/// One forward pass in training: hands each dropout site its own key. Masks are a function of (key, element index)
/// alone, so they depend on (seed, update, micro-batch) and not on threads or on what ran before. Default-constructed:
/// no dropout.
class ForwardContext {
 public:
  ForwardContext() = default;
  ForwardContext(uint64_t seed, int64_t update, int64_t micro_batch);

  bool training() const { return training_; }

  /// From here on attention layers hand over their weights, one after the other; with a name that layer alone.
  void record_attention(std::function<void(const AttentionMap&)> recorder, std::string layer = {}) {
    recorder_ = std::move(recorder);
    layer_ = std::move(layer);
  }
  bool records_attention(const std::string& layer) const { return recorder_ && (layer_.empty() || layer_ == layer); }
  void record(std::string name, const torch::Tensor& weights) {
    if (recorder_) recorder_({std::move(name), weights.to(torch::kFloat32)});
  }

  /// The share of steps at which a recurrent decoder is fed with the reference, the others with its own choice.
  void set_teacher_forcing(double share) { teacher_forcing_ = share; }
  /// Tosses the coin of one step.
  bool feeds_own_choice() {
    if (teacher_forcing_ >= 1) return false;
    return static_cast<double>(next_key() >> 11) * 0x1p-53 >= teacher_forcing_;
  }

  /// The key of the next site, in the order of the calls of the forward pass.
  uint64_t next_key() { return mix64(key_ + 0x9e3779b97f4a7c15ULL * ++sites_); }

 private:
  bool training_ = false;
  uint64_t key_ = 0, sites_ = 0;
  double teacher_forcing_ = 1;
  std::function<void(const AttentionMap&)> recorder_;
  std::string layer_;  // the one that is recorded; empty: all
};

/// Inverted dropout (Srivastava et al. 2014): each element is zero with probability p, else divided by 1 - p.
/// On the CPU the mask is a function of (the pass's key of this site, element index): made again in the backward pass,
/// never stored, the same for every number of threads. Elsewhere the device's generator, seeded by the trainer for each
/// pass. x unchanged outside training or for p = 0.
torch::Tensor dropout(const torch::Tensor& x, double p, ForwardContext& pass);

/// dropout(relu(x)), one pass over memory each way; the backward pass needs nothing but the result.
torch::Tensor relu_dropout(const torch::Tensor& x, double p, ForwardContext& pass);

/// residual + dropout(x), one pass over memory. Shapes and types equal.
torch::Tensor add_dropped(const torch::Tensor& residual, const torch::Tensor& x, double p, ForwardContext& pass);

}  // namespace nmt
