#pragma once

#include <torch/types.h>

#include "models/interface/model.h"
#include "nn/ops/forward_context.h"
#include "text/tokenizer.h"

namespace nmt {

/// Puts `by` in the place of each piece with probability `rate`, one by one; <pad>, <s> and </s> stay. With <unk> it is
/// the word dropout of Bowman et al. 2016; with <pad>, whose embedding is zero, the token cut-off of Shen et al. 2020.
/// The position stays, and the other embeddings are not scaled: Iyyer et al. 2015 leave words out of a bag, Gal and
/// Ghahramani 2016 zero a type wherever it stands, Sennrich and Zhang 2019 zero embeddings and multiply the others by
/// 1 / (1 - rate). ids int64 [batch, width]. A function of (the context's key of this place, index), on every device;
/// ids unchanged outside training or for rate = 0.
torch::Tensor drop_tokens(const torch::Tensor& ids, double rate, int64_t by, ForwardContext& context);

/// Word dropout of what the model reads: training.word_dropout1, word_dropout2 and word_dropout_form.
struct WordDropout {
  double source = 0, target = 0;      ///< shares of pieces
  int64_t by = SpecialIds::kUnknown;  ///< what stands in their places

  /// Replaces source and target_in; the tensors that were there stay as they are.
  void apply(TensorBatch& batch, ForwardContext& context) const;
};

}  // namespace nmt
