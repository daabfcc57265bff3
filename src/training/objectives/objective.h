#pragma once

#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt {

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

}  // namespace nmt
