#pragma once

#include <string>

#include "config/config.h"
#include "training/objectives/objective.h"
#include "training/objectives/token_noise.h"

namespace nmt {

/// training.guided_alignment (Chen et al. 2016; one head of one layer as in Garg et al. 2019, sec. 3.2):
///   CE(p) - weight * sum over the target pieces i that have links of (1 / n_i) sum_j log A_ij,
/// j the n_i source tokens that piece i is linked with, A the attention of the head, at the step that
/// decoding.alignment_token names. label_loss and correct are those of p. Without TensorBatch::alignment it is CE(p).
class GuidedAlignment final : public Objective {
 public:
  struct Options {
    double weight = 0.05;
    std::string layer;  ///< AttentionMap::name
    int64_t head = 0;   ///< from 0
    AlignmentToken token = AlignmentToken::kOutput;
  };
  GuidedAlignment(Options options, const Smoothing& smoothing, const WordDropout& dropout)
      : options_(std::move(options)), smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

  /// The layer that decoding.alignment_layer names, the head and the token.
  static Options options_of(const Config& config);

 private:
  Options options_;
  Smoothing smoothing_;
  WordDropout dropout_;
};

/// The second sum, without the weight. weights: the head's, [batch, target, source]; alignment as TensorBatch has it.
torch::Tensor alignment_loss(const torch::Tensor& weights, const torch::Tensor& alignment, AlignmentToken token);

}  // namespace nmt
