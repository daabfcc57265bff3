#include "nn/inference/plain_transformer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
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

/// The tokens of a step, [tokens, rows]: all rows' first ones, then their second ones.
struct TransformerDecoder::Queries {
  int64_t rows = 0, count = 0;
  std::span<const int64_t> positions;
  /// Where the keys of layer 0 stand that a query looks at: those of its hypothesis, and those of its sentence.
  struct Keys {
    std::vector<const void*> rows;  // [count, widest]
    std::vector<int64_t> lengths;
    int64_t widest = 0;
  };
  Keys past, source;
};

TransformerDecoder::TransformerDecoder(std::shared_ptr<const TransformerWeights> weights, std::span<const int64_t> ids,
                                       std::span<const int64_t> lengths, Workspace& work)
    : weights_(std::move(weights)), work_(work) {
  const Arena::Scope scope(work_.arena);
  float* memory = work_.arena.take<float>(std::ssize(ids) * weights_->model);
  encode(*weights_, ids, lengths, memory, work_);
  start_sources(memory, lengths);
  const auto& blocks = weights_->decoder.blocks;
  if (const auto* attention = blocks.empty() ? nullptr : std::get_if<AttentionWeights>(&blocks.front().mixer))
    past_.emplace(std::ssize(blocks), 2 * attention->key_size(), attention->kept, rows());
  else
    states_.assign(blocks.size(), std::vector<float>(rows() * weights_->model));
}

void TransformerDecoder::start_sources(const float* memory, std::span<const int64_t> lengths) {
  const auto& blocks = weights_->decoder.blocks;
  const int64_t layers = std::ssize(blocks);
  int64_t tokens = 0;
  for (const int64_t length : lengths) tokens += length;
  std::vector<std::byte*> sources;
  for (const int64_t length : lengths) {
    const auto& attention = *blocks.front().cross_attention;
    const int64_t bytes = length * layers * 2 * attention.key_size() * bytes_of(attention.kept);
    std::shared_ptr<std::byte[]> source = std::make_unique_for_overwrite<std::byte[]>(bytes);
    sources.push_back(source.get());
    rows_.push_back({.position = 0, .source = std::move(source), .source_length = length});
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Arena::Scope scope(work_.arena);
    const auto& attention = *blocks[layer].cross_attention;
    const int64_t features = 2 * attention.key_size(), bytes = features * bytes_of(attention.kept);
    float* keys = work_.arena.take<float>(tokens * features);
    multiply(attention.together, memory, tokens, keys, work_, {.activation = attention.activation});
    for (size_t sentence = 0; sentence < lengths.size(); ++sentence) {
      for (int64_t i = 0; i < lengths[sentence]; ++i, keys += features)
        store_as(attention.kept, keys, features, sources[sentence] + (i * layers + layer) * bytes);
    }
  }
}

void TransformerDecoder::select(std::span<const int64_t> rows) {
  std::vector<Row> selected;
  for (const int64_t row : rows) selected.push_back(rows_[row]);
  rows_ = std::move(selected);
  if (past_) past_->select(rows);
  const int64_t model = weights_->model;
  for (auto& state : states_) {
    std::vector<float> moved(rows.size() * model);
    for (size_t r = 0; r < rows.size(); ++r)
      std::copy_n(state.begin() + rows[r] * model, model, moved.begin() + static_cast<int64_t>(r) * model);
    state = std::move(moved);
  }
}

void TransformerDecoder::join(TransformerDecoder&& other) {
  std::ranges::move(other.rows_, std::back_inserter(rows_));
  if (past_) past_->join(std::move(*other.past_));
  for (size_t i = 0; i < states_.size(); ++i) std::ranges::copy(other.states_[i], std::back_inserter(states_[i]));
}

