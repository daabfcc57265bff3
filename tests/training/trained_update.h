#pragma once

#include <utility>
#include <vector>

#include "config/config.h"
#include "training/loop/objectives.h"
#include "training/loop/train_update.h"

namespace nmt::test {

/// What is trained.
struct Trained {
  TranslationModel& model;
  Optimizer& optimizer;
  torch::Device device = torch::kCPU;
  GradientBuckets* processes = nullptr;
  int64_t tokens_at_once = 0;
};

/// One update as a configuration wants it.
inline UpdateStats update(const Trained& trained, std::vector<Batch> batches, const TrainingConfig& config, double rate,
                          const UpdateKey& key = {}) {
  const auto objective = make_objective(config);
  return train_update({.model = trained.model,
                       .optimizer = trained.optimizer,
                       .objective = *objective,
                       .device = trained.device,
                       .clip_norm = config.clip_norm,
                       .loss_mean = config.loss_mean,
                       .teacher_forcing = config.teacher_forcing,
                       .tokens_at_once = trained.tokens_at_once,
                       .processes = trained.processes},
                      std::move(batches), key, rate);
}

}  // namespace nmt::test
