#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>

#include "config/config.h"
#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"
#include "nn/ops/forward_context.h"
#include "text/tokenizer.h"

namespace nmt {

/// Puts `by` in the place of each piece with probability `rate`, one by one; <pad>, <s> and </s> stay. With <unk> it is
/// the word dropout of Bowman et al. 2016; with <pad>, whose embedding is zero, the token cut-off of Shen et al. 2020.
/// The position stays, and the other embeddings are not scaled: Iyyer et al. 2015 leave words out of a bag, Gal and
/// Ghahramani 2016 zero a type wherever it stands, Sennrich and Zhang 2019 zero embeddings and multiply the others by
/// 1 / (1 - rate). ids int64 [batch, width]. A function of (the context's key of this place, index), on every device;
/// ids unchanged outside training or for rate = 0.
torch::Tensor drop_tokens(const torch::Tensor& ids, double rate, int64_t by, ForwardContext& context);

/// Word dropout of what the model reads: training.word_dropout1, word_dropout2 and word_dropout_form.
struct WordDropout {
  double source = 0, target = 0;      ///< shares of pieces
  int64_t by = SpecialIds::kUnknown;  ///< what stands in their places

  /// Replaces source and target_in; the tensors that were there stay as they are.
  void apply(TensorBatch& batch, ForwardContext& context) const;
};

/// What training minimises. It is made once for a run (make_objective) and runs the model itself, so it sees all that
/// the model gives (run_model), may run it more than once, and may hold what else it needs, such as a second model.
class Objective {
 public:
  virtual ~Objective() = default;

  /// The loss of one micro-batch, summed over real target tokens, nats; its gradient flows into the model's parameters.
  /// label_loss and correct are those of the model's prediction without what the objective adds. The batch stays as it
  /// is. Random numbers are keys of the context, drawn in the same order in every call: the loss is a function of
  /// (weights, batch, context).
  virtual LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) = 0;
};

/// training.objective cross_entropy: smoothed_cross_entropy() of a batch with dropped words.
class CrossEntropy final : public Objective {
 public:
  CrossEntropy(const Smoothing& smoothing, const WordDropout& dropout) : smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  Smoothing smoothing_;
  WordDropout dropout_;
};

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

/// The batch and behind it the same sentences again, in tensors of its own: one forward pass gives two predictions for
/// each target token, with masks of their own.
TensorBatch doubled(const TensorBatch& batch);

/// The loss of a doubled batch: what the two predictions for a token cost together (paired_output_cross_entropy), the
/// first of which is that of the first half.
LossSums paired_loss(TranslationModel& model, const TensorBatch& doubled_batch, ForwardContext& context,
                     const Smoothing& smoothing, const PairLoss& pair);

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
  /// What p and q cost together.
  static PairLoss pair_loss(double alpha);
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  double alpha_;
  Smoothing smoothing_;
  WordDropout dropout_;
};

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

/// training.objective distillation: the word-level distillation of Kim and Rush 2016 (sec. 3.1),
///   (1 - w) CE(p) - w * sum over the target tokens i and the pieces v of t_iv log p_iv,
/// t the teacher's prediction without dropout, word dropout and gradient, w training.teacher_weight. label_loss and
/// correct are those of p.
class WordDistillation final : public Objective {
 public:
  /// teacher: in evaluation mode, on the model's device and of its compute type.
  WordDistillation(std::shared_ptr<TranslationModel> teacher, double weight, const Smoothing& smoothing,
                   const WordDropout& dropout)
      : teacher_(std::move(teacher)), weight_(weight), smoothing_(smoothing), dropout_(dropout) {}
  LossSums loss(TranslationModel& model, const TensorBatch& batch, ForwardContext& context) override;

 private:
  TeacherRows teacher_rows(const TensorBatch& batch) const;

  std::shared_ptr<TranslationModel> teacher_;
  double weight_;
  Smoothing smoothing_;
  WordDropout dropout_;
};

/// The smoothing of training.smoothing and smoothing_form.
Smoothing smoothing_of(const TrainingConfig& config);
WordDropout word_dropout_of(const TrainingConfig& config);

/// training.objective with its options. teacher: load_teacher()'s, for distillation.
std::unique_ptr<Objective> make_objective(const TrainingConfig& config,
                                          std::shared_ptr<TranslationModel> teacher = nullptr);
/// The same with training.guided_alignment, which is about the model and decoding.alignment_layer, too.
std::unique_ptr<Objective> make_objective(const Config& config, std::shared_ptr<TranslationModel> teacher = nullptr);

}  // namespace nmt
