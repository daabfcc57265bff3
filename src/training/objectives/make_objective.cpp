#include "training/objectives/make_objective.h"

#include "base/error.h"
#include "training/objectives/rdrop.h"
#include "training/objectives/simcut.h"
#include "training/objectives/smoothed_cross_entropy.h"

namespace nmt {

Smoothing smoothing_of(const TrainingConfig& config) {
  const auto form = config.smoothing_form == "all"      ? SmoothingForm::kAll
                    : config.smoothing_form == "others" ? SmoothingForm::kOthers
                                                        : SmoothingForm::kOthersNormalized;
  return {config.smoothing, form};
}

std::unique_ptr<Objective> make_objective(const TrainingConfig& config) {
  const auto smoothing = smoothing_of(config);
  const WordDropout dropout{.source = config.word_dropout1,
                            .target = config.word_dropout2,
                            .by = config.word_dropout_form == "zero" ? SpecialIds::kPad : SpecialIds::kUnknown};
  const auto& name = config.objective;
  if (name == "cross_entropy") return std::make_unique<CrossEntropy>(smoothing, dropout);
  if (name == "rdrop") return std::make_unique<RDrop>(config.rdrop_alpha, smoothing, dropout);
  if (name == "simcut")
    return std::make_unique<SimCut>(SimCut::Options{.alpha = config.simcut_alpha, .rate = config.simcut_rate},
                                    smoothing, dropout);
  throw Error("training.objective: '" + name + "' is none of cross_entropy, rdrop, simcut");
}

}  // namespace nmt
