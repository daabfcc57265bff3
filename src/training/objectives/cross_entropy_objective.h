#pragma once

#include "training/objectives/objective.h"
#include "training/objectives/token_noise.h"

namespace nmt {

/// training.objective cross_entropy: smoothed_cross_entropy() of a batch with dropped words.
class CrossEntropy final : public Objective {
 public:
  CrossEntropy(const Smoothing& smoothing, const WordDropout& dropout) : smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  Smoothing smoothing_;
  WordDropout dropout_;
};

}  // namespace nmt
