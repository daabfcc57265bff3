#pragma once

#include <functional>
#include <memory>

#include "config/config.h"
#include "data/prepared_corpus.h"
#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"
#include "report/records/training_observer.h"
#include "text/codec/codec.h"
#include "translation/translator.h"

namespace nmt {

/// Measures a model on the validation set: loss, perplexity and token accuracy of the references (under
/// validation.teacher_forcing), and BLEU (13a) and chrF2 of its detokenised translations against the references as they
/// stand: the figures and signatures of sacreBLEU.
class Validator {
 public:
  Validator(std::shared_ptr<const PreparedCorpus> corpus, const TextCodec& codec, const Config& config,
            torch::Device device);

  /// between: called now and then while it decodes; what it throws ends the validation.
  ValidationReport validate(TranslationModel& model, const std::function<void()>& between = {}) const;

 private:
  void add_losses(TranslationModel& model, ValidationReport& report) const;
  void add_translation_scores(TranslationModel& model, ValidationReport& report,
                              const std::function<void()>& between) const;
  void add_attention(TranslationModel& model, ValidationReport& report) const;
  bool wants(ValidationMetric metric) const;
  /// Those of the configuration, within the limits of the model.
  TranslatorOptions options_for(const TranslationModel& model) const;

  std::shared_ptr<const PreparedCorpus> corpus_;
  const TextCodec& codec_;
  const Config& config_;
  torch::Device device_;
  Smoothing smoothing_;
};

}  // namespace nmt