void TransformerDecoder::feed(std::span<const int64_t> tokens) {
  const Arena::Scope scope(work_.arena);
  const int64_t n = std::ssize(tokens) / rows(), model = weights_->model;
  Queries queries{.rows = rows(), .count = std::ssize(tokens), .positions = {}, .past = {}, .source = {}};
  std::vector<int64_t> ids, positions;
  for (int64_t token = 0; token < n; ++token) {
    for (int64_t row = 0; row < rows(); ++row) {
      ids.push_back(tokens[row * n + token]);
      positions.push_back(rows_[row].position + token);
    }
  }
  queries.positions = positions;
  const auto of_row = [&](int64_t query) -> const Row& { return rows_[query % rows()]; };
  const auto list = [&](Queries::Keys& keys, auto&& length_of, auto&& key_at) {
    for (int64_t query = 0; query < queries.count; ++query) keys.lengths.push_back(length_of(query));
    keys.widest = *std::ranges::max_element(keys.lengths);
    keys.rows.resize(queries.count * keys.widest);
    for (int64_t query = 0; query < queries.count; ++query)
      for (int64_t i = 0; i < keys.lengths[query]; ++i) keys.rows[query * keys.widest + i] = key_at(query, i);
  };
  const auto& blocks = weights_->decoder.blocks;
  if (past_) {
    past_->append(n);
    list(
        queries.past, [&](int64_t query) { return positions[query] + 1; },
        [&](int64_t query, int64_t i) { return past_->at(query % rows(), i); });
  }
  if (!blocks.empty()) {
    const auto& attention = *blocks.front().cross_attention;
    const int64_t bytes = std::ssize(blocks) * 2 * attention.key_size() * bytes_of(attention.kept);
    list(
        queries.source, [&](int64_t query) { return of_row(query).source_length; },
        [&](int64_t query, int64_t i) { return of_row(query).source.get() + i * bytes; });
  }
  hidden_.resize(queries.count * model);
  float* x = hidden_.data();
  embed(weights_->decoder.input, model, ids, positions, x);
  for (int64_t layer = 0; layer < std::ssize(blocks); ++layer) {
    const auto& block = blocks[layer];
    sublayer(block, block.mixer_norm, x, queries.count, model, work_, [&](const float* y, float* sum) {
      if (const auto* attention = std::get_if<AttentionWeights>(&block.mixer))
        add_self_attention(*attention, layer, queries, y, sum);
      else if (const auto* average = std::get_if<AverageWeights>(&block.mixer))
        add_average(*average, layer, queries, y, sum);
      else
        add_ssru(std::get<SsruWeights>(block.mixer), layer, queries, y, sum);
    });
    sublayer(block, block.cross_attention_norm, x, queries.count, model, work_,
             [&](const float* y, float* sum) { add_cross_attention(*block.cross_attention, layer, queries, y, sum); });
    sublayer(block, block.feed_forward_norm, x, queries.count, model, work_,
             [&](const float* y, float* sum) { add_feed_forward(block.feed_forward, y, queries.count, sum, work_); });
  }
  if (weights_->decoder.norm.weight) normalise(weights_->decoder.norm, x, queries.count, model, x, work_);
  for (auto& row : rows_) row.position += n;
}

std::span<float> TransformerDecoder::logits(int64_t token) {
  logits_.resize(rows() * weights_->output.weight.out);
  multiply(weights_->output, hidden(token), rows(), logits_.data(), work_);
  return logits_;
}

void TransformerDecoder::add_self_attention(const AttentionWeights& weights, int64_t layer, const Queries& queries,
                                            const float* y, float* x) {
  const Arena::Scope scope(work_.arena);
  const int64_t query = weights.query_size(), features = 2 * weights.key_size(), stride = query + features;
  float* together = work_.arena.take<float>(queries.count * stride);
  multiply(weights.together, y, queries.count, together, work_, {.activation = weights.activation});
  if (weights.rotation)
    rotate(*weights.rotation, queries.positions, weights.heads + weights.key_value_heads, weights.head_dim, together,
           stride);
  const int64_t offset = layer * past_->layer_stride();
  for (int64_t i = 0; i < queries.count; ++i)
    store_as(weights.kept, together + i * stride + query, features,
             past_->at(i % queries.rows, queries.positions[i]) + offset * bytes_of(weights.kept));
  add_attention(weights, together, stride, queries, /*of_source=*/false, offset, x);
}

