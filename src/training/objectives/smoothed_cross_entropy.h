#pragma once

#include "training/objectives/objective.h"
#include "training/objectives/token_noise.h"

namespace nmt {

/// Teacher-forced label-smoothed cross-entropy, summed over real target tokens: also what validation reports. In
/// training it has the model's auxiliary losses, too.
LossSums smoothed_cross_entropy(TranslationModel& model, const TensorBatch& batch, ForwardContext& context,
                                const Smoothing& smoothing);

/// training.objective cross_entropy: that loss, of a batch with dropped words.
class CrossEntropy final : public Objective {
 public:
  CrossEntropy(const Smoothing& smoothing, const WordDropout& dropout) : smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  Smoothing smoothing_;
  WordDropout dropout_;
};

}  // namespace nmt
