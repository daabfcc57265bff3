#pragma once

#include "training/optimizers/optimizer.h"

namespace nmt {

/// Adafactor (Shazeer and Stern 2018, algorithms 4 and 5) without momentum: of the second moments of a matrix only the
/// means of its rows and columns are kept. With b = 1 - t^-decay:
///   R = b R + (1 - b) row means of (g² + epsilon1),   C likewise of columns,   V = R C / mean(R)
///   (vectors: V = b V + (1 - b) (g² + epsilon1))
///   u = g / sqrt(V),   u = u / max(1, RMS(u) / clip)
///   x = x - learning_rate s u,   s = max(epsilon2, RMS(x)) if scale_by_weights, else 1
/// with epsilon1 = 1e-30, epsilon2 = 1e-3. The learning rate is the schedule's (the paper's "relative step" is schedule
/// inverse_sqrt with scale_by_weights).
class Adafactor final : public Optimizer {
 public:
  struct Options {
    double decay = 0.8;
    double clip = 1;
    bool scale_by_weights = true;
    WeightDecay weight_decay = {};
  };
  Adafactor(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// "rows.NAME" and "columns.NAME" of matrices, "second_moment.NAME" of vectors, and "steps".
  NamedTensors state() const override;

 private:
  struct Moments {
    torch::Tensor rows, columns;  // of matrices
    torch::Tensor all;            // of the others
  };
  /// Takes 1 - b = t^-decay: a number, or a scalar tensor on the parameters' device.
  template <typename Share>
  static torch::Tensor direction(Moments& moments, const torch::Tensor& gradient, const Share& share);

  Options options_;
  std::vector<Moments> moments_;
  torch::Tensor steps_;  // float64 scalar on the parameters' device
};

}  // namespace nmt