void TransformerDecoder::add_cross_attention(const AttentionWeights& weights, int64_t layer, const Queries& queries,
                                             const float* y, float* x) {
  const Arena::Scope scope(work_.arena);
  float* q = work_.arena.take<float>(queries.count * weights.query_size());
  multiply(*weights.query, y, queries.count, q, work_, {.activation = weights.activation});
  add_attention(weights, q, weights.query_size(), queries, /*of_source=*/true, layer * 2 * weights.key_size(), x);
}

void TransformerDecoder::add_attention(const AttentionWeights& weights, const float* q, int64_t stride,
                                       const Queries& queries, bool of_source, int64_t key_offset, float* x) {
  const auto& keys = of_source ? queries.source : queries.past;
  const int64_t size = queries.count * weights.query_size();
  float* context = work_.arena.take<float>(size);
  const kernels::AttentionStep step{
      .type = weights.kept,
      .heads = weights.heads,
      .key_value_heads = weights.key_value_heads,
      .head_dim = weights.head_dim,
      .q = q,
      .query_stride = stride,
      .keys = keys.rows.data(),
      .widest = keys.widest,
      .lengths = keys.lengths.data(),
      .key_offset = key_offset,
      .value_offset = weights.key_size(),
      .context = context,
      .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(weights.head_dim)))};
  share(work_.threads, queries.count * weights.heads, 32, [&](int64_t begin, int64_t end) noexcept {
    kernels::kernels().attention_step(step, {begin, end});
  });
  if (weights.output) return multiply(*weights.output, context, queries.count, x, work_, {.residual = x});
  for (int64_t i = 0; i < size; ++i) x[i] += context[i];
}

void TransformerDecoder::add_average(const AverageWeights& weights, int64_t layer, const Queries& queries,
                                     const float* y, float* x) {
  const Arena::Scope scope(work_.arena);
  const int64_t model = weights_->model;
  float* means = work_.arena.take<float>(queries.count * model);
  for (int64_t i = 0; i < queries.count; ++i) {
    float* const sums = states_[layer].data() + i % queries.rows * model;
    const auto count = static_cast<float>(queries.positions[i] + 1);
    for (int64_t k = i * model; k < (i + 1) * model; ++k) means[k] = (sums[k - i * model] += y[k]) / count;
  }
  float* g = work_.arena.take<float>(queries.count * model);
  feed_forward(weights.feed_forward, means, queries.count, g, work_);
  float* both = work_.arena.take<float>(queries.count * 2 * model);
  for (int64_t i = 0; i < queries.count; ++i) {
    std::copy_n(y + i * model, model, both + 2 * i * model);
    std::copy_n(g + i * model, model, both + (2 * i + 1) * model);
  }
  float* gates = work_.arena.take<float>(queries.count * 2 * model);
  multiply(weights.gate, both, queries.count, gates, work_, {.activation = Activation::kSigmoid});
  for (int64_t i = 0; i < queries.count; ++i) {
    for (int64_t k = 0; k < model; ++k) {
      const int64_t at = i * model + k, gate = 2 * i * model + k;
      x[at] = (gates[gate] * y[at] + gates[gate + model] * g[at]) + x[at];
    }
  }
}

void TransformerDecoder::add_ssru(const SsruWeights& weights, int64_t layer, const Queries& queries, const float* y,
                                  float* x) {
  const Arena::Scope scope(work_.arena);
  const int64_t model = weights_->model;
  float* const forget = work_.arena.take<float>(queries.count * model);
  multiply(weights.forget, y, queries.count, forget, work_, {.activation = Activation::kSigmoid});
  float* const fresh = work_.arena.take<float>(queries.count * model);
  multiply(weights.input, y, queries.count, fresh, work_);
  float* const states = states_[layer].data();
  const int64_t of_rows = queries.rows * model;
  share(work_.threads, of_rows, 8192, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t step = 0; step < queries.count * model; step += of_rows) {
      for (int64_t k = begin; k < end; ++k) {
        const float c = states[k] = (1 - forget[step + k]) * fresh[step + k] + forget[step + k] * states[k];
        x[step + k] = (c < 0 ? 0 : c) + x[step + k];
      }
    }
  });
}

}  // namespace nmt::inference
