// A kernel set: everything stands in a namespace of its own, compiled for one instruction set alone.
#include "nn/kernels/attention_impl.h"
#include "nn/kernels/dropout_impl.h"
#include "nn/kernels/instruction_set.h"
#include "nn/kernels/logits_impl.h"
#include "nn/kernels/normalise_impl.h"
#include "nn/kernels/recurrent_cell_impl.h"
#include "nn/kernels/recurrent_scores_impl.h"

namespace nmt::kernels::NMT_KERNEL_SET {

extern const Kernels kSet;
const Kernels kSet = {NMT_KERNEL_NAME,
                      dropout,
                      relu_dropout,
                      relu_dropout_backward,
                      attention,
                      attention_backward,
                      attention_step,
                      cross_entropy,
                      cross_entropy_pairs,
                      normalise,
                      logit_rows,
                      sigmoid,
                      {cell, cell_backward, additive_scores, additive_scores_backward, dot_scores, weighted_sums,
                       weighted_sums_of_queries, softmax_scores}};

}  // namespace nmt::kernels::NMT_KERNEL_SET
