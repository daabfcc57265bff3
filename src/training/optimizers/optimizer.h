#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "models/interface/safetensors.h"

namespace nmt {

/// How weights are pulled towards zero, those that have a gradient.
struct WeightDecay {
  WeightDecay(double rate = 0, bool decoupled = true) : rate(rate), decoupled(decoupled) {}
  double rate;
  /// learning_rate * rate of the weight is taken off it (Loshchilov and Hutter 2019); else rate * weight is added to
  /// the gradient.
  bool decoupled;
};

/// Changes parameters by their gradients.
class Optimizer {
 public:
  explicit Optimizer(NamedTensors parameters) : parameters_(std::move(parameters)) {}
  virtual ~Optimizer() = default;

  /// One update with the parameters' gradients; a parameter without gradient stays as it is.
  virtual void step(double learning_rate) = 0;
  /// The same, or nothing where `skip` is 1: a float32 scalar on the parameters' device. The host waits for no GPU:
  /// where an optimizer cannot leave that question to it, the step is made and taken back there.
  virtual void step_unless(const torch::Tensor& skip, double learning_rate);
  /// What a checkpoint holds: tensors that the caller may write to. A new optimizer that is given them continues in the
  /// same bits.
  virtual NamedTensors state() const = 0;

  /// Multiplies all gradients so that their joint 2-norm is at most max_norm (0 = leave them). Returns the norm before,
  /// a float32 scalar on the parameters' device.
  virtual torch::Tensor clip_gradients(double max_norm);
  virtual void clear_gradients();
  std::vector<torch::Tensor> gradients() const;  ///< of the parameters that have one

 protected:
  const NamedTensors& parameters() const { return parameters_; }
  /// Before a step: changes weights or gradients.
  void decay_weights(const WeightDecay& decay, double learning_rate);

 private:
  NamedTensors parameters_;
};

/// 0: a float64 scalar on the device of parameters.
torch::Tensor count_of_steps(const NamedTensors& parameters);

/// Stochastic gradient descent with momentum (Sutskever et al. 2013, in PyTorch's form):
///   v = momentum v + g (v = g at first),   x = x - learning_rate v
class Sgd final : public Optimizer {
 public:
  struct Options {
    double momentum = 0.9;  ///< 0: none
    WeightDecay weight_decay = {};
  };
  Sgd(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// "momentum.NAME".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> momenta_;
};

/// Adadelta (Zeiler 2012, algorithm 1). With g the gradient of a parameter x and E[.] means that decay by rho:
///   E[g²] = rho E[g²] + (1 - rho) g²
///   D = -sqrt(E[D²] + epsilon) / sqrt(E[g²] + epsilon) g
///   E[D²] = rho E[D²] + (1 - rho) D²
///   x = x + learning_rate D
/// The paper has no learning rate: 1.
class Adadelta final : public Optimizer {
 public:
  struct Options {
    double rho = 0.95, epsilon = 1e-6;
    WeightDecay weight_decay = {};
  };
  Adadelta(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// Both means under "mean_square.NAME", "mean_square_change.NAME".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> squares_, changes_;
};

/// Adam (Kingma and Ba 2015), fused over all parameters; with decoupled weight decay AdamW (Loshchilov and Hutter
/// 2019).
class Adam final : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    WeightDecay weight_decay = {};
  };
  Adam(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  void step_unless(const torch::Tensor& skip, double learning_rate) override;
  /// Moments and step counters under "first_moment.NAME", "second_moment.NAME", "steps.NAME".
  NamedTensors state() const override;

 private:
  void launch(double learning_rate, const std::optional<torch::Tensor>& skip);

  Options options_;
  std::vector<torch::Tensor> first_, second_, steps_;
};

/// Rectified Adam (Liu et al. 2020, algorithm 2, in PyTorch's form): Adam whose adaptive rate comes in as its variance
/// becomes tractable. With m, v Adam's moments, b1, b2 their decays and r_t = r_inf - 2 t b2^t / (1 - b2^t),
/// r_inf = 2 / (1 - b2) - 1:
///   r_t > 5:  x = x - learning_rate m / (1 - b1^t) l_t sqrt(1 - b2^t) / (sqrt(v) + epsilon)
///             with l_t = sqrt((r_t - 4) (r_t - 2) r_inf / ((r_inf - 4) (r_inf - 2) r_t))
///   else:     x = x - learning_rate m / (1 - b1^t)
class RAdam final : public Optimizer {
 public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    WeightDecay weight_decay = {};
  };
  RAdam(NamedTensors parameters, Options options);

  void step(double learning_rate) override;
  /// "first_moment.NAME", "second_moment.NAME", and "steps".
  NamedTensors state() const override;

 private:
  Options options_;
  std::vector<torch::Tensor> first_, second_;
  void step_on_device(double learning_rate);

  torch::Tensor steps_;  // float64 scalar on the parameters' device
};

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

/// training.optimizer: one switch. Throws Error for an unknown one.
std::unique_ptr<Optimizer> make_optimizer(const TrainingConfig& config, NamedTensors parameters);

}  // namespace nmt
