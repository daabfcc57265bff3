#include "nn/inference/transformer_encoder.h"

#include <cmath>
#include <vector>

#include "nn/kernels/kernels.h"

namespace nmt::inference {
namespace {

/// Self-attention of sentences, x += attention(y).
void add_attention(const AttentionWeights& weights, std::span<const int64_t> positions,
                   std::span<const int64_t> lengths, const float* y, float* x, Workspace& work) {
  const Arena::Scope scope(work.arena);
  const int64_t tokens = std::ssize(positions), query = weights.query_size(), stride = query + 2 * weights.key_size();
  const int64_t head_dim = weights.head_dim, group = weights.heads / weights.key_value_heads;
  float* together = work.arena.take<float>(tokens * stride);
  multiply(weights.together, y, tokens, together, work, {.activation = weights.activation});
  if (weights.rotation)
    rotate(*weights.rotation, positions, weights.heads + weights.key_value_heads, head_dim, together, stride);
  float* context = work.arena.take<float>(tokens * query);
  std::vector<int64_t> firsts;  // the first token of each sentence
  for (int64_t first = 0; const int64_t length : lengths) {
    firsts.push_back(first);
    first += length;
  }
  // All heads of a sentence at once where each has keys of its own, else those of one group.
  const int64_t groups = group == 1 ? 1 : weights.key_value_heads, heads = group == 1 ? weights.heads : 1;
  share(work.threads, std::ssize(lengths) * groups, 2, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t sentence = i / groups, first = firsts[sentence];
      const kernels::AttentionShape shape{.batch = 1,
                                          .heads = heads,
                                          .target = lengths[sentence],
                                          .source = lengths[sentence],
                                          .head_dim = head_dim,
                                          .query_stride = stride,
                                          .key_stride = stride,
                                          .context_stride = query,
                                          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)))};
      const float* keys = together + first * stride + query + i % groups * head_dim;
      for (int64_t head = 0; head < group; ++head) {
        const int64_t at = (i % groups * group + head) * head_dim;
        kernels::kernels().attention(kernels::Type::kFloat, shape, together + first * stride + at, keys,
                                     keys + weights.key_size(), context + first * query + at, nullptr, 0, heads);
      }
    }
  });
  if (weights.output) return multiply(*weights.output, context, tokens, x, work, {.residual = x});
  for (int64_t i = 0; i < tokens * query; ++i) x[i] += context[i];
}

}  // namespace

void encode(const TransformerWeights& weights, std::span<const int64_t> ids, std::span<const int64_t> lengths, float* x,
            Workspace& work) {
  std::vector<int64_t> positions;
  for (const int64_t length : lengths)
    for (int64_t position = 0; position < length; ++position) positions.push_back(position);
  const int64_t tokens = std::ssize(ids), model = weights.model;
  const auto& stack = weights.encoder;
  embed(stack.input, model, ids, positions, x);
  for (const auto& block : stack.blocks) {
    sublayer(block, block.mixer_norm, x, tokens, model, work, [&](const float* y, float* sum) {
      add_attention(std::get<AttentionWeights>(block.mixer), positions, lengths, y, sum, work);
    });
    sublayer(block, block.feed_forward_norm, x, tokens, model, work,
             [&](const float* y, float* sum) { add_feed_forward(block.feed_forward, y, tokens, sum, work); });
  }
  if (stack.norm.weight) normalise(stack.norm, x, tokens, model, x, work);
}

}  // namespace nmt::inference
