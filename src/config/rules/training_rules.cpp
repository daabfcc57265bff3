#include "config/rules/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "config/rules/data_rules.h"

namespace nmt {
namespace {

void check_memory(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  if (training.checkpointed_blocks > 0 && !training.gradient_checkpointing)
    rules.refuse({"training.checkpointed_blocks", "training.gradient_checkpointing"},
                 "says of how many blocks gradient_checkpointing is, which is false; set it to true");
  if (training.checkpointed_blocks > 0 && rules.config.model.architecture == Architecture::kRecurrent)
    rules.refuse({"training.checkpointed_blocks", "model.architecture"},
                 "is for Transformers; a recurrent encoder has gradient_checkpointing as a whole");
}

void check_adapter(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  if (training.lora_rank == 0)
    return rules.refuse_changed({"training.lora_alpha"}, "is for an adapter; set training.lora_rank");
  if (training.init_from.empty())
    rules.refuse({"training.lora_rank", "training.init_from"},
                 "trains an adapter of a model; name the model in training.init_from, or with --from-model");
  if (rules.config.model.architecture == Architecture::kRecurrent)
    rules.refuse({"training.lora_rank", "model.architecture"}, "is for Transformers");
  if (training.ema_decay > 0 || training.average_checkpoints > 0 || training.average_best > 0)
    rules.refuse({"training.lora_rank", "training.ema_decay", "training.average_checkpoints", "training.average_best"},
                 "has no averages: an average of adapters is none of this rank; set training.ema_decay, "
                 "average_checkpoints and average_best to 0");
  if (training.init_vocabulary == InitVocabulary::kMap)
    rules.refuse({"training.lora_rank", "training.init_vocabulary"},
                 "leaves the tables of embeddings as they are; set training.init_vocabulary: same");
  if (training.shard_optimizer)
    rules.refuse({"training.lora_rank", "training.shard_optimizer"},
                 "leaves an optimizer nothing to share; set training.shard_optimizer false");
}

void check_optimizer(const RuleChecker& rules) {
  const auto optimizer = rules.config.training.optimizer;
  const std::string elsewhere = "; training.optimizer is " + optimizer.name();
  if (optimizer != OptimizerKind::kAdadelta)
    rules.refuse_changed({"training.adadelta_rho", "training.adadelta_epsilon"}, "is Adadelta's" + elsewhere);
  if (optimizer != OptimizerKind::kAdam && optimizer != OptimizerKind::kAdamW && optimizer != OptimizerKind::kRadam)
    rules.refuse_changed({"training.adam_beta1", "training.adam_beta2", "training.adam_epsilon"},
                         "is Adam's and RAdam's" + elsewhere);
  if (optimizer != OptimizerKind::kSgd) rules.refuse_changed({"training.sgd_momentum"}, "is SGD's" + elsewhere);
  if (optimizer != OptimizerKind::kAdafactor)
    rules.refuse_changed({"training.adafactor_decay", "training.adafactor_clip", "training.adafactor_scale"},
                         "is Adafactor's" + elsewhere);
  if (optimizer == OptimizerKind::kAdamW && rules.config.training.weight_decay_form == WeightDecayForm::kGradient)
    rules.refuse({"training.weight_decay_form", "training.optimizer"},
                 "gradient is what adamw is not; set optimizer adam");
}

void check_schedule(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  const auto schedule = training.schedule;
  const bool ends =
      schedule == ScheduleKind::kLinear || schedule == ScheduleKind::kCosine || schedule == ScheduleKind::kPolynomial;
  const std::string elsewhere = "; training.schedule is " + schedule.name();
  if (ends && training.decay_updates <= training.warmup_steps)
    rules.refuse({"training.decay_updates", "training.schedule", "training.warmup_steps"},
                 fmt::format("{} is not behind training.warmup_steps {}: schedule {} falls between them",
                             training.decay_updates, training.warmup_steps, schedule.name()));
  if (!ends) rules.refuse_changed({"training.decay_updates"}, "is of linear, cosine and polynomial" + elsewhere);
  if (!ends && schedule != ScheduleKind::kPlateau)
    rules.refuse_changed({"training.final_lr"}, "is of linear, cosine, polynomial and plateau" + elsewhere);
  if (training.final_lr > training.lr)
    rules.refuse({"training.final_lr", "training.lr"},
                 fmt::format("{} is above training.lr {}", training.final_lr, training.lr));
  if (schedule != ScheduleKind::kPolynomial)
    rules.refuse_changed({"training.polynomial_power"}, "is of polynomial" + elsewhere);
  if (schedule != ScheduleKind::kHalving)
    rules.refuse_changed({"training.halving_start", "training.halving_every"}, "is of halving" + elsewhere);
  if (schedule != ScheduleKind::kPlateau)
    rules.refuse_changed({"training.plateau_factor", "training.plateau_patience"}, "is of plateau" + elsewhere);
  else if (!rules.has_validation_text())
    rules.refuse({"training.schedule"}, "plateau looks at validations, but data.eval1 and eval2 are not set");
}

void check_objective(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  const std::string elsewhere = "; training.objective is " + training.objective.name();
  if (training.objective != ObjectiveKind::kRDrop)
    rules.refuse_changed({"training.rdrop_alpha"}, "is R-Drop's" + elsewhere);
  if (training.objective != ObjectiveKind::kSimCut)
    rules.refuse_changed({"training.simcut_alpha", "training.simcut_rate"}, "is SimCut's" + elsewhere);
  if (training.objective != ObjectiveKind::kDistillation)
    rules.refuse_changed({"training.teacher", "training.teacher_weight"}, "is of distillation" + elsewhere);
  else if (training.teacher.empty())
    rules.refuse({"training.objective", "training.teacher"},
                 "distillation learns from a model; name its directory in training.teacher");
  const ModelConfig& model = rules.config.model;
  const auto rate = [&](const std::optional<double>& own) { return own.value_or(model.dropout_rate); };
  const bool no_dropout = rate(model.input_dropout_rate) + rate(model.attention_dropout_rate) +
                              rate(model.residual_dropout_rate) + rate(model.ffn_dropout_rate) +
                              training.word_dropout1 + training.word_dropout2 ==
                          0;
  if (training.objective == ObjectiveKind::kRDrop && no_dropout)
    rules.refuse({"training.objective", "model.dropout_rate"},
                 "rdrop compares two dropout masks, but nothing is dropped; set model.dropout_rate");
  const bool zeros =
      training.objective == ObjectiveKind::kSimCut ||
      (training.word_dropout_form == WordDropoutForm::kZero && training.word_dropout1 + training.word_dropout2 > 0);
  if (zeros && (!model.zero_padding_embedding || model.mask_padding_positions))
    rules.refuse({training.objective == ObjectiveKind::kSimCut ? "training.objective" : "training.word_dropout_form"},
                 "makes embeddings zero by the row of padding: it needs model.zero_padding_embedding true and "
                 "mask_padding_positions false");
  if (training.word_dropout1 + training.word_dropout2 == 0)
    rules.refuse_changed({"training.word_dropout_form"},
                         "is for training.word_dropout1 and word_dropout2, which are 0");
}

void check_subword_sampling(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  const bool bpe = training.bpe_dropout1 + training.bpe_dropout2 > 0;
  const bool unigram = training.unigram_alpha1 + training.unigram_alpha2 > 0;
  const char* bpe_key = training.bpe_dropout1 > 0 ? "training.bpe_dropout1" : "training.bpe_dropout2";
  const char* unigram_key = training.unigram_alpha1 > 0 ? "training.unigram_alpha1" : "training.unigram_alpha2";
  if ((bpe || unigram) && rules.config.data.tokenizer == TokenizerKind::kWords)
    rules.refuse({bpe ? bpe_key : unigram_key}, "needs pieces; data.tokenizer is words");
  // The model itself tells its kind.
  const bool ready = !rules.config.data.spm_model1.empty() || has_initial_vocabulary(rules.config.training);
  if (bpe && !ready && rules.config.data.spm_type != SentencePieceType::kBpe)
    rules.refuse({bpe_key, "data.spm_type"},
                 "leaves merges out; data.spm_type is unigram: use training.unigram_alpha1, 2");
  if (unigram && !ready && rules.config.data.spm_type != SentencePieceType::kUnigram)
    rules.refuse({unigram_key, "data.spm_type"},
                 "needs a unigram model; data.spm_type is bpe: use training.bpe_dropout1, 2");
  if (!unigram)
    rules.refuse_changed({"training.unigram_nbest"}, "is for training.unigram_alpha1 and unigram_alpha2, which are 0");
}

void check_guided_alignment(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  if (training.guided_alignment == 0) return;
  const char* key = "training.guided_alignment";
  if (!rules.config.data.alignment)
    rules.refuse({key, "data.alignment"}, "needs aligned pairs; set data.alignment true");
  if (training.objective != ObjectiveKind::kCrossEntropy)
    rules.refuse({key, "training.objective"}, "goes with objective cross_entropy only");
  if (rules.config.model.architecture == Architecture::kTransformer && rules.config.decoding.alignment_head == 0)
    rules.refuse({key, "decoding.alignment_head"},
                 "trains one head of attention; say which: decoding.alignment_head 1");
}

void check_pair_scores(const RuleChecker& rules) {
  if (rules.config.data.alignment) return;
  const char* why = "scores by the aligner, which data.alignment trains; set it true";
  const auto best = parse_keep_best(rules.config.data.keep_best);
  if (best && best->score == PairScore::kAligner) rules.refuse({"data.keep_best", "data.alignment"}, why);
  if (rules.config.training.pair_weights == PairScore::kAligner)
    rules.refuse({"training.pair_weights", "data.alignment"}, why);
}

void check_stages(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  const auto refuse = [&](const std::string& why) { rules.refuse({"training.stages"}, why); };
  if (!training.stages.empty() && !training.corpus_weights.empty())
    refuse("stands beside training.corpus_weights; each stage says how the corpora are mixed, leave those out");
  int64_t last_update = 0;
  for (size_t i = 0; i < training.stages.size(); ++i) {
    const auto& [shares, end, limit] = training.stages[i];
    for (const auto& [name, share] : shares) {
      const auto found = corpora_named(rules.config.data, name).size();
      if (found != 1)
        refuse(
            fmt::format("{} is the name of {} training corpora; a name is that of a file of data.train1 or "
                        "train_tsv up to its first dot, or as it stands there",
                        name, found));
    }
    const bool is_last = i + 1 == training.stages.size();
    if (is_last != (end == StageEnd::kRun))
      refuse(is_last ? fmt::format("stage {} is the last and ends with the run; leave {} out", i + 1, end.name())
                     : fmt::format("stage {} has no end; add until_epochs, until_update or until_stalled", i + 1));
    if (end == StageEnd::kUpdate && limit <= std::exchange(last_update, limit))
      refuse(fmt::format("stage {} ends at update {}, not behind the stage before it", i + 1, limit));
    if (end == StageEnd::kStalled && !rules.has_validation_text())
      refuse("until_stalled looks at validations, but data.eval1 and eval2 are not set");
    const int64_t patience = rules.config.validation.patience;
    if (end == StageEnd::kStalled && patience > 0 && patience <= limit)
      refuse(
          fmt::format("stage {} ends after {} validations without a new best, the run after {} "
                      "(validation.patience); raise that",
                      i + 1, limit, patience));
  }
}

void check_augmentation(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  const char* key = training.augment_upper > 0 ? "training.augment_upper" : "training.augment_title";
  if (training.augment_upper + training.augment_title > 1)
    rules.refuse({key, "training.augment_title"}, "and training.augment_title are above 1 together; lower one");
  if (training.augment_upper + training.augment_title > 0 && rules.config.data.lowercase)
    rules.refuse({key, "data.lowercase"}, "changes nothing where data.lowercase is true; leave it out");
}

void check_training(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  if (training.batch_type == BatchType::kTokens) {
    if (training.pool_batches > 0)
      rules.refuse({"training.pool_batches", "training.batch_type"},
                   "is for batch_type sentences; batches of tokens are sorted by length anyway");
    if (training.last_batch != LastBatch::kKeep)
      rules.refuse({"training.last_batch", "training.batch_type"},
                   training.last_batch.name() + " is for batch_type sentences");
  }
  if (training.accumulate_warmup > 0 && training.accumulate == 1)
    rules.refuse({"training.accumulate_warmup", "training.accumulate"}, "needs training.accumulate above 1 to rise to");
  check_stages(rules);
  if (training.corpus_temperature != 1 && (!training.stages.empty() || !training.corpus_weights.empty()))
    rules.refuse(
        {"training.corpus_temperature"},
        "stands beside training.corpus_weights or stages, which say how corpora are mixed, too; leave one out");
  const size_t corpora = rules.config.data.train1.size() + rules.config.data.train_tsv.size();
  const auto& weights = training.corpus_weights;
  if (!weights.empty() && weights.size() != corpora)
    rules.refuse(
        {"training.corpus_weights"},
        fmt::format("has {} weights for {} training corpora (data.train1, then train_tsv)", weights.size(), corpora));
  if (!weights.empty() && *std::max_element(weights.begin(), weights.end()) == 0)
    rules.refuse({"training.corpus_weights"}, "leaves no corpus: all are 0");
  if (!training.init_from.empty() && !(rules.config.model.word_vectors1 + rules.config.model.word_vectors2).empty())
    rules.refuse({"training.init_from", "model.word_vectors1", "model.word_vectors2"},
                 "brings its embeddings; leave model.word_vectors1 and word_vectors2 out");
  if (training.init_from.empty())
    rules.refuse_changed({"training.init_vocabulary"},
                         "maps the rows of a model; name it in training.init_from, or with --from-model");
  check_adapter(rules);
  check_memory(rules);
  check_optimizer(rules);
  check_schedule(rules);
  check_objective(rules);
  check_subword_sampling(rules);
  check_augmentation(rules);
  check_guided_alignment(rules);
  check_pair_scores(rules);
}

void check_stopping(const RuleChecker& rules) {
  const TrainingConfig& training = rules.config.training;
  if (training.num_epochs == 0 && training.max_updates == 0 && training.max_minutes == 0 &&
      training.max_target_tokens == 0 && rules.config.validation.patience == 0) {
    rules.refuse({"training.num_epochs", "training.max_updates", "training.max_minutes", "training.max_target_tokens"},
                 "0, with max_updates, max_minutes and max_target_tokens 0, would train without end; set a limit (or "
                 "validation.patience)");
  }
  // Names of another program are those of epochs: each of them is saved.
  if (training.checkpoint_every == 0 && !rules.has_validation_text() && rules.config.run.naming == RunNaming::kPlain) {
    rules.refuse({"training.checkpoint_every"}, "0 saves at each validation, but data.eval1 and eval2 are not set");
  }
  if (rules.config.run.naming == RunNaming::kKyubyong2019 && rules.has_validation_text() &&
      rules.config.validation.every != 0) {
    rules.refuse({"run.naming", "validation.every"},
                 "kyubyong2019 names files by the validation at the end of each epoch; set validation.every 0, or "
                 "run.naming plain");
  }
  if (!rules.has_validation_text()) {
    for (const auto& [key, used] : {std::pair("training.average_checkpoints", training.average_checkpoints > 0),
                                    std::pair("training.average_best", training.average_best > 0)})
      if (used) rules.refuse({key}, "averages validated weights, but data.eval1 and eval2 are not set");
    if (training.ema_decay > 0)
      rules.refuse({"training.ema_decay"}, "is kept where it validates better, but data.eval1 and eval2 are not set");
  }
  if (training.average_best > 0 && training.checkpoint_every > 0) {
    rules.refuse({"training.average_best", "training.checkpoint_every"},
                 "needs a checkpoint at each validation: training.checkpoint_every 0");
  }
}

}  // namespace

void check_training_rules(const RuleChecker& rules) {
  check_training(rules);
  check_stopping(rules);
}

namespace {

void check_validation(const RuleChecker& rules) {
  const ValidationConfig& validation = rules.config.validation;
  const auto metrics = validation.metrics.chosen_names();
  for (auto metric = metrics.begin(); metric != metrics.end(); ++metric) {
    if (std::find(metrics.begin(), metric, *metric) != metric) {
      rules.refuse({"validation.metrics"}, fmt::format("{} stands twice", *metric));
    }
  }
  if (metrics.empty()) {
    rules.refuse({"validation.metrics"},
                 "is empty; name loss, bleu or chrf (without data.eval1 and eval2 none is measured)");
  }
  if (!validation.metrics.contains(validation.best_metric)) {
    rules.refuse({"validation.best_metric", "validation.metrics"},
                 fmt::format("{} is not in validation.metrics", validation.best_metric.name()));
  }
  if (rules.has_validation_text()) return;
  if (validation.every > 0) {
    rules.refuse({"validation.every"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
  if (validation.patience > 0) {
    rules.refuse({"validation.patience"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
}

void check_decoding(const RuleChecker& rules) {
  const DecodingConfig& decoding = rules.config.decoding;
  if (decoding.max_length_ratio == 0 && decoding.max_length_offset == 0) {
    rules.refuse({"decoding.max_length_offset", "decoding.max_length_ratio"},
                 "0, with max_length_ratio 0, leaves no room for a translation");
  }
  if (decoding.max_length > 0 && decoding.min_length >= decoding.max_length) {
    rules.refuse({"decoding.min_length", "decoding.max_length"},
                 fmt::format("{} leaves no room for the end symbol within decoding.max_length {}", decoding.min_length,
                             decoding.max_length));
  }
  if (decoding.beam_size % decoding.diversity_groups != 0) {
    rules.refuse(
        {"decoding.diversity_groups", "decoding.beam_size"},
        fmt::format("{} does not divide decoding.beam_size {}", decoding.diversity_groups, decoding.beam_size));
  }
  if (decoding.diversity_groups == 1) {
    rules.refuse_changed({"decoding.diversity_strength"}, "is for diverse beam search; set decoding.diversity_groups");
  }
  if (decoding.shortlist == 0) {
    rules.refuse_changed({"decoding.shortlist_frequent"}, "is for decoding.shortlist, which is 0");
  }
  const bool by_risk = decoding.mbr != RiskUtility::kNone;
  if (by_risk && !decoding.sampling && decoding.beam_size == 1) {
    rules.refuse({"decoding.mbr", "decoding.beam_size"},
                 "chooses among candidates; set decoding.beam_size to 2 or more, or decoding.sampling true");
  }
  if (!by_risk || !decoding.sampling) {
    rules.refuse_changed({"decoding.mbr_samples"}, "is for decoding.mbr with decoding.sampling");
  }
  if (!decoding.sampling) {
    return rules.refuse_changed({"decoding.temperature", "decoding.top_k", "decoding.top_p", "decoding.seed"},
                                "is for sampling; set decoding.sampling true");
  }
  if (decoding.beam_size != 1) {
    rules.refuse(
        {"decoding.sampling", "decoding.beam_size"},
        fmt::format("draws its tokens and has no beam; decoding.beam_size is {}, set it to 1", decoding.beam_size));
  }
  if (decoding.coverage_penalty > 0) {
    rules.refuse({"decoding.coverage_penalty", "decoding.sampling"},
                 "ranks hypotheses, but samples come as they are drawn; leave one of them out");
  }
}

void check_evaluation(const RuleChecker& rules) {
  const auto forms = rules.config.evaluation.tokenized_bleu.chosen_names();
  for (auto form = forms.begin(); form != forms.end(); ++form) {
    if (std::find(forms.begin(), form, *form) != form)
      rules.refuse({"evaluation.tokenized_bleu"}, fmt::format("{} stands twice", *form));
  }
  const std::string& language = rules.config.data.target_language;
  const auto& values = rules.config.evaluation.tokenized_bleu.values();
  const bool moses = std::any_of(values.begin(), values.end(), takes_moses_tokens);
  if (moses && language != "de" && language != "en" && language != "fr") {
    rules.refuse({"evaluation.tokenized_bleu", "data.target_language"},
                 fmt::format("the Moses tokenizer here knows de, en and fr; data.target_language is {}", language));
  }
}

}  // namespace

void check_use_rules(const RuleChecker& rules) {
  check_validation(rules);
  check_decoding(rules);
  check_evaluation(rules);
}

}  // namespace nmt
