#include "config/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <vector>

#include "base/error.h"
#include "config/schema.h"

namespace nmt {
namespace {

class Checker {
 public:
  Checker(const Config& config, const std::string& name, const Origins& origins)
      : config_(config), name_(name), origins_(origins) {}

  void check_all() const {
    check_texts();
    check_cleaning();
    check_vocabulary();
    check_model();
    check_training();
    check_stopping();
    check_validation();
    check_decoding();
    check_evaluation();
    if (config_.run.histograms && !config_.run.tensorboard)
      refuse({"run.histograms", "run.tensorboard"}, "are written for TensorBoard; run.tensorboard is false");
  }

 private:
  /// The place is that of the first of `keys` that was set; the message starts with the first.
  [[noreturn]] void refuse(std::initializer_list<const char*> keys, const std::string& why) const {
    std::string place = name_;
    for (const char* key : keys) {
      if (const auto found = origins_.find(key); found != origins_.end()) {
        place = found->second;
        break;
      }
    }
    throw Error(fmt::format("{}: {}: {}", place, *keys.begin(), why));
  }

  /// Options without meaning here may stand at their defaults, as they do in a complete configuration.
  void refuse_changed(std::initializer_list<const char*> keys, const std::string& why) const {
    static const Config kDefaults;
    for (const auto& difference : differences(kDefaults, config_))
      for (const char* key : keys)
        if (difference.key == key) refuse({key}, why);
  }

  bool has_validation_text() const { return !config_.data.eval1.empty() && !config_.data.eval2.empty(); }

  void check_texts() const;
  void check_cleaning() const;
  void check_vocabulary() const;
  void check_ready_models() const;
  void check_words() const;
  void check_model() const;
  void check_transformer() const;
  void check_recurrent() const;
  void check_training() const;
  void check_optimizer() const;
  void check_schedule() const;
  void check_objective() const;
  void check_subword_sampling() const;
  void check_stopping() const;
  void check_validation() const;
  void check_decoding() const;
  void check_evaluation() const;

