#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "models/interface/model.h"
#include "training/optimizers/optimizer.h"

namespace nmt {

/// The matrices of a Transformer's attention and feed-forward layers among some parameters; the others get no gradients
/// from here on. Throws Error if there are none.
NamedTensors adapted_matrices(const TranslationModel& model, const NamedTensors& parameters);

/// Factors without values of low-rank updates of matrices NAME.weight [out, in], where these lie: NAME.lora_A.weight
/// [rank, in] and NAME.lora_B.weight [out, rank], one pair after the other.
NamedTensors empty_factors(const NamedTensors& matrices, int64_t rank);

/// Trains low-rank updates of matrices that stay as they are (Hu et al. 2022, eq. 3):
///   W = W0 + alpha / rank B A,   at first A drawn from N(0, 1 / in) and B = 0
/// The model's matrices are the sums W: it computes as ever, in training, validation and search, and the gradients of A
/// and B come from those of W. clip_gradients() is called before each step: it makes them.
class LowRankOptimizer final : public Optimizer {
 public:
  /// matrices: as they are in the base, with gradients, on their device. Draws A by config.run.seed.
  LowRankOptimizer(const NamedTensors& matrices, const Config& config);

  /// Clips by the norm of the factors' gradients, and returns it.
  torch::Tensor clip_gradients(double max_norm) override;
  void step(double learning_rate) override;
  void step_unless(const torch::Tensor& skip, double learning_rate) override;
  NamedTensors state() const override { return of_factors_->state(); }

  const NamedTensors& factors() const { return factors_; }
  /// Continues from the factors in a file that save() wrote. Throws Error where they do not fit.
  void load(const std::filesystem::path& file);
  /// Writes an adapter (base/files/adapter.h). base: SHA-256 of the base's model.safetensors.
  void save(const std::filesystem::path& file, const std::string& base) const;

 private:
  void add_to_matrices();

  int64_t rank_;
  double alpha_;
  NamedTensors factors_;
  std::vector<torch::Tensor> bases_;  // W0
  std::unique_ptr<Optimizer> of_factors_;
};

}  // namespace nmt
