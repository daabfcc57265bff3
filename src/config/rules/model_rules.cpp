#include "config/rules/model_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace nmt {
namespace {

class ModelRules : public RuleChecker {
 public:
  explicit ModelRules(const RuleChecker& checker) : RuleChecker(checker) {}
  void check_model() const;

 private:
  void check_recurrent() const;
  void check_window() const;
  void check_transformer() const;
};

void ModelRules::check_model() const {
  const ModelConfig& model = config_.model;
  if (model.tie_embeddings == TiedEmbeddings::kAll && !config_.data.joint_vocabulary) {
    refuse({"data.joint_vocabulary", "model.tie_embeddings"},
           "false does not go with model.tie_embeddings all: two vocabularies cannot share a matrix; choose target or "
           "none");
  }
  model.architecture == Architecture::kRecurrent ? check_recurrent() : check_transformer();
}

void ModelRules::check_recurrent() const {
  refuse_changed({"model.d_ff",
                  "model.num_heads",
                  "model.norm",
                  "model.final_norm",
                  "model.norm_epsilon",
                  "model.norm_form",
                  "model.activation",
                  "model.positions",
                  "model.sinusoid",
                  "model.max_relative_distance",
                  "model.relative_buckets",
                  "model.position_init",
                  "model.product_form",
                  "model.convolution_width",
                  "model.mask_padding_positions",
                  "model.attention_output_projection",
                  "model.qkv_activation",
                  "model.key_value_heads",
                  "model.decoder_mixer",
                  "model.ffn_dropout_rate",
                  "model.deep_init"},
                 "is the Transformer's; model.architecture is recurrent");
  const ModelConfig& model = config_.model;
  if (model.initial_state == InitialState::kBackward && !model.bidirectional) {
    refuse({"model.initial_state", "model.bidirectional"}, "backward needs model.bidirectional true");
  }
  if (model.readout_state == ReadoutState::kPrevious && model.decoder_order != DecoderOrder::kBahdanau) {
    refuse({"model.readout_state", "model.decoder_order"}, "previous is for model.decoder_order bahdanau");
  }
  if (model.coverage && model.attention_score != AttentionScoreKind::kAdditive) {
    refuse({"model.coverage", "model.attention_score"},
           fmt::format("is part of the additive score; model.attention_score is {}", model.attention_score.name()));
  }
  if (model.attention_score == AttentionScoreKind::kLocation && model.max_positions < config_.data.maxlen1) {
    refuse({"model.max_positions", "model.attention_score", "data.maxlen1"},
           fmt::format("{} places of the location score are fewer than data.maxlen1 allows ({})", model.max_positions,
                       config_.data.maxlen1));
  }
  check_window();
}

void ModelRules::check_window() const {
  const ModelConfig& model = config_.model;
  const auto window = model.attention_window;
  if (window == AttentionWindow::kNone) return;
  if (model.attention_score == AttentionScoreKind::kNone)
    refuse({"model.attention_window", "model.attention_score"},
           fmt::format("{} is a part of attention; model.attention_score is none", window.name()));
  if (window == AttentionWindow::kMonotonic && config_.data.reverse_source)
    refuse({"data.reverse_source", "model.attention_window"},
           "turns the order round that model.attention_window monotonic follows; leave one of them out");
  if (model.attention_score == AttentionScoreKind::kLocal && window == AttentionWindow::kMonotonic)
    refuse({"model.attention_window", "model.attention_score"},
           "monotonic does not go with model.attention_score local, whose window is predictive; use general");
}

void ModelRules::check_transformer() const {
  const ModelConfig& model = config_.model;
  refuse_changed(
      {"model.cell", "model.bidirectional", "model.embedding_size", "model.encoder_size", "model.attention_size",
       "model.decoder_order", "model.input_feeding", "model.initial_state", "model.readout", "model.readout_size",
       "model.readout_state", "model.coverage", "model.attention_window", "model.local_window", "model.recurrent_init",
       "model.attention_init", "training.teacher_forcing", "validation.teacher_forcing"},
      "is for recurrent models; set model.architecture recurrent");
  for (const auto score : {AttentionScoreKind::kLocation, AttentionScoreKind::kLocal, AttentionScoreKind::kNone})
    if (model.attention_score == score)
      refuse({"model.attention_score"},
             fmt::format("{} is for recurrent models; set model.architecture recurrent", name_of(score)));
  if (model.key_value_heads > 0 && model.num_heads % model.key_value_heads != 0) {
    refuse({"model.key_value_heads", "model.num_heads"},
           fmt::format("{} does not divide model.num_heads {}", model.key_value_heads, model.num_heads));
  }
  if (model.deep_init == DeepInitKind::kDeepNet && model.norm != Norm::kPost) {
    refuse({"model.deep_init", "model.norm"}, "deepnet is for model.norm post");
  }
  if (model.d_model % model.num_heads != 0) {
    refuse({"model.num_heads", "model.d_model"},
           fmt::format("{} does not divide model.d_model {}", model.num_heads, model.d_model));
  }
  if (model.positions == PositionKind::kSinusoidal && model.d_model % 2 != 0) {
    refuse({"model.d_model", "model.positions"},
           fmt::format("{} is odd; model.positions sinusoidal needs pairs of features", model.d_model));
  }
  if (model.positions != PositionKind::kProduct)
    refuse_changed({"model.product_form"}, "is of product; model.positions is " + model.positions.name());
  if (model.positions != PositionKind::kConvolution)
    refuse_changed({"model.convolution_width"}, "is of convolution; model.positions is " + model.positions.name());
  const int64_t longest = std::max(config_.data.maxlen1, config_.data.maxlen2);
  if ((model.positions == PositionKind::kLearned || model.positions == PositionKind::kProduct) &&
      model.max_positions < longest) {
    refuse({"model.max_positions", "model.positions", "data.maxlen1", "data.maxlen2"},
           fmt::format("{} learned positions are fewer than data.maxlen1 and maxlen2 allow ({})", model.max_positions,
                       longest));
  }
  if (model.positions == PositionKind::kHierarchical && model.max_positions < longest &&
      model.max_positions * model.max_positions < longest) {
    refuse({"model.max_positions", "model.positions", "data.maxlen1", "data.maxlen2"},
           fmt::format("{} make {} hierarchical positions, fewer than data.maxlen1 and maxlen2 allow ({})",
                       model.max_positions, model.max_positions * model.max_positions, longest));
  }
  if (model.positions == PositionKind::kRotary && model.d_model / model.num_heads % 2 != 0) {
    refuse({"model.positions", "model.num_heads", "model.d_model"},
           fmt::format("rotary needs heads of an even size; model.d_model {} / model.num_heads {} is {}", model.d_model,
                       model.num_heads, model.d_model / model.num_heads));
  }
}

}  // namespace

void check_model_rules(const RuleChecker& checker) {
  const ModelRules rules(checker);
  rules.check_model();
}

}  // namespace nmt