  const Config& config_;
  const std::string& name_;
  const Origins& origins_;
};

void Checker::check_texts() const {
  const DataConfig& data = config_.data;
  if (data.train1.size() != data.train2.size()) {
    refuse({"data.train1", "data.train2"},
           fmt::format("has {} files, data.train2 {}; each source file needs its target file", data.train1.size(),
                       data.train2.size()));
  }
  if (data.eval1.empty() != data.eval2.empty()) {
    if (data.eval2.empty()) refuse({"data.eval1"}, "is set without data.eval2, its reference");
    refuse({"data.eval2"}, "is set without data.eval1, its source");
  }
  if (data.test1.empty() != data.test2.empty()) {
    if (data.test2.empty()) refuse({"data.test1"}, "is set without data.test2, its reference");
    refuse({"data.test2"}, "is set without data.test1, its source");
  }
}

void Checker::check_cleaning() const {
  const DataConfig& data = config_.data;
  if (data.drop_test_overlap && data.eval1.empty() && data.test1.empty()) {
    refuse({"data.drop_test_overlap"},
           "has nothing to compare with: set data.eval1 and eval2, or data.test1 and test2");
  }
  if (data.max_length_ratio > 0 && data.max_length_ratio < 1) {
    refuse({"data.max_length_ratio"}, "is the longer side over the shorter: at least 1, or 0 for no limit");
  }
}

void Checker::check_vocabulary() const {
  const DataConfig& data = config_.data;
  static const std::set<std::string> kSpecial{"<pad>", "<unk>", "<s>", "</s>"};
  std::set<std::string> symbols;
  for (const auto& symbol : data.user_symbols) {
    if (kSpecial.contains(symbol)) refuse({"data.user_symbols"}, fmt::format("{} is in every vocabulary", symbol));
    if (!symbols.insert(symbol).second) refuse({"data.user_symbols"}, fmt::format("'{}' stands twice", symbol));
  }
  if (data.tokenizer == "words") return check_words();
  refuse_changed({"data.min_cnt", "data.vocabulary1", "data.vocabulary2", "data.count_markup"},
                 "is for word vocabularies; set data.tokenizer words");
  const bool is_learnt = data.spm_model1.empty() && data.spm_model2.empty();
  const int64_t fixed_pieces = 4 + static_cast<int64_t>(symbols.size()) + (data.byte_fallback ? 256 : 0);
  if (is_learnt && data.vocab_size <= fixed_pieces) {
    refuse({"data.vocab_size", "data.byte_fallback", "data.user_symbols"},
           fmt::format("{} leaves no room for pieces beside the {} fixed ones (special, data.user_symbols, "
                       "data.byte_fallback's bytes)",
                       data.vocab_size, fixed_pieces));
  }
  if (!is_learnt) check_ready_models();
}

void Checker::check_words() const {
  const DataConfig& data = config_.data;
  refuse_changed({"data.spm_type", "data.spm_model1", "data.spm_model2", "data.spm_sentences",
                  "data.character_coverage", "data.byte_fallback", "data.user_symbols", "data.normalization"},
                 "is SentencePiece's; data.tokenizer is words");
  if (data.joint_vocabulary && !data.vocabulary2.empty()) {
    refuse({"data.vocabulary2"},
           "does not go with data.joint_vocabulary; a joint vocabulary is data.vocabulary1 alone");
  }
  if (!data.joint_vocabulary && data.vocabulary1.empty() != data.vocabulary2.empty()) {
    refuse({data.vocabulary1.empty() ? "data.vocabulary2" : "data.vocabulary1"},
           "two vocabularies need both data.vocabulary1 and data.vocabulary2, or neither");
  }
}

void Checker::check_ready_models() const {
  const DataConfig& data = config_.data;
  if (data.joint_vocabulary && !data.spm_model2.empty()) {
    refuse({"data.spm_model2"}, "does not go with data.joint_vocabulary; a joint model is data.spm_model1 alone");
  }
  if (!data.joint_vocabulary && data.spm_model1.empty() != data.spm_model2.empty()) {
    refuse({data.spm_model1.empty() ? "data.spm_model2" : "data.spm_model1"},
           "two vocabularies need both data.spm_model1 and data.spm_model2, or neither");
  }
  if (!data.user_symbols.empty()) {
    refuse({"data.user_symbols"}, "cannot be added to the ready model data.spm_model1; leave one of them out");
  }
  if (data.byte_fallback) {
    refuse({"data.byte_fallback"}, "cannot be added to the ready model data.spm_model1; leave one of them out");
  }
}

void Checker::check_model() const {
  const ModelConfig& model = config_.model;
  if (model.tie_embeddings == "all" && !config_.data.joint_vocabulary) {
    refuse({"data.joint_vocabulary", "model.tie_embeddings"},
           "false does not go with model.tie_embeddings all: two vocabularies cannot share a matrix; choose target or "
           "none");
  }
  model.architecture == "recurrent" ? check_recurrent() : check_transformer();
}

void Checker::check_recurrent() const {
  refuse_changed({"model.d_ff", "model.num_heads", "model.norm", "model.final_norm", "model.norm_epsilon",
                  "model.norm_form", "model.activation", "model.positions", "model.sinusoid",
                  "model.max_relative_distance", "model.relative_buckets", "model.position_init",
                  "model.mask_padding_positions", "model.attention_output_projection", "model.qkv_activation",
                  "model.key_value_heads", "model.decoder_mixer", "model.ffn_dropout_rate", "model.deep_init"},
                 "is the Transformer's; model.architecture is recurrent");
  const ModelConfig& model = config_.model;
  if (model.initial_state == "backward" && !model.bidirectional) {
    refuse({"model.initial_state", "model.bidirectional"}, "backward needs model.bidirectional true");
  }
  if (model.coverage && model.attention_score != "additive") {
    refuse({"model.coverage", "model.attention_score"},
           fmt::format("is part of the additive score; model.attention_score is {}", model.attention_score));
  }
}

void Checker::check_transformer() const {
  const ModelConfig& model = config_.model;
  refuse_changed({"model.cell", "model.bidirectional", "model.embedding_size", "model.encoder_size",
                  "model.attention_size", "model.decoder_order", "model.input_feeding", "model.initial_state",
                  "model.readout", "model.readout_size", "model.coverage", "model.local_window", "model.recurrent_init",
                  "model.attention_init", "training.teacher_forcing"},
                 "is for recurrent models; set model.architecture recurrent");
  for (const char* score : {"location", "local", "none"})
    if (model.attention_score == score)
      refuse({"model.attention_score"},
             fmt::format("{} is for recurrent models; set model.architecture recurrent", score));
  if (model.key_value_heads > 0 && model.num_heads % model.key_value_heads != 0) {
    refuse({"model.key_value_heads", "model.num_heads"},
           fmt::format("{} does not divide model.num_heads {}", model.key_value_heads, model.num_heads));
  }
  if (model.deep_init == "deepnet" && model.norm != "post") {
    refuse({"model.deep_init", "model.norm"}, "deepnet is for model.norm post");
  }
  if (model.d_model % model.num_heads != 0) {
    refuse({"model.num_heads", "model.d_model"},
           fmt::format("{} does not divide model.d_model {}", model.num_heads, model.d_model));
  }
  if (model.positions == "sinusoidal" && model.d_model % 2 != 0) {
    refuse({"model.d_model", "model.positions"},
           fmt::format("{} is odd; model.positions sinusoidal needs pairs of features", model.d_model));
  }
  const int64_t longest = std::max(config_.data.maxlen1, config_.data.maxlen2);
  if ((model.positions == "learned" || model.positions == "product") && model.max_positions < longest) {
    refuse({"model.max_positions", "model.positions", "data.maxlen1", "data.maxlen2"},
           fmt::format("{} learned positions are fewer than data.maxlen1 and maxlen2 allow ({})", model.max_positions,
                       longest));
  }
  if (model.positions == "rotary" && model.d_model / model.num_heads % 2 != 0) {
    refuse({"model.positions", "model.num_heads", "model.d_model"},
           fmt::format("rotary needs heads of an even size; model.d_model {} / model.num_heads {} is {}", model.d_model,
                       model.num_heads, model.d_model / model.num_heads));
  }
}

void Checker::check_training() const {
  const TrainingConfig& training = config_.training;
  if (training.batch_type == "tokens") {
    if (training.pool_batches > 0)
      refuse({"training.pool_batches", "training.batch_type"},
             "is for batch_type sentences; batches of tokens are sorted by length anyway");
    if (training.last_batch == "drop")
      refuse({"training.last_batch", "training.batch_type"}, "drop is for batch_type sentences");
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
  check_optimizer();
  check_schedule();
  check_objective();
  check_subword_sampling();
}

void Checker::check_optimizer() const {
  const std::string& optimizer = config_.training.optimizer;
  const std::string elsewhere = "; training.optimizer is " + optimizer;
  if (optimizer != "adadelta")
    refuse_changed({"training.adadelta_rho", "training.adadelta_epsilon"}, "is Adadelta's" + elsewhere);
  if (optimizer != "adam" && optimizer != "adamw" && optimizer != "radam")
    refuse_changed({"training.adam_beta1", "training.adam_beta2", "training.adam_epsilon"},
                   "is Adam's and RAdam's" + elsewhere);
  if (optimizer != "sgd") refuse_changed({"training.sgd_momentum"}, "is SGD's" + elsewhere);
  if (optimizer != "adafactor")
    refuse_changed({"training.adafactor_decay", "training.adafactor_clip", "training.adafactor_scale"},
                   "is Adafactor's" + elsewhere);
  if (optimizer == "adamw" && config_.training.weight_decay_form == "gradient")
    refuse({"training.weight_decay_form", "training.optimizer"}, "gradient is what adamw is not; set optimizer adam");
}

void Checker::check_schedule() const {
  const TrainingConfig& training = config_.training;
  const std::string& schedule = training.schedule;
  const bool ends = schedule == "linear" || schedule == "cosine" || schedule == "polynomial";
  const std::string elsewhere = "; training.schedule is " + schedule;
  if (ends && training.decay_updates <= training.warmup_steps)
    refuse({"training.decay_updates", "training.schedule", "training.warmup_steps"},
           fmt::format("{} is not behind training.warmup_steps {}: schedule {} falls between them",
                       training.decay_updates, training.warmup_steps, schedule));
  if (!ends) refuse_changed({"training.decay_updates"}, "is of linear, cosine and polynomial" + elsewhere);
  if (!ends && schedule != "plateau")
    refuse_changed({"training.final_lr"}, "is of linear, cosine, polynomial and plateau" + elsewhere);
  if (training.final_lr > training.lr)
    refuse({"training.final_lr", "training.lr"},
           fmt::format("{} is above training.lr {}", training.final_lr, training.lr));
  if (schedule != "polynomial") refuse_changed({"training.polynomial_power"}, "is of polynomial" + elsewhere);
  if (schedule != "plateau")
    refuse_changed({"training.plateau_factor", "training.plateau_patience"}, "is of plateau" + elsewhere);
  else if (!has_validation_text())
    refuse({"training.schedule"}, "plateau looks at validations, but data.eval1 and eval2 are not set");
}

void Checker::check_objective() const {
  const TrainingConfig& training = config_.training;
  const std::string elsewhere = "; training.objective is " + training.objective;
  if (training.objective != "rdrop") refuse_changed({"training.rdrop_alpha"}, "is R-Drop's" + elsewhere);
  if (training.objective != "simcut")
    refuse_changed({"training.simcut_alpha", "training.simcut_rate"}, "is SimCut's" + elsewhere);
  const ModelConfig& model = config_.model;
  const auto rate = [&](const std::optional<double>& own) { return own.value_or(model.dropout_rate); };
  const bool no_dropout = rate(model.input_dropout_rate) + rate(model.attention_dropout_rate) +
                              rate(model.residual_dropout_rate) + rate(model.ffn_dropout_rate) +
                              training.word_dropout1 + training.word_dropout2 ==
                          0;
  if (training.objective == "rdrop" && no_dropout)
    refuse({"training.objective", "model.dropout_rate"},
           "rdrop compares two dropout masks, but nothing is dropped; set model.dropout_rate");
  const bool zeros = training.objective == "simcut" ||
                     (training.word_dropout_form == "zero" && training.word_dropout1 + training.word_dropout2 > 0);
  if (zeros && (!model.zero_padding_embedding || model.mask_padding_positions))
    refuse({training.objective == "simcut" ? "training.objective" : "training.word_dropout_form"},
           "makes embeddings zero by the row of padding: it needs model.zero_padding_embedding true and "
           "mask_padding_positions false");
  if (training.word_dropout1 + training.word_dropout2 == 0)
    refuse_changed({"training.word_dropout_form"}, "is for training.word_dropout1 and word_dropout2, which are 0");
}

void Checker::check_subword_sampling() const {
  const TrainingConfig& training = config_.training;
  const bool bpe = training.bpe_dropout1 + training.bpe_dropout2 > 0;
  const bool unigram = training.unigram_alpha1 + training.unigram_alpha2 > 0;
  const char* bpe_key = training.bpe_dropout1 > 0 ? "training.bpe_dropout1" : "training.bpe_dropout2";
  const char* unigram_key = training.unigram_alpha1 > 0 ? "training.unigram_alpha1" : "training.unigram_alpha2";
  if ((bpe || unigram) && config_.data.tokenizer == "words")
    refuse({bpe ? bpe_key : unigram_key}, "needs pieces; data.tokenizer is words");
  const bool ready = !config_.data.spm_model1.empty();  // then the model itself tells its kind
  if (bpe && !ready && config_.data.spm_type != "bpe")
    refuse({bpe_key, "data.spm_type"}, "leaves merges out; data.spm_type is unigram: use training.unigram_alpha1, 2");
  if (unigram && !ready && config_.data.spm_type != "unigram")
    refuse({unigram_key, "data.spm_type"}, "needs a unigram model; data.spm_type is bpe: use training.bpe_dropout1, 2");
  if (!unigram)
    refuse_changed({"training.unigram_nbest"}, "is for training.unigram_alpha1 and unigram_alpha2, which are 0");
}

void Checker::check_stopping() const {
  const TrainingConfig& training = config_.training;
  if (training.num_epochs == 0 && training.max_updates == 0 && training.max_minutes == 0 &&
      training.max_target_tokens == 0 && config_.validation.patience == 0) {
    refuse({"training.num_epochs", "training.max_updates", "training.max_minutes"},
           "0, with max_updates and max_minutes 0, would train without end; set a limit (or validation.patience)");
  }
  if (training.checkpoint_every == 0 && !has_validation_text()) {
    refuse({"training.checkpoint_every"}, "0 saves at each validation, but data.eval1 and eval2 are not set");
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

void Checker::check_validation() const {
  const ValidationConfig& validation = config_.validation;
  const auto& metrics = validation.metrics;
  for (auto metric = metrics.begin(); metric != metrics.end(); ++metric) {
    if (std::find(metrics.begin(), metric, *metric) != metric) {
      refuse({"validation.metrics"}, fmt::format("{} stands twice", *metric));
    }
  }
  if (metrics.empty()) {
    refuse({"validation.metrics"}, "is empty; name loss, bleu or chrf (without data.eval1 and eval2 none is measured)");
  }
  if (std::find(metrics.begin(), metrics.end(), validation.best_metric) == metrics.end()) {
    refuse({"validation.best_metric", "validation.metrics"},
           fmt::format("{} is not in validation.metrics", validation.best_metric));
  }
  if (has_validation_text()) return;
  if (validation.every > 0) {
    refuse({"validation.every"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
  if (validation.patience > 0) {
    refuse({"validation.patience"}, "there is nothing to validate on: data.eval1 and eval2 are not set");
  }
}

void Checker::check_decoding() const {
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

void Checker::check_evaluation() const {
  const auto& forms = config_.evaluation.tokenized_bleu;
  for (auto form = forms.begin(); form != forms.end(); ++form) {
    if (std::find(forms.begin(), form, *form) != form)
      refuse({"evaluation.tokenized_bleu"}, fmt::format("{} stands twice", *form));
  }
  const std::string& language = config_.data.target_language;
  if (!forms.empty() && language != "de" && language != "en") {
    refuse({"evaluation.tokenized_bleu", "data.target_language"},
           fmt::format("the Moses tokenizer here knows de and en; data.target_language is {}", language));
  }
}

}  // namespace

void check_consistency(const Config& config, const std::string& name, const Origins& origins) {
  Checker(config, name, origins).check_all();
}

void check_consistency(const Config& config, const std::string& name) { check_consistency(config, name, Origins()); }

void check_explicit(const Config& config, const Origins& origins) {
  const auto require = [&](const char* key, const char* with, const std::string& why) {
    if (origins.contains(key) || !origins.contains(with)) return;
    throw Error(fmt::format("{}: {}: {}", origins.at(with), with, why));
  };
  if (config.training.batch_type == "tokens") {
    require(
        "training.batch_size", "training.batch_type",
        fmt::format("tokens needs training.batch_size; its default {} counts sentences", TrainingConfig().batch_size));
  }
  if (config.training.schedule == "constant") {
    require("training.warmup_steps", "training.schedule", "constant needs training.warmup_steps; 0 for no warm-up");
  }
}

}  // namespace nmt
