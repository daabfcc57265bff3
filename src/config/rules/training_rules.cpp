#include "config/rules/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace nmt {
namespace {

class TrainingRules : public RuleChecker {
 public:
  explicit TrainingRules(const RuleChecker& checker) : RuleChecker(checker) {}
  void check_training() const;
  void check_stopping() const;

 private:
  void check_memory() const;
  void check_optimizer() const;
  void check_schedule() const;
  void check_objective() const;
  void check_subword_sampling() const;
  void check_guided_alignment() const;
};

void TrainingRules::check_training() const {
  const TrainingConfig& training = config_.training;
  if (training.batch_type == BatchType::kTokens) {
    if (training.pool_batches > 0)
      refuse({"training.pool_batches", "training.batch_type"},
             "is for batch_type sentences; batches of tokens are sorted by length anyway");
    if (training.last_batch != LastBatch::kKeep)
      refuse({"training.last_batch", "training.batch_type"},
             training.last_batch.name() + " is for batch_type sentences");
  }
  if (training.accumulate_warmup > 0 && training.accumulate == 1)
    refuse({"training.accumulate_warmup", "training.accumulate"}, "needs training.accumulate above 1 to rise to");
  const size_t corpora = config_.data.train1.size() + config_.data.train_tsv.size();
  const auto& weights = training.corpus_weights;
  if (!weights.empty() && weights.size() != corpora)
    refuse(
        {"training.corpus_weights"},
        fmt::format("has {} weights for {} training corpora (data.train1, then train_tsv)", weights.size(), corpora));
  if (!weights.empty() && *std::max_element(weights.begin(), weights.end()) == 0)
    refuse({"training.corpus_weights"}, "leaves no corpus: all are 0");
  if (!training.init_from.empty() && !(config_.model.word_vectors1 + config_.model.word_vectors2).empty())
    refuse({"training.init_from", "model.word_vectors1", "model.word_vectors2"},
           "brings its embeddings; leave model.word_vectors1 and word_vectors2 out");
  check_memory();
  check_optimizer();
  check_schedule();
  check_objective();
  check_subword_sampling();
  check_guided_alignment();
}

void TrainingRules::check_memory() const {
  const TrainingConfig& training = config_.training;
  if (training.checkpointed_blocks > 0 && !training.gradient_checkpointing)
    refuse({"training.checkpointed_blocks", "training.gradient_checkpointing"},
           "says of how many blocks gradient_checkpointing is, which is false; set it to true");
  if (training.checkpointed_blocks > 0 && config_.model.architecture == Architecture::kRecurrent)
    refuse({"training.checkpointed_blocks", "model.architecture"},
           "is for Transformers; a recurrent encoder has gradient_checkpointing as a whole");
}

void TrainingRules::check_optimizer() const {
  const auto optimizer = config_.training.optimizer;
  const std::string elsewhere = "; training.optimizer is " + optimizer.name();
  if (optimizer != OptimizerKind::kAdadelta)
    refuse_changed({"training.adadelta_rho", "training.adadelta_epsilon"}, "is Adadelta's" + elsewhere);
  if (optimizer != OptimizerKind::kAdam && optimizer != OptimizerKind::kAdamW && optimizer != OptimizerKind::kRadam)
    refuse_changed({"training.adam_beta1", "training.adam_beta2", "training.adam_epsilon"},
                   "is Adam's and RAdam's" + elsewhere);
  if (optimizer != OptimizerKind::kSgd) refuse_changed({"training.sgd_momentum"}, "is SGD's" + elsewhere);
  if (optimizer != OptimizerKind::kAdafactor)
    refuse_changed({"training.adafactor_decay", "training.adafactor_clip", "training.adafactor_scale"},
                   "is Adafactor's" + elsewhere);
  if (optimizer == OptimizerKind::kAdamW && config_.training.weight_decay_form == WeightDecayForm::kGradient)
    refuse({"training.weight_decay_form", "training.optimizer"}, "gradient is what adamw is not; set optimizer adam");
}

void TrainingRules::check_schedule() const {
  const TrainingConfig& training = config_.training;
  const auto schedule = training.schedule;
  const bool ends =
      schedule == ScheduleKind::kLinear || schedule == ScheduleKind::kCosine || schedule == ScheduleKind::kPolynomial;
  const std::string elsewhere = "; training.schedule is " + schedule.name();
  if (ends && training.decay_updates <= training.warmup_steps)
    refuse({"training.decay_updates", "training.schedule", "training.warmup_steps"},
           fmt::format("{} is not behind training.warmup_steps {}: schedule {} falls between them",
                       training.decay_updates, training.warmup_steps, schedule.name()));
  if (!ends) refuse_changed({"training.decay_updates"}, "is of linear, cosine and polynomial" + elsewhere);
  if (!ends && schedule != ScheduleKind::kPlateau)
    refuse_changed({"training.final_lr"}, "is of linear, cosine, polynomial and plateau" + elsewhere);
  if (training.final_lr > training.lr)
    refuse({"training.final_lr", "training.lr"},
           fmt::format("{} is above training.lr {}", training.final_lr, training.lr));
  if (schedule != ScheduleKind::kPolynomial)
    refuse_changed({"training.polynomial_power"}, "is of polynomial" + elsewhere);
  if (schedule != ScheduleKind::kHalving)
    refuse_changed({"training.halving_start", "training.halving_every"}, "is of halving" + elsewhere);
  if (schedule != ScheduleKind::kPlateau)
    refuse_changed({"training.plateau_factor", "training.plateau_patience"}, "is of plateau" + elsewhere);
  else if (!has_validation_text())
    refuse({"training.schedule"}, "plateau looks at validations, but data.eval1 and eval2 are not set");
}

void TrainingRules::check_objective() const {
  const TrainingConfig& training = config_.training;
  const std::string elsewhere = "; training.objective is " + training.objective.name();
  if (training.objective != ObjectiveKind::kRDrop) refuse_changed({"training.rdrop_alpha"}, "is R-Drop's" + elsewhere);
  if (training.objective != ObjectiveKind::kSimCut)
    refuse_changed({"training.simcut_alpha", "training.simcut_rate"}, "is SimCut's" + elsewhere);
  const ModelConfig& model = config_.model;
  const auto rate = [&](const std::optional<double>& own) { return own.value_or(model.dropout_rate); };
  const bool no_dropout = rate(model.input_dropout_rate) + rate(model.attention_dropout_rate) +
                              rate(model.residual_dropout_rate) + rate(model.ffn_dropout_rate) +
                              training.word_dropout1 + training.word_dropout2 ==
                          0;
  if (training.objective == ObjectiveKind::kRDrop && no_dropout)
    refuse({"training.objective", "model.dropout_rate"},
           "rdrop compares two dropout masks, but nothing is dropped; set model.dropout_rate");
  const bool zeros =
      training.objective == ObjectiveKind::kSimCut ||
      (training.word_dropout_form == WordDropoutForm::kZero && training.word_dropout1 + training.word_dropout2 > 0);
  if (zeros && (!model.zero_padding_embedding || model.mask_padding_positions))
    refuse({training.objective == ObjectiveKind::kSimCut ? "training.objective" : "training.word_dropout_form"},
           "makes embeddings zero by the row of padding: it needs model.zero_padding_embedding true and "
           "mask_padding_positions false");
  if (training.word_dropout1 + training.word_dropout2 == 0)
    refuse_changed({"training.word_dropout_form"}, "is for training.word_dropout1 and word_dropout2, which are 0");
}

void TrainingRules::check_subword_sampling() const {
  const TrainingConfig& training = config_.training;
  const bool bpe = training.bpe_dropout1 + training.bpe_dropout2 > 0;
  const bool unigram = training.unigram_alpha1 + training.unigram_alpha2 > 0;
  const char* bpe_key = training.bpe_dropout1 > 0 ? "training.bpe_dropout1" : "training.bpe_dropout2";
  const char* unigram_key = training.unigram_alpha1 > 0 ? "training.unigram_alpha1" : "training.unigram_alpha2";
  if ((bpe || unigram) && config_.data.tokenizer == TokenizerKind::kWords)
    refuse({bpe ? bpe_key : unigram_key}, "needs pieces; data.tokenizer is words");
  const bool ready = !config_.data.spm_model1.empty();  // then the model itself tells its kind
  if (bpe && !ready && config_.data.spm_type != SentencePieceType::kBpe)
    refuse({bpe_key, "data.spm_type"}, "leaves merges out; data.spm_type is unigram: use training.unigram_alpha1, 2");
  if (unigram && !ready && config_.data.spm_type != SentencePieceType::kUnigram)
    refuse({unigram_key, "data.spm_type"}, "needs a unigram model; data.spm_type is bpe: use training.bpe_dropout1, 2");
  if (!unigram)
    refuse_changed({"training.unigram_nbest"}, "is for training.unigram_alpha1 and unigram_alpha2, which are 0");
}

void TrainingRules::check_guided_alignment() const {
  const TrainingConfig& training = config_.training;
  if (training.guided_alignment == 0) return;
  const char* key = "training.guided_alignment";
  if (!config_.data.alignment) refuse({key, "data.alignment"}, "needs aligned pairs; set data.alignment true");
  if (training.objective != ObjectiveKind::kCrossEntropy)
    refuse({key, "training.objective"}, "goes with objective cross_entropy only");
  if (training.bpe_dropout1 + training.bpe_dropout2 + training.unigram_alpha1 + training.unigram_alpha2 > 0)
    refuse({key}, "needs the pieces that were aligned; leave subword sampling (bpe_dropout, unigram_alpha) out");
  if (config_.model.architecture == Architecture::kTransformer && config_.decoding.alignment_head == 0)
    refuse({key, "decoding.alignment_head"}, "trains one head of attention; say which: decoding.alignment_head 1");
}

void TrainingRules::check_stopping() const {
  const TrainingConfig& training = config_.training;
  if (training.num_epochs == 0 && training.max_updates == 0 && training.max_minutes == 0 &&
      training.max_target_tokens == 0 && config_.validation.patience == 0) {
    refuse({"training.num_epochs", "training.max_updates", "training.max_minutes", "training.max_target_tokens"},
           "0, with max_updates, max_minutes and max_target_tokens 0, would train without end; set a limit (or "
           "validation.patience)");
  }
  // Names of another program are those of epochs: each of them is saved.
  if (training.checkpoint_every == 0 && !has_validation_text() && config_.run.naming == RunNaming::kPlain) {
    refuse({"training.checkpoint_every"}, "0 saves at each validation, but data.eval1 and eval2 are not set");
  }
  if (config_.run.naming == RunNaming::kKyubyong2019 && has_validation_text() && config_.validation.every != 0) {
    refuse({"run.naming", "validation.every"},
           "kyubyong2019 names files by the validation at the end of each epoch; set validation.every 0, or "
           "run.naming plain");
  }
  if (!has_validation_text()) {
    for (const auto& [key, used] : {std::pair("training.average_checkpoints", training.average_checkpoints > 0),
                                    std::pair("training.average_best", training.average_best > 0)})
      if (used) refuse({key}, "averages validated weights, but data.eval1 and eval2 are not set");
    if (training.ema_decay > 0)
      refuse({"training.ema_decay"}, "is kept where it validates better, but data.eval1 and eval2 are not set");
  }
  if (training.average_best > 0 && training.checkpoint_every > 0) {
    refuse({"training.average_best", "training.checkpoint_every"},
           "needs a checkpoint at each validation: training.checkpoint_every 0");
  }
}

}  // namespace

