#include "config/loading/old_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace nmt {
namespace {

// configs/kyubyong2019_iwslt16.yaml and configs/kyubyong2017_iwslt16.yaml, which say why, without their paths. A test
// compares them.
constexpr const char* kOf2019 = R"(data:
  source_language: de
  target_language: en
  maxlen1: 100
  maxlen2: 100
  drop_empty: false
  tokenizer: sentencepiece
  spm_type: bpe
  vocab_size: 32000
  joint_vocabulary: true
  spm_sentences: 0
  character_coverage: 0.9995
  normalization: nmt_nfkc
model:
  architecture: transformer
  d_model: 512
  d_ff: 2048
  num_blocks: 6
  num_heads: 8
  dropout_rate: 0.3
  residual_dropout_rate: 0
  ffn_dropout_rate: 0
  norm: post
  norm_epsilon: 1.0e-8
  activation: relu
  positions: sinusoidal
  sinusoid: interleaved
  mask_padding_positions: true
  attention_output_projection: false
  attention_bias: true
  qkv_activation: none
  tie_embeddings: all
  output_bias: false
  zero_padding_embedding: true
  embedding_init: xavier
training:
  batch_type: sentences
  batch_size: 128
  num_epochs: 20
  lr: 0.0003
  schedule: inverse_sqrt
  warmup_steps: 4000
  adam_beta1: 0.9
  adam_beta2: 0.999
  adam_epsilon: 1.0e-8
  weight_decay: 0
  clip_norm: 0
  smoothing: 0.1
  checkpoint_every: 0
  keep_checkpoints: 20
validation:
  every: 0
  metrics: [loss, bleu, chrf]
  best_metric: bleu
  beam_size: 1
decoding:
  beam_size: 1
  length_penalty: 0
  max_length_ratio: 0
  max_length_offset: 100
  batch_size: 128
run:
  naming: kyubyong2019
  tensorboard_tags: kyubyong2019
  precision: fp32
)";

constexpr const char* kOf2017 = R"(data:
  source_language: de
  target_language: en
  maxlen1: 10
  maxlen2: 10
  characters: latin
  tokenizer: words
  joint_vocabulary: false
  min_cnt: 20
  vocab_size: 1000000
  count_markup: true
  source_markers: end
model:
  architecture: transformer
  d_model: 512
  d_ff: 2048
  num_blocks: 6
  num_heads: 8
  dropout_rate: 0.1
  residual_dropout_rate: 0
  ffn_dropout_rate: 0
  norm: post
  norm_epsilon: 1.0e-8
  activation: relu
  positions: learned
  max_positions: 10
  position_init: xavier
  mask_padding_positions: true
  attention_output_projection: false
  attention_bias: true
  qkv_activation: relu
  tie_embeddings: none
  output_bias: true
  zero_padding_embedding: true
  embedding_init: xavier
training:
  batch_type: sentences
  batch_size: 32
  last_batch: drop
  num_epochs: 20
  lr: 0.0001
  schedule: constant
  warmup_steps: 0
  adam_beta1: 0.9
  adam_beta2: 0.98
  adam_epsilon: 1.0e-8
  weight_decay: 0
  clip_norm: 0
  smoothing: 0.1
  checkpoint_every: 0
  keep_checkpoints: 20
validation:
  every: 0
  metrics: [loss, bleu, chrf]
  best_metric: bleu
  beam_size: 1
decoding:
  beam_size: 1
  length_penalty: 0
  max_length_ratio: 0
  max_length_offset: 10
  batch_size: 32
evaluation:
  only_within_maxlen: true
  whole_batches: true
run:
  precision: fp32
  naming: kyubyong2017
)";

// Names that only one of the programs has. No option stands at the top level, so one of them is enough.
constexpr std::array<std::string_view, 20> kNamesOf2019{
    "vocab_size", "train1",       "train2",  "eval1",   "eval2",   "eval3", "vocab", "eval_batch_size",
    "evaldir",    "warmup_steps", "maxlen1", "maxlen2", "d_model", "d_ff",  "ckpt",  "test_batch_size",
    "testdir",    "smoothing",    "test1",   "test2"};
constexpr std::array<std::string_view, 8> kNamesOf2017{"source_train", "target_train", "source_test",  "target_test",
                                                       "maxlen",       "min_cnt",      "hidden_units", "sinusoid"};

const Setting* first_of(const std::vector<Setting>& settings, std::span<const std::string_view> names) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& setting) {
    return setting.line > 0 && setting.section.empty() &&
           std::find(names.begin(), names.end(), setting.name) != names.end();
  });
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace

OldProgramSettings settings_of_old_program(const std::vector<Setting>& settings) {
  const Setting* of_2019 = first_of(settings, kNamesOf2019);
  const Setting* of_2017 = first_of(settings, kNamesOf2017);
  OldProgramSettings result;
  if (!of_2019 && !of_2017) return result;
  if (of_2019 && of_2017) {
    result.notice =
        fmt::format("{}: {} is a name of Kyubyong's program of 2017 and {} of that of 2019: neither's model is implied",
                    of_2017->where(), of_2017->name, of_2019->name);
    return result;
  }
  const Setting& sign = of_2019 ? *of_2019 : *of_2017;
  const int year = of_2019 ? 2019 : 2017;
  result.program = of_2019 ? OldProgram::k2019 : OldProgram::k2017;
  result.settings = read_settings(of_2019 ? kOf2019 : kOf2017, fmt::format("Kyubyong's program of {}", year));
  for (auto& setting : result.settings) setting.source = sign.source, setting.line = sign.line;
  result.notice = fmt::format(
      "{}: {} is a name of Kyubyong's program of {}: what is not set is as in configs/kyubyong{}_iwslt16.yaml",
      sign.where(), sign.name, year, year);
  return result;
}

}  // namespace nmt
