#pragma once

#include "training/objectives/objective.h"
#include "training/objectives/token_noise.h"

namespace nmt {

/// training.objective simcut (Gao et al. 2022, eq. 6):
///   CE(p) + alpha KL(p‖q),
/// q the prediction of a copy of the batch whose embeddings are zero at a share of the tokens of both sides. Gradients
/// flow into p and q, as in the PyTorch program of their first author. label_loss and correct are those of p.
class SimCut final : public Objective {
 public:
  struct Options {
    double alpha = 3;    ///< training.simcut_alpha
    double rate = 0.05;  ///< training.simcut_rate: share of tokens that are cut off
  };
  SimCut(const Options& options, const Smoothing& smoothing, const WordDropout& dropout)
      : options_(options), smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  Options options_;
  Smoothing smoothing_;
  WordDropout dropout_;
};

}  // namespace nmt