void check_training_rules(const RuleChecker& checker) {
  const TrainingRules rules(checker);
  rules.check_training();
  rules.check_stopping();
}

namespace {

class UseRules : public RuleChecker {
 public:
  explicit UseRules(const RuleChecker& checker) : RuleChecker(checker) {}
  void check_validation() const;
  void check_decoding() const;
  void check_evaluation() const;
};

void UseRules::check_validation() const {
  const ValidationConfig& validation = config_.validation;
  const auto metrics = validation.metrics.chosen_names();
  for (auto metric = metrics.begin(); metric != metrics.end(); ++metric) {
    if (std::find(metrics.begin(), metric, *metric) != metric) {
      refuse({"validation.metrics"}, fmt::format("{} stands twice", *metric));
    }
  }
  if (metrics.empty()) {
    refuse({"validation.metrics"}, "is empty; name loss, bleu or chrf (without data.eval1 and eval2 none is measured)");
  }
  if (!validation.metrics.contains(validation.best_metric)) {
    refuse({"validation.best_metric", "validation.metrics"},
           fmt::format("{} is not in validation.metrics", validation.best_metric.name()));
  }
  if (has_validation_text()) return;
  if (validation.every > 0) {
    refuse({"validation.every"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
  if (validation.patience > 0) {
    refuse({"validation.patience"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
}

void UseRules::check_decoding() const {
  const DecodingConfig& decoding = config_.decoding;
  if (decoding.max_length_ratio == 0 && decoding.max_length_offset == 0) {
    refuse({"decoding.max_length_offset", "decoding.max_length_ratio"},
           "0, with max_length_ratio 0, leaves no room for a translation");
  }
  if (decoding.max_length > 0 && decoding.min_length >= decoding.max_length) {
    refuse({"decoding.min_length", "decoding.max_length"},
           fmt::format("{} leaves no room for the end symbol within decoding.max_length {}", decoding.min_length,
                       decoding.max_length));
  }
  if (decoding.beam_size % decoding.diversity_groups != 0) {
    refuse({"decoding.diversity_groups", "decoding.beam_size"},
           fmt::format("{} does not divide decoding.beam_size {}", decoding.diversity_groups, decoding.beam_size));
  }
  if (decoding.diversity_groups == 1) {
    refuse_changed({"decoding.diversity_strength"}, "is for diverse beam search; set decoding.diversity_groups");
  }
  if (decoding.shortlist == 0) {
    refuse_changed({"decoding.shortlist_frequent"}, "is for decoding.shortlist, which is 0");
  }
  if (!decoding.sampling) {
    return refuse_changed({"decoding.temperature", "decoding.top_k", "decoding.top_p", "decoding.seed"},
                          "is for sampling; set decoding.sampling true");
  }
  if (decoding.beam_size != 1) {
    refuse({"decoding.sampling", "decoding.beam_size"},
           fmt::format("draws its tokens and has no beam; decoding.beam_size is {}, set it to 1", decoding.beam_size));
  }
  if (decoding.coverage_penalty > 0) {
    refuse({"decoding.coverage_penalty", "decoding.sampling"},
           "ranks hypotheses, but samples come as they are drawn; leave one of them out");
  }
}

void UseRules::check_evaluation() const {
  const auto forms = config_.evaluation.tokenized_bleu.chosen_names();
  for (auto form = forms.begin(); form != forms.end(); ++form) {
    if (std::find(forms.begin(), form, *form) != form)
      refuse({"evaluation.tokenized_bleu"}, fmt::format("{} stands twice", *form));
  }
  const std::string& language = config_.data.target_language;
  const auto& values = config_.evaluation.tokenized_bleu.values();
  const bool moses = std::any_of(values.begin(), values.end(), takes_moses_tokens);
  if (moses && language != "de" && language != "en" && language != "fr") {
    refuse({"evaluation.tokenized_bleu", "data.target_language"},
           fmt::format("the Moses tokenizer here knows de, en and fr; data.target_language is {}", language));
  }
}

}  // namespace

void check_use_rules(const RuleChecker& checker) {
  const UseRules rules(checker);
  rules.check_validation();
  rules.check_decoding();
  rules.check_evaluation();
}

}  // namespace nmt
