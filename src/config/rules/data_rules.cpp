#include "config/rules/data_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

#include "config/languages.h"

namespace nmt {
namespace {

void check_texts(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  if (data.train1.size() != data.train2.size()) {
    rules.refuse({"data.train1", "data.train2"},
                 fmt::format("has {} files, data.train2 {}; each source file needs its target file (one that holds "
                             "both sides stands in both)",
                             data.train1.size(), data.train2.size()));
  }
  if (const auto& columns = data.tsv_columns; !columns.empty() && (columns.size() != 2 || columns[0] == columns[1]))
    rules.refuse({"data.tsv_columns"}, "names two different columns, of the source and the target: [2, 4]");
  if (data.eval1.empty() != data.eval2.empty()) {
    if (data.eval2.empty()) rules.refuse({"data.eval1"}, "is set without data.eval2, its reference");
    rules.refuse({"data.eval2"}, "is set without data.eval1, its source");
  }
  if (data.test1.empty() != data.test2.empty()) {
    if (data.test2.empty()) rules.refuse({"data.test1"}, "is set without data.test2, its reference");
    rules.refuse({"data.test2"}, "is set without data.test1, its source");
  }
  if (!data.eval.empty() && !data.eval1.empty())
    rules.refuse({"data.eval", "data.eval1"},
                 "stands beside data.eval1 and eval2; write that set into the list, or leave one out");
  if (!data.test.empty() && !data.test1.empty())
    rules.refuse({"data.test", "data.test1"},
                 "stands beside data.test1 and test2; write that set into the list, or leave one out");
}

void check_languages(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  const size_t corpora = data.train1.size() + data.train_tsv.size();
  if (!data.languages.empty() && data.languages.size() != corpora)
    rules.refuse({"data.languages"}, fmt::format("has {} pairs of languages for {} training corpora (data.train1, then "
                                                 "train_tsv)",
                                                 data.languages.size(), corpora));
  if (data.tags == LanguageTags::kNone || corpora == 0) return;
  if (data.tokenizer == TokenizerKind::kWords)
    rules.refuse({"data.tags", "data.tokenizer"}, "are SentencePiece's; data.tokenizer is words");
  if (!data.source_prefix.empty())
    rules.refuse({"data.tags", "data.source_prefix"}, "stand where data.source_prefix does; leave one of them out");
  const auto targets = tagged_languages(data);
  const bool is_learnt = data.spm_model1.empty() && !has_initial_vocabulary(rules.config.training);
  if (is_learnt && targets.size() < 2)
    rules.refuse(
        {"data.tags", "data.languages"},
        "are for several target languages; name those of the corpora in data.languages, or leave the tags out");
  if (!is_learnt) return;
  for (const auto& sets : {validation_sets(data), test_sets(data)})
    for (const auto& set : sets)
      if (const auto target = of_set(data, set.text).target_language;
          std::ranges::find(targets, target) == targets.end())
        rules.refuse({set.source_option.c_str(), "data.tags"},
                     fmt::format("{} is a set into {}, which no training corpus has; write {{name: ..., languages: "
                                 "de-en, ...}} in data.eval and data.test",
                                 set.text.source, target));
}

void check_cleaning(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  if (data.drop_test_overlap && data.eval1.empty() && data.test1.empty() && data.eval.empty() && data.test.empty()) {
    rules.refuse({"data.drop_test_overlap"},
                 "has nothing to compare with: set data.eval1 and eval2, or data.test1 and test2");
  }
  for (const auto& name : data.uncleaned)
    if (corpora_named(data, name).empty())
      rules.refuse({"data.uncleaned"},
                   fmt::format("{} names no training corpus; give the name of a file of data.train1 "
                               "or train_tsv up to its first dot; --clean takes no data.uncleaned",
                               name));
  if (data.max_length_ratio > 0 && data.max_length_ratio < 1) {
    rules.refuse({"data.max_length_ratio"}, "is the longer side over the shorter: at least 1, or 0 for no limit");
  }
}

void check_words(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  rules.refuse_changed({"data.spm_type", "data.spm_model1", "data.spm_model2", "data.spm_sentences", "data.spm_upper",
                        "data.character_coverage", "data.byte_fallback", "data.user_symbols", "data.normalization"},
                       "is SentencePiece's; data.tokenizer is words");
  if (data.joint_vocabulary && !data.vocabulary2.empty()) {
    rules.refuse({"data.vocabulary2"},
                 "does not go with data.joint_vocabulary; a joint vocabulary is data.vocabulary1 alone");
  }
  if (!data.joint_vocabulary && data.vocabulary1.empty() != data.vocabulary2.empty()) {
    rules.refuse({data.vocabulary1.empty() ? "data.vocabulary2" : "data.vocabulary1"},
                 "two vocabularies need both data.vocabulary1 and data.vocabulary2, or neither");
  }
}

void check_ready_models(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  if (data.joint_vocabulary && !data.spm_model2.empty()) {
    rules.refuse({"data.spm_model2"}, "does not go with data.joint_vocabulary; a joint model is data.spm_model1 alone");
  }
  if (!data.joint_vocabulary && data.spm_model1.empty() != data.spm_model2.empty()) {
    rules.refuse({data.spm_model1.empty() ? "data.spm_model2" : "data.spm_model1"},
                 "two vocabularies need both data.spm_model1 and data.spm_model2, or neither");
  }
  if (!data.user_symbols.empty()) {
    rules.refuse({"data.user_symbols"}, "cannot be added to the ready model data.spm_model1; leave one of them out");
  }
  if (data.byte_fallback) {
    rules.refuse({"data.byte_fallback"}, "cannot be added to the ready model data.spm_model1; leave one of them out");
  }
}

void check_vocabulary(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  std::set<std::string> symbols;
  for (const auto& symbol : data.user_symbols) {
    if (std::ranges::find(kSpecialPieces, symbol) != kSpecialPieces.end())
      rules.refuse({"data.user_symbols"}, fmt::format("{} is in every vocabulary", symbol));
    if (!symbols.insert(symbol).second) rules.refuse({"data.user_symbols"}, fmt::format("'{}' stands twice", symbol));
  }
  if (data.tokenizer == TokenizerKind::kWords) return check_words(rules);
  rules.refuse_changed({"data.min_cnt", "data.word_ties", "data.vocabulary1", "data.vocabulary2", "data.count_markup"},
                       "is for word vocabularies; set data.tokenizer words");
  const bool is_learnt = data.spm_model1.empty() && data.spm_model2.empty();
  const int64_t fixed_pieces =
      fixed_piece_count(std::ssize(symbols) + std::ssize(tagged_languages(data)), data.byte_fallback);
  if (is_learnt && data.vocab_size <= fixed_pieces) {
    rules.refuse({"data.vocab_size", "data.byte_fallback", "data.user_symbols"},
                 fmt::format("{} leaves no room for pieces beside the {} fixed ones (special, data.user_symbols, "
                             "data.byte_fallback's bytes)",
                             data.vocab_size, fixed_pieces));
  }
  if (!is_learnt) check_ready_models(rules);
}

// His program has pieces, and one vocabulary of them.
void check_naming(const RuleChecker& rules) {
  const DataConfig& data = rules.config.data;
  if (data.naming == DataNaming::kPlain) return;
  if (data.tokenizer == TokenizerKind::kSentencePiece && data.joint_vocabulary) return;
  rules.refuse({"data.naming", "data.tokenizer", "data.joint_vocabulary"},
               "kyubyong2019 writes files of one SentencePiece vocabulary: data.tokenizer sentencepiece, "
               "data.joint_vocabulary true; or set data.naming plain");
}

}  // namespace

int64_t fixed_piece_count(int64_t user_symbols, bool byte_fallback) {
  return std::ssize(kSpecialPieces) + user_symbols + (byte_fallback ? 256 : 0);
}

void check_data_rules(const RuleChecker& rules) {
  check_texts(rules);
  check_languages(rules);
  check_cleaning(rules);
  check_vocabulary(rules);
  check_naming(rules);
}

namespace {

void check_window(const RuleChecker& rules) {
  const ModelConfig& model = rules.config.model;
  const auto window = model.attention_window;
  if (window == AttentionWindow::kNone) return;
  if (model.attention_score == AttentionScoreKind::kNone)
    rules.refuse({"model.attention_window", "model.attention_score"},
                 fmt::format("{} is a part of attention; model.attention_score is none", window.name()));
  if (window == AttentionWindow::kMonotonic && rules.config.data.reverse_source)
    rules.refuse({"data.reverse_source", "model.attention_window"},
                 "turns the order round that model.attention_window monotonic follows; leave one of them out");
  if (model.attention_score == AttentionScoreKind::kLocal && window == AttentionWindow::kMonotonic)
    rules.refuse({"model.attention_window", "model.attention_score"},
                 "monotonic does not go with model.attention_score local, whose window is predictive; use general");
}

void check_recurrent(const RuleChecker& rules) {
  rules.refuse_changed({"model.d_ff",
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
  const ModelConfig& model = rules.config.model;
  if (model.initial_state == InitialState::kBackward && !model.bidirectional) {
    rules.refuse({"model.initial_state", "model.bidirectional"}, "backward needs model.bidirectional true");
  }
  if (model.readout_state == ReadoutState::kPrevious && model.decoder_order != DecoderOrder::kBahdanau) {
    rules.refuse({"model.readout_state", "model.decoder_order"}, "previous is for model.decoder_order bahdanau");
  }
  if (model.coverage && model.attention_score != AttentionScoreKind::kAdditive) {
    rules.refuse(
        {"model.coverage", "model.attention_score"},
        fmt::format("is part of the additive score; model.attention_score is {}", model.attention_score.name()));
  }
  if (model.attention_score == AttentionScoreKind::kLocation && model.max_positions < rules.config.data.maxlen1) {
    rules.refuse({"model.max_positions", "model.attention_score", "data.maxlen1"},
                 fmt::format("{} places of the location score are fewer than data.maxlen1 allows ({})",
                             model.max_positions, rules.config.data.maxlen1));
  }
  check_window(rules);
}

void check_transformer(const RuleChecker& rules) {
  const ModelConfig& model = rules.config.model;
  rules.refuse_changed(
      {"model.cell", "model.bidirectional", "model.embedding_size", "model.encoder_size", "model.attention_size",
       "model.decoder_order", "model.input_feeding", "model.initial_state", "model.readout", "model.readout_size",
       "model.readout_state", "model.coverage", "model.attention_window", "model.local_window", "model.recurrent_init",
       "model.attention_init", "training.teacher_forcing", "validation.teacher_forcing"},
      "is for recurrent models; set model.architecture recurrent");
  for (const auto score : {AttentionScoreKind::kLocation, AttentionScoreKind::kLocal, AttentionScoreKind::kNone})
    if (model.attention_score == score)
      rules.refuse({"model.attention_score"},
                   fmt::format("{} is for recurrent models; set model.architecture recurrent", name_of(score)));
  if (model.key_value_heads > 0 && model.num_heads % model.key_value_heads != 0) {
    rules.refuse({"model.key_value_heads", "model.num_heads"},
                 fmt::format("{} does not divide model.num_heads {}", model.key_value_heads, model.num_heads));
  }
  if (model.deep_init == DeepInitKind::kDeepNet && model.norm != Norm::kPost) {
    rules.refuse({"model.deep_init", "model.norm"}, "deepnet is for model.norm post");
  }
  if (model.d_model % model.num_heads != 0) {
    rules.refuse({"model.num_heads", "model.d_model"},
                 fmt::format("{} does not divide model.d_model {}", model.num_heads, model.d_model));
  }
  if (model.positions == PositionKind::kSinusoidal && model.d_model % 2 != 0) {
    rules.refuse({"model.d_model", "model.positions"},
                 fmt::format("{} is odd; model.positions sinusoidal needs pairs of features", model.d_model));
  }
  if (model.positions != PositionKind::kProduct)
    rules.refuse_changed({"model.product_form"}, "is of product; model.positions is " + model.positions.name());
  if (model.positions != PositionKind::kConvolution)
    rules.refuse_changed({"model.convolution_width"},
                         "is of convolution; model.positions is " + model.positions.name());
  const int64_t longest = std::max(rules.config.data.maxlen1, rules.config.data.maxlen2);
  if ((model.positions == PositionKind::kLearned || model.positions == PositionKind::kProduct) &&
      model.max_positions < longest) {
    rules.refuse({"model.max_positions", "model.positions", "data.maxlen1", "data.maxlen2"},
                 fmt::format("{} learned positions are fewer than data.maxlen1 and maxlen2 allow ({})",
                             model.max_positions, longest));
  }
  if (model.positions == PositionKind::kHierarchical && model.max_positions < longest &&
      model.max_positions * model.max_positions < longest) {
    rules.refuse({"model.max_positions", "model.positions", "data.maxlen1", "data.maxlen2"},
                 fmt::format("{} make {} hierarchical positions, fewer than data.maxlen1 and maxlen2 allow ({})",
                             model.max_positions, model.max_positions * model.max_positions, longest));
  }
  if (model.positions == PositionKind::kRotary && model.d_model / model.num_heads % 2 != 0) {
    rules.refuse({"model.positions", "model.num_heads", "model.d_model"},
                 fmt::format("rotary needs heads of an even size; model.d_model {} / model.num_heads {} is {}",
                             model.d_model, model.num_heads, model.d_model / model.num_heads));
  }
}

void check_model(const RuleChecker& rules) {
  const ModelConfig& model = rules.config.model;
  if (model.tie_embeddings == TiedEmbeddings::kAll && !rules.config.data.joint_vocabulary) {
    rules.refuse(
        {"data.joint_vocabulary", "model.tie_embeddings"},
        "false does not go with model.tie_embeddings all: two vocabularies cannot share a matrix; choose target or "
        "none");
  }
  model.architecture == Architecture::kRecurrent ? check_recurrent(rules) : check_transformer(rules);
}

}  // namespace

void check_model_rules(const RuleChecker& rules) { check_model(rules); }

}  // namespace nmt
