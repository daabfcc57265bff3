#include "training/objectives/make_objective.h"

#include "training/objectives/cross_entropy_objective.h"
#include "training/objectives/guided_alignment.h"
#include "training/objectives/rdrop.h"
#include "training/objectives/simcut.h"

namespace nmt {

Smoothing smoothing_of(const TrainingConfig& config) { return {config.smoothing, config.smoothing_form}; }

namespace {

WordDropout word_dropout_of(const TrainingConfig& config) {
  return {.source = config.word_dropout1,
          .target = config.word_dropout2,
          .by = config.word_dropout_form == WordDropoutForm::kZero ? SpecialIds::kPad : SpecialIds::kUnknown};
}

}  // namespace

std::unique_ptr<Objective> make_objective(const Config& config) {
  const auto& training = config.training;
  if (training.guided_alignment == 0) return make_objective(training);
  return std::make_unique<GuidedAlignment>(GuidedAlignment::options_of(config), smoothing_of(training),
                                           word_dropout_of(training));
}

std::unique_ptr<Objective> make_objective(const TrainingConfig& config) {
  const auto smoothing = smoothing_of(config);
  const auto dropout = word_dropout_of(config);
  switch (config.objective) {
    case ObjectiveKind::kCrossEntropy:
      return std::make_unique<CrossEntropy>(smoothing, dropout);
    case ObjectiveKind::kRDrop:
      return std::make_unique<RDrop>(config.rdrop_alpha, smoothing, dropout);
    case ObjectiveKind::kSimCut:
      return std::make_unique<SimCut>(SimCut::Options{.alpha = config.simcut_alpha, .rate = config.simcut_rate},
                                      smoothing, dropout);
  }
  return nullptr;
}

}  // namespace nmt
