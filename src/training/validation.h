#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "config/config.h"
#include "data/prepared_data.h"
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
  /// more: the other sets of data.eval, whose figures are told beside those of the first one. Throws Error for lines of
  /// validation.attention_lines that the first one does not have.
  Validator(std::shared_ptr<const PreparedCorpus> corpus, const TextCodec& codec, const Config& config,
            torch::Device device, std::vector<NamedCorpus> more = {});

  /// Throws Error for a set of which no pair has places in the model: its loss would be that of nothing.
  void require_places(const TranslationModel& model) const;

  /// between: called now and then while it decodes; what it throws ends the validation. update: the one whose weights
  /// are measured; with run.seed it says which sentence is drawn for the samples.
  ValidationReport validate(TranslationModel& model, const std::function<void()>& between = {},
                            int64_t update = 0) const;

 private:
  /// codec: of the set, with the tags of its languages.
  ValidationReport figures(TranslationModel& model, const PreparedCorpus& corpus, const TextCodec& codec,
                           const std::function<void()>& between) const;
  void add_losses(TranslationModel& model, const PreparedCorpus& corpus, ValidationReport& report) const;
  void add_translation_scores(TranslationModel& model, const PreparedCorpus& corpus, const TextCodec& codec,
                              ValidationReport& report, const std::function<void()>& between) const;
  void add_samples(int64_t update, ValidationReport& report) const;
  void add_attention(TranslationModel& model, ValidationReport& report) const;
  bool wants(ValidationMetric metric) const;
  /// The options of the configuration, within the limits of the model.
  TranslatorOptions options_for(const TranslationModel& model) const;

  std::shared_ptr<const PreparedCorpus> corpus_;
  std::vector<NamedCorpus> more_;
  const TextCodec& codec_;
  const Config& config_;
  torch::Device device_;
  Smoothing smoothing_;
};

/// How many sentences a validation translates at once: 64; on another device than the CPU, where a search of few
/// sentences is mostly launches, decoding.batch_size where that is more.
int64_t sentences_per_validation_search(const Config& config, torch::Device device);

}  // namespace nmt
