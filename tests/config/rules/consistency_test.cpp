#include "config/rules/consistency.h"

#include "base/error.h"
#include "config/loading/schema.h"
#include "support.h"

namespace nmt::consistency_test {
namespace {

using test::message_of;

constexpr const char* kEval = "  eval1: e.de\n  eval2: e.en\n";

struct Contradiction {
  std::string yaml, message;
};

TEST(Consistency, RefusesContradictionsAtTheirPlace) {
  const Contradiction contradictions[] = {
      {"model:\n  num_heads: 7", "f:2: model.num_heads: 7 does not divide model.d_model 512"},
      {"model:\n  d_model: 36", "f:2: model.num_heads: 8 does not divide model.d_model 36"},
      {"model:\n  d_model: 35\n  num_heads: 5",
       "f:2: model.d_model: 35 is odd; model.positions sinusoidal needs pairs of features"},
      {"model:\n  positions: learned\n  max_positions: 64",
       "f:3: model.max_positions: 64 learned positions are fewer than data.maxlen1 and maxlen2 allow (100)"},
      {"model:\n  positions: hierarchical\n  max_positions: 9",
       "f:3: model.max_positions: 9 make 81 hierarchical positions, fewer than data.maxlen1 and maxlen2 allow (100)"},
      {"model:\n  architecture: recurrent\n  attention_score: location\n  max_positions: 64",
       "f:4: model.max_positions: 64 places of the location score are fewer than data.maxlen1 allows (100)"},
      {"data:\n  train1: [a, b]\n  train2: [a]",
       "f:2: data.train1: has 2 files, data.train2 1; each source file needs its target file (one that holds both "
       "sides stands in both)"},
      {"data:\n  train2: a",
       "f:2: data.train1: has 0 files, data.train2 1; each source file needs its target file (one that holds both "
       "sides stands in both)"},
      {"data:\n  eval1: a", "f:2: data.eval1: is set without data.eval2, its reference"},
      {"data:\n  eval2: a", "f:2: data.eval2: is set without data.eval1, its source"},
      {"data:\n  test1: a", "f:2: data.test1: is set without data.test2, its reference"},
      {"data:\n  test2: a", "f:2: data.test2: is set without data.test1, its source"},
      {"data:\n  drop_test_overlap: true",
       "f:2: data.drop_test_overlap: has nothing to compare with: set data.eval1 and eval2, or data.test1 and test2"},
      {"data:\n  tsv_columns: [2]",
       "f:2: data.tsv_columns: names two different columns, of the source and the target: [2, 4]"},
      {"data:\n  tsv_columns: [3, 3]",
       "f:2: data.tsv_columns: names two different columns, of the source and the target: [2, 4]"},
      {"data:\n  max_length_ratio: 0.5",
       "f:2: data.max_length_ratio: is the longer side over the shorter: at least 1, or 0 for no limit"},
      {"data:\n  train_tsv: a.tsv\n  uncleaned: [a, b]",
       "f:3: data.uncleaned: b names no training corpus; give the name of a file of data.train1 or train_tsv up to its "
       "first dot; --clean takes no data.uncleaned"},
      {"data:\n  user_symbols: [<s>]", "f:2: data.user_symbols: <s> is in every vocabulary"},
      {"data:\n  user_symbols: [a, b, a]", "f:2: data.user_symbols: 'a' stands twice"},
      {"data:\n  vocab_size: 260\n  byte_fallback: true",
       "f:2: data.vocab_size: 260 leaves no room for pieces beside the 260 fixed ones (special, data.user_symbols, "
       "data.byte_fallback's bytes)"},
      {"data:\n  joint_vocabulary: false",
       "f:2: data.joint_vocabulary: false does not go with model.tie_embeddings all: two vocabularies cannot share a "
       "matrix; choose target or none"},
      {"data:\n  spm_model1: a\n  spm_model2: b",
       "f:3: data.spm_model2: does not go with data.joint_vocabulary; a joint model is data.spm_model1 alone"},
      {"model:\n  tie_embeddings: none\ndata:\n  joint_vocabulary: false\n  spm_model2: b",
       "f:5: data.spm_model2: two vocabularies need both data.spm_model1 and data.spm_model2, or neither"},
      {"data:\n  spm_model1: a\n  user_symbols: [x]",
       "f:3: data.user_symbols: cannot be added to the ready model data.spm_model1; leave one of them out"},
      {"data:\n  spm_model1: a\n  byte_fallback: true",
       "f:3: data.byte_fallback: cannot be added to the ready model data.spm_model1; leave one of them out"},
      {"data:\n  min_cnt: 2", "f:2: data.min_cnt: is for word vocabularies; set data.tokenizer words"},
      {"data:\n  tokenizer: words\n  spm_type: unigram",
       "f:3: data.spm_type: is SentencePiece's; data.tokenizer is words"},
      {"data:\n  tokenizer: words\n  vocabulary1: a\n  vocabulary2: b",
       "f:4: data.vocabulary2: does not go with data.joint_vocabulary; a joint vocabulary is data.vocabulary1 alone"},
      {"data:\n  tokenizer: words\n  joint_vocabulary: false\n  vocabulary2: b\nmodel:\n  tie_embeddings: none",
       "f:4: data.vocabulary2: two vocabularies need both data.vocabulary1 and data.vocabulary2, or neither"},
      {"model:\n  cell: lstm", "f:2: model.cell: is for recurrent models; set model.architecture recurrent"},
      {"model:\n  architecture: recurrent\n  norm: pre",
       "f:3: model.norm: is the Transformer's; model.architecture is recurrent"},
      {"model:\n  architecture: recurrent\n  initial_state: backward\n  bidirectional: false",
       "f:3: model.initial_state: backward needs model.bidirectional true"},
      {"model:\n  architecture: recurrent\n  decoder_order: luong\n  readout_state: previous",
       "f:4: model.readout_state: previous is for model.decoder_order bahdanau"},
      {"model:\n  architecture: recurrent\n  attention_score: dot\n  coverage: true",
       "f:4: model.coverage: is part of the additive score; model.attention_score is dot"},
      {"model:\n  architecture: recurrent\n  attention_score: none\n  attention_window: monotonic",
       "f:4: model.attention_window: monotonic is a part of attention; model.attention_score is none"},
      {"data:\n  reverse_source: true\nmodel:\n  architecture: recurrent\n  attention_score: general\n  "
       "attention_window: monotonic",
       "f:2: data.reverse_source: turns the order round that model.attention_window monotonic follows; leave one of "
       "them out"},
      {"model:\n  architecture: recurrent\n  attention_score: local\n  attention_window: monotonic",
       "f:4: model.attention_window: monotonic does not go with model.attention_score local, whose window is "
       "predictive; use general"},
      {"model:\n  attention_score: local",
       "f:2: model.attention_score: local is for recurrent models; set model.architecture recurrent"},
      {"model:\n  key_value_heads: 3", "f:2: model.key_value_heads: 3 does not divide model.num_heads 8"},
      {"model:\n  d_model: 40\n  num_heads: 8\n  positions: rotary",
       "f:4: model.positions: rotary needs heads of an even size; model.d_model 40 / model.num_heads 8 is 5"},
      {"model:\n  product_form: plain", "f:2: model.product_form: is of product; model.positions is sinusoidal"},
      {"model:\n  convolution_width: 3",
       "f:2: model.convolution_width: is of convolution; model.positions is sinusoidal"},
      {"training:\n  batch_type: tokens\n  batch_size: 100\n  pool_batches: 10",
       "f:4: training.pool_batches: is for batch_type sentences; batches of tokens are sorted by length anyway"},
      {"training:\n  batch_type: tokens\n  batch_size: 100\n  last_batch: drop",
       "f:4: training.last_batch: drop is for batch_type sentences"},
      {"training:\n  adadelta_rho: 0.9", "f:2: training.adadelta_rho: is Adadelta's; training.optimizer is adam"},
      {"training:\n  optimizer: adadelta\n  adam_beta2: 0.9",
       "f:3: training.adam_beta2: is Adam's and RAdam's; training.optimizer is adadelta"},
      {"training:\n  sgd_momentum: 0.5", "f:2: training.sgd_momentum: is SGD's; training.optimizer is adam"},
      {"training:\n  adafactor_clip: 2", "f:2: training.adafactor_clip: is Adafactor's; training.optimizer is adam"},
      {"training:\n  optimizer: adamw\n  weight_decay_form: gradient",
       "f:3: training.weight_decay_form: gradient is what adamw is not; set optimizer adam"},
      {"training:\n  schedule: cosine\n  warmup_steps: 100\n  decay_updates: 100",
       "f:4: training.decay_updates: 100 is not behind training.warmup_steps 100: schedule cosine falls between them"},
      {"training:\n  decay_updates: 100",
       "f:2: training.decay_updates: is of linear, cosine and polynomial; training.schedule is inverse_sqrt"},
      {"training:\n  final_lr: 0.00001",
       "f:2: training.final_lr: is of linear, cosine, polynomial and plateau; training.schedule is inverse_sqrt"},
      {"training:\n  schedule: linear\n  decay_updates: 9000\n  final_lr: 1",
       "f:4: training.final_lr: 1 is above training.lr 0.0003"},
      {"training:\n  polynomial_power: 3",
       "f:2: training.polynomial_power: is of polynomial; training.schedule is inverse_sqrt"},
      {"training:\n  plateau_factor: 0.5",
       "f:2: training.plateau_factor: is of plateau; training.schedule is inverse_sqrt"},
      {"training:\n  halving_every: 0.5",
       "f:2: training.halving_every: is of halving; training.schedule is inverse_sqrt"},
      {"training:\n  schedule: plateau",
       "f:2: training.schedule: plateau looks at validations, but data.eval1 and eval2 are not set"},
      {"training:\n  accumulate_warmup: 10",
       "f:2: training.accumulate_warmup: needs training.accumulate above 1 to rise to"},
      {"training:\n  corpus_weights: [1, 2]\ndata:\n  train_tsv: a",
       "f:2: training.corpus_weights: has 2 weights for 1 training corpora (data.train1, then train_tsv)"},
      {"training:\n  corpus_weights: [0]\ndata:\n  train_tsv: a",
       "f:2: training.corpus_weights: leaves no corpus: all are 0"},
      {"data:\n  keep_best: aligner 0.5",
       "f:2: data.keep_best: scores by the aligner, which data.alignment trains; set it true"},
      {"training:\n  pair_weights: aligner",
       "f:2: training.pair_weights: scores by the aligner, which data.alignment trains; set it true"},
      {"training:\n  augment_upper: 0.6\n  augment_title: 0.5",
       "f:2: training.augment_upper: and training.augment_title are above 1 together; lower one"},
      {"training:\n  augment_title: 0.1\ndata:\n  lowercase: true",
       "f:2: training.augment_title: changes nothing where data.lowercase is true; leave it out"},
      {"training:\n  lora_alpha: 8", "f:2: training.lora_alpha: is for an adapter; set training.lora_rank"},
      {"training:\n  lora_rank: 8",
       "f:2: training.lora_rank: trains an adapter of a model; name the model in training.init_from, or with "
       "--from-model"},
      {"training:\n  lora_rank: 8\n  init_from: m\nmodel:\n  architecture: recurrent",
       "f:2: training.lora_rank: is for Transformers"},
      {"training:\n  lora_rank: 8\n  init_from: m\n  average_best: 2",
       "f:2: training.lora_rank: has no averages: an average of adapters is none of this rank; set "
       "training.ema_decay, average_checkpoints and average_best to 0"},
      {"training:\n  lora_rank: 8\n  init_from: m\n  shard_optimizer: true",
       "f:2: training.lora_rank: leaves an optimizer nothing to share; set training.shard_optimizer false"},
      {"training:\n  init_vocabulary: map",
       "f:2: training.init_vocabulary: maps the rows of a model; name it in training.init_from, or with --from-model"},
      {"training:\n  lora_rank: 8\n  init_from: m\n  init_vocabulary: map",
       "f:2: training.lora_rank: leaves the tables of embeddings as they are; set training.init_vocabulary: same"},
      {"training:\n  unigram_alpha1: 0.1\n  init_from: m\n  init_vocabulary: map",
       "f:2: training.unigram_alpha1: needs a unigram model; data.spm_type is bpe: use training.bpe_dropout1, 2"},
      {"training:\n  init_from: m\nmodel:\n  word_vectors1: v",
       "f:2: training.init_from: brings its embeddings; leave model.word_vectors1 and word_vectors2 out"},
      {"training:\n  rdrop_alpha: 3", "f:2: training.rdrop_alpha: is R-Drop's; training.objective is cross_entropy"},
      {"training:\n  simcut_rate: 0.1", "f:2: training.simcut_rate: is SimCut's; training.objective is cross_entropy"},
      {"training:\n  teacher_weight: 0.7",
       "f:2: training.teacher_weight: is of distillation; training.objective is cross_entropy"},
      {"training:\n  teacher: m", "f:2: training.teacher: is of distillation; training.objective is cross_entropy"},
      {"training:\n  objective: distillation",
       "f:2: training.objective: distillation learns from a model; name its directory in training.teacher"},
      {"training:\n  objective: rdrop\nmodel:\n  dropout_rate: 0",
       "f:2: training.objective: rdrop compares two dropout masks, but nothing is dropped; set model.dropout_rate"},
      {"training:\n  objective: simcut\nmodel:\n  zero_padding_embedding: false",
       "f:2: training.objective: makes embeddings zero by the row of padding: it needs model.zero_padding_embedding "
       "true "
       "and mask_padding_positions false"},
      {"training:\n  word_dropout1: 0.1\n  word_dropout_form: zero\nmodel:\n  mask_padding_positions: true",
       "f:3: training.word_dropout_form: makes embeddings zero by the row of padding: it needs "
       "model.zero_padding_embedding true and mask_padding_positions false"},
      {"training:\n  word_dropout_form: zero",
       "f:2: training.word_dropout_form: is for training.word_dropout1 and word_dropout2, which are 0"},
      {"training:\n  bpe_dropout2: 0.1\ndata:\n  tokenizer: words",
       "f:2: training.bpe_dropout2: needs pieces; data.tokenizer is words"},
      {"training:\n  bpe_dropout1: 0.1\ndata:\n  spm_type: unigram",
       "f:2: training.bpe_dropout1: leaves merges out; data.spm_type is unigram: use training.unigram_alpha1, 2"},
      {"training:\n  unigram_alpha1: 0.1",
       "f:2: training.unigram_alpha1: needs a unigram model; data.spm_type is bpe: use training.bpe_dropout1, 2"},
      {"training:\n  unigram_nbest: 10",
       "f:2: training.unigram_nbest: is for training.unigram_alpha1 and unigram_alpha2, which are 0"},
      {"training:\n  ema_decay: 0.99",
       "f:2: training.ema_decay: is kept where it validates better, but data.eval1 and eval2 are not set"},
      {"training:\n  average_best: 3",
       "f:2: training.average_best: averages validated weights, but data.eval1 and eval2 are not set"},
      {"training:\n  average_best: 3\ndata:\n" + std::string(kEval),
       "f:2: training.average_best: needs a checkpoint at each validation: training.checkpoint_every 0"},
      {"model:\n  deep_init: deepnet\n  norm: pre", "f:2: model.deep_init: deepnet is for model.norm post"},
      {"model:\n  architecture: recurrent\n  deep_init: depth_scaled",
       "f:3: model.deep_init: is the Transformer's; model.architecture is recurrent"},
      {"training:\n  num_epochs: 0",
       "f:2: training.num_epochs: 0, with max_updates, max_minutes and max_target_tokens 0, would train without end; "
       "set a limit (or validation.patience)"},
      {"training:\n  checkpoint_every: 0",
       "f:2: training.checkpoint_every: 0 saves at each validation, but data.eval1 and eval2 are not set"},
      {"data:\n" + std::string(kEval) + "run:\n  naming: kyubyong2019\nvalidation:\n  every: 3",
       "f:5: run.naming: kyubyong2019 names files by the validation at the end of each epoch; set validation.every 0, "
       "or "
       "run.naming plain"},
      {"training:\n  average_checkpoints: 5",
       "f:2: training.average_checkpoints: averages validated weights, but data.eval1 and eval2 are not set"},
      {"training:\n  batch_type: tokens",
       "f:2: training.batch_type: tokens needs training.batch_size; its default 128 counts sentences"},
      {"training:\n  schedule: constant",
       "f:2: training.schedule: constant needs training.warmup_steps; 0 for no warm-up"},
      {"training:\n  checkpointed_blocks: 2",
       "f:2: training.checkpointed_blocks: says of how many blocks gradient_checkpointing is, which is false; set it "
       "to true"},
      {"training:\n  gradient_checkpointing: true\n  checkpointed_blocks: 2\nmodel:\n  architecture: recurrent",
       "f:3: training.checkpointed_blocks: is for Transformers; a recurrent encoder has gradient_checkpointing as a "
       "whole"},
      {"evaluation:\n  tokenized_bleu: [cased, cased]", "f:2: evaluation.tokenized_bleu: cased stands twice"},
      {"evaluation:\n  tokenized_bleu: [as_is, cased]\ndata:\n  target_language: it",
       "f:2: evaluation.tokenized_bleu: the Moses tokenizer here knows de, en and fr; data.target_language is it"},
      {"validation:\n  metrics: [loss, loss]", "f:2: validation.metrics: loss stands twice"},
      {"validation:\n  metrics: []",
       "f:2: validation.metrics: is empty; name loss, bleu or chrf (without data.eval1 and eval2 none is measured)"},
      {"validation:\n  metrics: [loss]", "f:2: validation.best_metric: bleu is not in validation.metrics"},
      {"validation:\n  every: 100",
       "f:2: validation.every: there is nothing to validate on: data.eval1 and eval2 are not set"},
      {"validation:\n  patience: 3",
       "f:2: validation.patience: there is nothing to validate on: data.eval1 and eval2 are not set"},
      {"run:\n  histograms: true\n  tensorboard: false",
       "f:2: run.histograms: are written for TensorBoard; run.tensorboard is false"},
      {"decoding:\n  max_length_ratio: 0\n  max_length_offset: 0",
       "f:3: decoding.max_length_offset: 0, with max_length_ratio 0, leaves no room for a translation"},
      {"decoding:\n  min_length: 9\n  max_length: 9",
       "f:2: decoding.min_length: 9 leaves no room for the end symbol within decoding.max_length 9"},
      {"decoding:\n  diversity_groups: 3", "f:2: decoding.diversity_groups: 3 does not divide decoding.beam_size 4"},
      {"decoding:\n  diversity_strength: 1",
       "f:2: decoding.diversity_strength: is for diverse beam search; set decoding.diversity_groups"},
      {"decoding:\n  shortlist_frequent: 50",
       "f:2: decoding.shortlist_frequent: is for decoding.shortlist, which is 0"},
      {"decoding:\n  top_k: 10", "f:2: decoding.top_k: is for sampling; set decoding.sampling true"},
      {"decoding:\n  sampling: true",
       "f:2: decoding.sampling: draws its tokens and has no beam; decoding.beam_size is 4, set it to 1"},
      {"decoding:\n  sampling: true\n  beam_size: 1\n  coverage_penalty: 0.2",
       "f:4: decoding.coverage_penalty: ranks hypotheses, but samples come as they are drawn; leave one of them out"},
  };
  for (const auto& [yaml, message] : contradictions) {
    EXPECT_EQ(message_of<Error>([&] { parse_config(yaml, "f"); }), message) << yaml;
  }
}

TEST(Consistency, AllowsWhatOnlyLooksLikeAContradiction) {
  const std::string fine[] = {
      "model:\n  d_model: 35\n  num_heads: 5\n  positions: none",
      "model:\n  positions: learned\n  max_positions: 100",
      "model:\n  positions: hierarchical\n  max_positions: 10",
      "model:\n  architecture: recurrent\n  attention_score: location\n  max_positions: 100",
      "data:\n  train_tsv: [a, b]",
      "data:\n  tsv_columns: [2, 4]",
      "data:\n  vocab_size: 261\n  byte_fallback: true",
      "data:\n  spm_model1: a\n  vocab_size: 8",
      "data:\n  joint_vocabulary: false\nmodel:\n  tie_embeddings: target",
      "data:\n  joint_vocabulary: false\n  spm_model1: a\n  spm_model2: b\nmodel:\n  tie_embeddings: none",
      "training:\n  lora_rank: 8\n  lora_alpha: 8\n  init_from: m",
      "training:\n  objective: distillation\n  teacher: m\n  teacher_weight: 0.7",
      "training:\n  init_from: m\n  init_vocabulary: map",
      "training:\n  unigram_alpha1: 0.1\n  init_from: m",
      "training:\n  num_epochs: 0\n  max_minutes: 0.5",
      "training:\n  num_epochs: 0\n  max_target_tokens: 1000000",
      "training:\n  corpus_weights: 2.5\ndata:\n  train_tsv: a",
      "training:\n  pair_weights: aligner\ndata:\n  alignment: true\n  keep_best: dual 0.7",
      "data:\n  keep_best: ''",
      "training:\n  unigram_alpha1: 0.2\ndata:\n  spm_model1: ready",
      "training:\n  guided_alignment: 0.05\n  bpe_dropout1: 0.1\ndata:\n  alignment: true\ndecoding:\n  "
      "alignment_head: 1",
      "training:\n  objective: rdrop\n  word_dropout1: 0.1\nmodel:\n  dropout_rate: 0",
      "training:\n  average_best: 3\n  checkpoint_every: 0\ndata:\n" + std::string(kEval),
      "training:\n  num_epochs: 0\nvalidation:\n  patience: 5\ndata:\n" + std::string(kEval),
      "training:\n  checkpoint_every: 0\n  average_checkpoints: 3\ndata:\n" + std::string(kEval),
      "training:\n  batch_type: tokens\n  batch_size: 128",
      "training:\n  schedule: constant\n  warmup_steps: 0",
      "training:\n  schedule: noam\n  warmup_steps: 0",
      "validation:\n  metrics: [loss]\n  best_metric: loss",
      "decoding:\n  max_length_ratio: 0\n  max_length_offset: 1",
      "decoding:\n  sampling: true\n  beam_size: 1\n  top_p: 0.9",
      "decoding:\n  diversity_groups: 2\n  diversity_strength: 1",
  };
  for (const auto& yaml : fine) EXPECT_NO_THROW(parse_config(yaml, "f")) << yaml;
}

TEST(Consistency, BlamesTheSettingOfTheCommandLine) {
  EXPECT_EQ(message_of<Error>([] { parse_config("model:\n  d_model: 64\n", "f", {"model.num_heads=7"}); }),
            "--set model.num_heads=7: model.num_heads: 7 does not divide model.d_model 64");
}

TEST(Consistency, OfAConfigMadeByCodeNamesItsSource) {
  Config config;
  EXPECT_NO_THROW(check_consistency(config, "model.json"));
  config.model.num_heads = 7;
  EXPECT_EQ(message_of<Error>([&] { check_consistency(config, "model.json"); }),
            "model.json: model.num_heads: 7 does not divide model.d_model 512");
}

}  // namespace
}  // namespace nmt::consistency_test
