#pragma once

#include <filesystem>
#include <span>

#include "models/interface/safetensors.h"
#include "training/distributed/state_shares.h"

namespace nmt {

/// Sets each target to the mean of the tensors of its name in the files (Vaswani et al. 2017, sec. 6.1), summed in
/// double. Throws Error where a file does not fit.
void load_average(const NamedTensors& targets, std::span<const std::filesystem::path> files);

/// The exponential moving average of a model's weights (Polyak and Juditsky 1992):
///   m = d m + (1 - d) w   after update t, with d = min(decay, (1 + t) / (10 + t)),
/// so that at first it is short and soon forgets the weights it started from.
class MovingAverage {
 public:
  /// shares: each process keeps the averages of its share of the weights; null: all. It outlives the average.
  MovingAverage(NamedTensors weights, double decay, const StateShares* shares = nullptr);

  /// After update 1, 2, ... of the weights, also one that was skipped and left them as they were.
  void follow(int64_t update);
  /// Where they are shared out: brings them together for put_into_weights() by the process that leads, until the next
  /// update. To be called by all.
  void gather();
  /// Writes the average into the weights it follows.
  void put_into_weights() const;
  /// What a checkpoint holds: tensors that the caller may write to, under "moving_average.NAME"; those that another
  /// process keeps are of the device meta.
  NamedTensors state() const;

 private:
  NamedTensors weights_;
  std::vector<torch::Tensor> averages_;        // of the weights
  std::vector<torch::Tensor> own_, followed_;  // those that this process keeps, and their weights
  double decay_;
  const StateShares* shares_;
  NamedTensors gathered_;
};

/// Puts the weights back as they were when it was made.
class KeptWeights {
 public:
  explicit KeptWeights(NamedTensors weights);
  ~KeptWeights();
  KeptWeights(const KeptWeights&) = delete;

 private:
  NamedTensors weights_;
  std::vector<torch::Tensor> values_;
};

}  // namespace nmt
