#pragma once

#include "training/objectives/objective.h"
#include "training/objectives/token_noise.h"

namespace nmt {

/// training.objective rdrop (Liang et al. 2021): with p and q the predictions of two copies of the batch in one forward
/// pass, each with dropout masks and dropped words of its own,
///   (CE(p) + CE(q)) / 2 + alpha / 4 (KL(p‖q) + KL(q‖p)),
/// half of their equation 4, so that loss, gradient and clipping are those of one pass. label_loss and correct are
/// those of p.
class RDrop final : public Objective {
 public:
  /// alpha: training.rdrop_alpha.
  RDrop(double alpha, const Smoothing& smoothing, const WordDropout& dropout)
      : alpha_(alpha), smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  double alpha_;
  Smoothing smoothing_;
  WordDropout dropout_;
};

}  // namespace nmt
