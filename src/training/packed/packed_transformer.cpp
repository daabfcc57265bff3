#include "training/packed/packed_transformer.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "nn/positions/table_positions.h"

namespace nmt {
namespace {

constexpr int64_t kMostPositions = 128;  // no sentence is longer than a tile
// Programs that add up columns. Their numbers are part of a result's bits.
constexpr int64_t kNormPrograms = 264, kSumPrograms = 66;

torch::Tensor multiply(const torch::Tensor& x, const PackedMap& map) {
  return map.bias.defined() ? at::addmm(map.bias, x, map.weight.t()) : at::mm(x, map.weight.t());
}

}  // namespace

void add_product(torch::Tensor sum, const torch::Tensor& dy, const torch::Tensor& x) {
  if (x.scalar_type() == sum.scalar_type())
    sum.addmm_(dy.t(), x);
  else if (x.is_cuda())
    at::addmm_out(sum, sum, dy.t(), x, sum.scalar_type());
  else
    sum.add_(at::mm(dy.t(), x));  // only CUDA has the product of 16 bits with a sum of 32
}

// Forward and backward of one batch. What the backward pass needs of the forward pass stands on tapes, which it takes
// down from their ends.
class PackedTransformer::Pass {
 public:
  Pass(PackedTransformer& model, const PackedBatch& batch)
      : model_(model),
        operations_(model.operations_),
        batch_(batch),
        is_pre_(model.config_.norm == Norm::kPre),
        half_(model.weights_.copies().options()),
        exact_(model.weights_.weights().options()),
        parts_(at::empty({model.parts_}, exact_)) {}

  torch::Tensor run() {
    Tape of_encoder, of_decoder;
    const auto memory = run(model_.encoder_, batch_.source, batch_.source_tiles, of_encoder);
    keys_ = multiply(memory, model_.source_keys_);
    const auto hidden = run(model_.decoder_, batch_.target, batch_.target_tiles, of_decoder);
    key_gradients_ = at::empty_like(keys_);

    torch::Tensor sums;
    auto dhidden = loss(hidden, sums);
    go_back(model_.decoder_, batch_.target, batch_.target_tiles, of_decoder, dhidden);
    add_bias_parts(key_gradients_, model_.source_keys_);
    add_product(model_.source_keys_.weight_gradient, key_gradients_, memory);
    go_back(model_.encoder_, batch_.source, batch_.source_tiles, of_encoder,
            at::mm(key_gradients_, model_.source_keys_.weight));

    auto vectors = at::zeros_like(model_.weights_.vector_gradients());
    operations_.sum_parts(parts_, model_.sum_places_, vectors);
    model_.weights_.vector_gradients().add_(vectors);
    return sums;
  }

 private:
  struct OfNorm {
    torch::Tensor y, statistics;
    int32_t site;
  };
  struct OfSublayer {
    torch::Tensor input;      // [rows, model]
    torch::Tensor projected;  // queries (keys and values beside them), or the inner layer
    torch::Tensor context;    // of attention
    int32_t site;
  };
  struct Tape {
    int32_t embedding_site = 0;
    std::vector<OfNorm> norms = {};
    std::vector<OfSublayer> sublayers = {};
  };
  // What runs past a sublayer, and what it reads (the same with post-norm); or their gradients, undefined where not
  // yet.
  struct Stream {
    torch::Tensor past, read;
  };

  DropoutPlace place(std::optional<double> rate, int32_t site) const {
    return {.p = rate.value_or(model_.config_.dropout_rate), .key = batch_.key, .site = site};
  }
  torch::Tensor empty(int64_t rows) const { return at::empty({rows, model_.config_.d_model}, half_); }
  torch::Tensor parts_at(int64_t place, int64_t rows, int64_t columns) const {
    return parts_.narrow(0, place, rows * columns).view({rows, columns});
  }

  torch::Tensor run(const PackedStack& stack, const PackedSide& side, const std::vector<AttentionTiles>& tiles,
                    Tape& tape) {
    tape.embedding_site = sites_++;
    const auto x = empty(side.tokens());
    operations_.embedding_forward(side.words, side.positions, stack.table, stack.positions, factor(),
                                  place(model_.config_.input_dropout_rate, tape.embedding_site), x);
    Stream stream{x, x};
    if (stack.first) pass_norm(*stack.first, {}, stream, tape);
    for (const auto& sublayer : stack.sublayers)
      pass_norm(sublayer.norm, branch(sublayer, stream.read, side, tiles, tape), stream, tape);
    return stream.read;
  }

  // The rows of a word's embedding are multiplied by sqrt(model).
  double factor() const { return std::sqrt(static_cast<double>(model_.config_.d_model)); }

  void pass_norm(const PackedNormLayer& norm, const torch::Tensor& r, Stream& stream, Tape& tape) {
    const int64_t rows = stream.past.size(0);
    const int32_t site = sites_++;
    const auto n = empty(rows), y = r.defined() ? empty(rows) : stream.past;
    const auto statistics = at::empty({rows, 2}, exact_);
    operations_.residual_norm_forward(task_of(norm, site), stream.past, r, y, n, statistics);
    tape.norms.push_back({y, statistics, site});
    stream = {is_pre_ ? y : n, n};
  }

  PackedNorm task_of(const PackedNormLayer& norm, int32_t site) const {
    return {.weight = norm.weight,
            .bias = norm.bias,
            .r_bias = norm.r_bias,
            .epsilon = model_.config_.norm_epsilon,
            .centred = model_.config_.norm_form == NormForm::kLayer,
            .dropout = place(model_.config_.residual_dropout_rate, site)};
  }

  torch::Tensor branch(const PackedSublayer& sublayer, const torch::Tensor& input, const PackedSide& side,
                       const std::vector<AttentionTiles>& tiles, Tape& tape) {
    OfSublayer kept{.input = input, .projected = multiply(input, sublayer.inner), .context = {}, .site = sites_++};
    if (sublayer.kind == PackedSublayer::Kind::kFeedForward) {
      operations_.relu_dropout(kept.projected, place(model_.config_.ffn_dropout_rate, kept.site));
    } else {
      if (sublayer.kind == PackedSublayer::Kind::kSelf) rotate(kept.projected, side, 1);
      kept.context = empty(input.size(0));
      const auto task = task_of(sublayer, kept, side);
      for (const auto& some : tiles_of(sublayer, tiles)) operations_.attention_forward(task, some, kept.context);
    }
    const auto r = multiply(kept.context.defined() ? kept.context : kept.projected, sublayer.outer);
    tape.sublayers.push_back(std::move(kept));
    return r;
  }

  const std::vector<AttentionTiles>& tiles_of(const PackedSublayer& sublayer,
                                              const std::vector<AttentionTiles>& own) const {
    return sublayer.kind == PackedSublayer::Kind::kCross ? batch_.cross_tiles : own;
  }

  // Queries, keys and values stand side by side; those of the source in a matrix of all blocks.
  PackedAttention task_of(const PackedSublayer& sublayer, const OfSublayer& kept, const PackedSide& side) const {
    const int64_t width = model_.config_.d_model;
    const bool is_cross = sublayer.kind == PackedSublayer::Kind::kCross;
    const auto& keys = is_cross ? keys_ : kept.projected;
    const int64_t first = is_cross ? 2 * width * sublayer.number : width;
    return {.q = kept.projected.narrow(1, 0, width),
            .k = keys.narrow(1, first, width),
            .v = keys.narrow(1, first + width, width),
            .query_segments = side.segments,
            .key_segments = is_cross ? batch_.source.segments : side.segments,
            .heads = model_.config_.num_heads,
            .causal = !is_cross && &side == &batch_.target,
            .dropout = place(model_.config_.attention_dropout_rate, kept.site)};
  }

  void rotate(const torch::Tensor& qkv, const PackedSide& side, double direction) {
    if (model_.angles_.defined())
      operations_.rotate(qkv, model_.angles_, side.positions, 2 * model_.config_.d_model, direction);
  }

  // Returns the gradient of the decoder's output.
  torch::Tensor loss(const torch::Tensor& hidden, torch::Tensor& sums) {
    const bool pairs = batch_.paired.defined();
    const auto rows = pairs ? hidden.index_select(0, batch_.paired) : hidden;
    const auto logits = multiply(rows, model_.output_);
    const auto losses = at::empty({batch_.labels.size(0), 3}, exact_);
    const double smoothing = model_.options_.smoothing;
    if (pairs)
      operations_.paired_cross_entropy(logits, batch_.labels, model_.classes_, smoothing, model_.pair_, batch_.scale,
                                       losses);
    else
      operations_.smoothed_cross_entropy(logits, batch_.labels, model_.classes_, smoothing, batch_.scale, losses);
    sums = losses.sum(0, /*keepdim=*/false, torch::kFloat64);
    add_bias_parts(logits, model_.output_);
    add_product(model_.output_.weight_gradient, logits, rows);
    const auto drows = at::mm(logits, model_.output_.weight);
    return pairs ? drows.index_select(0, batch_.places) : drows;
  }

  void add_bias_parts(const torch::Tensor& dy, const PackedMap& map) {
    if (map.bias_parts >= 0) operations_.relu_backward(dy, {}, 0, parts_at(map.bias_parts, kSumPrograms, dy.size(1)));
  }

  void go_back(const PackedStack& stack, const PackedSide& side, const std::vector<AttentionTiles>& tiles, Tape& tape,
               const torch::Tensor& doutput) {
    Stream gradients{.past = {}, .read = doutput};
    for (size_t i = stack.sublayers.size(); i-- > 0;) {
      const auto& sublayer = stack.sublayers[i];
      const auto dr = empty(side.tokens());
      go_back_norm(sublayer.norm, dr, gradients, tape);
      gradients.read = go_back_branch(sublayer, dr, side, tiles, tape);
    }
    if (stack.first)
      go_back_norm(*stack.first, {}, gradients, tape);
    else
      gradients.past.add_(gradients.read);
    const auto& dx = gradients.past;
    const auto dropout = place(model_.config_.input_dropout_rate, tape.embedding_site);
    add_rows(dx, side.by_word, factor(), dropout, stack.table_gradient);
    if (stack.position_gradients.defined()) add_rows(dx, side.by_position, 1, dropout, stack.position_gradients);
  }

  void add_rows(const torch::Tensor& dx, const WordGroups& groups, double factor, const DropoutPlace& dropout,
                const torch::Tensor& gradient) {
    const auto parts = at::empty({groups.parts, dx.size(1)}, exact_);
    operations_.embedding_pieces(dx, groups, factor, dropout, gradient, parts);
    if (groups.parts > 0) operations_.embedding_words(groups, parts, gradient);
  }

  // Sets gradients.past to that of what runs past, and dr.
  void go_back_norm(const PackedNormLayer& norm, const torch::Tensor& dr, Stream& gradients, Tape& tape) {
    const auto kept = std::move(tape.norms.back());
    tape.norms.pop_back();
    const auto which = !gradients.past.defined() ? SecondGradient::kNone
                       : is_pre_                 ? SecondGradient::kOfY
                                                 : SecondGradient::kOfN;
    const auto dx = at::empty_like(kept.y);
    operations_.residual_norm_backward(task_of(norm, kept.site), gradients.read, gradients.past, which, kept.y,
                                       kept.statistics, dx, dr,
                                       parts_at(norm.parts, kNormPrograms, 3 * model_.config_.d_model));
    gradients.past = dx;
  }

  // Returns the gradient of the sublayer's input.
  torch::Tensor go_back_branch(const PackedSublayer& sublayer, const torch::Tensor& dr, const PackedSide& side,
                               const std::vector<AttentionTiles>& tiles, Tape& tape) {
    const auto kept = std::move(tape.sublayers.back());
    tape.sublayers.pop_back();
    const bool attends = kept.context.defined();
    add_product(sublayer.outer.weight_gradient, dr, attends ? kept.context : kept.projected);
    auto dprojected = at::mm(dr, sublayer.outer.weight);  // of the inner layer, or of attention's context
    if (attends) {
      const auto dcontext = std::exchange(dprojected, at::empty_like(kept.projected));
      go_back_attention(sublayer, kept, side, tiles, dcontext, dprojected);
      add_bias_parts(dprojected, sublayer.inner);
    } else {
      const auto rate = place(model_.config_.ffn_dropout_rate, kept.site).p;
      operations_.relu_backward(dprojected, kept.projected, rate,
                                parts_at(sublayer.inner.bias_parts, kSumPrograms, dprojected.size(1)));
    }
    add_product(sublayer.inner.weight_gradient, dprojected, kept.input);
    return at::mm(dprojected, sublayer.inner.weight);
  }

  void go_back_attention(const PackedSublayer& sublayer, const OfSublayer& kept, const PackedSide& side,
                         const std::vector<AttentionTiles>& tiles, const torch::Tensor& dcontext,
                         const torch::Tensor& dprojected) {
    const int64_t width = model_.config_.d_model;
    const bool is_cross = sublayer.kind == PackedSublayer::Kind::kCross;
    const auto& dkeys = is_cross ? key_gradients_ : dprojected;
    const int64_t first = is_cross ? 2 * width * sublayer.number : width;
    const auto task = task_of(sublayer, kept, side);
    for (const auto& some : tiles_of(sublayer, tiles))
      operations_.attention_backward(task, some, dcontext, dprojected.narrow(1, 0, width),
                                     dkeys.narrow(1, first, width), dkeys.narrow(1, first + width, width));
    if (!is_cross) rotate(dprojected, side, -1);
  }

  PackedTransformer& model_;
  PackedOperations& operations_;
  const PackedBatch& batch_;
  bool is_pre_;
  torch::TensorOptions half_, exact_;   // of activations, of sums
  torch::Tensor parts_;                 // of sums of columns
  torch::Tensor keys_, key_gradients_;  // keys and values of the source for all blocks: [source, 2 model blocks]
  int32_t sites_ = 0;
};

PackedTransformer::PackedTransformer(const ModelConfig& config, const Options& options, int64_t target_vocabulary,
                                     const FlatWeights& weights, PackedOperations& operations)
    : config_(config),
      options_(options),
      weights_(weights),
      operations_(operations),
      classes_(target_vocabulary),
      position_limit_(config.positions == PositionKind::kLearned ? std::min(config.max_positions, kMostPositions)
                                                                 : kMostPositions) {
  const int64_t width = config.d_model, head = width / config.num_heads;
  const auto exact = weights.weights().options();
  zeros_ = at::zeros({width}, exact);
  if (config.positions == PositionKind::kRotary)
    angles_ = sinusoid_table(0, kMostPositions, head, Sinusoid::kInterleaved).to(exact);
  if (const auto& pair = options.pair)
    pair_ = torch::tensor({pair->first, pair->second, pair->forward, pair->backward}, torch::kFloat32).to(exact);
  const int64_t decoder_blocks = config.decoder_blocks.value_or(config.num_blocks);
  encoder_ = stack_of(/*is_decoder=*/false, config.encoder_blocks.value_or(config.num_blocks));
  decoder_ = stack_of(/*is_decoder=*/true, decoder_blocks);
  source_keys_ = map_of("decoder_0.cross_attention.key", 2 * width * decoder_blocks, width, /*sums_bias=*/true);
  const std::string output = output_table(config);
  const int64_t rows = in_sixteens(classes_);
  output_ = {.weight = weights.copy(output, rows, width), .weight_gradient = weights.gradient(output, rows, width)};
  if (config.output_bias) {
    output_.bias = weights.copy("output_bias", rows);
    output_.bias_parts = add_parts(kSumPrograms, rows, {{rows, "output_bias"}});
  }
  sum_places_ = torch::tensor(places_of_sums_, torch::kInt64).view({-1, 5}).to(exact.device());
}

std::string output_table(const ModelConfig& config) {
  if (config.tie_embeddings == TiedEmbeddings::kAll) return "embedding";
  return config.tie_embeddings == TiedEmbeddings::kTarget ? "target_embedding" : "output_weight";
}

// sums: columns, one behind the other, and the vector of weights whose gradient they are; "" for none.
int64_t PackedTransformer::add_parts(int64_t rows, int64_t columns,
                                     const std::vector<std::pair<int64_t, std::string>>& sums) {
  const int64_t first = parts_;
  int64_t column = 0;
  for (const auto& [count, name] : sums) {
    for (int64_t at = 0; at < count && weights_.has(name); at += kSumColumns)
      for (const int64_t number :
           {first + column + at, rows, columns, std::min(kSumColumns, count - at), weights_.place_of_vector(name) + at})
        places_of_sums_.push_back(number);
    column += count;
  }
  parts_ += rows * columns;
  return first;
}

PackedMap PackedTransformer::map_of(const std::string& name, int64_t out, int64_t in, bool sums_bias) {
  PackedMap map{.weight = weights_.copy(name + ".weight", out, in),
                .weight_gradient = weights_.gradient(name + ".weight", out, in)};
  if (!sums_bias || !weights_.has(name + ".bias")) return map;
  map.bias = weights_.copy(name + ".bias", out);
  map.bias_parts = add_parts(kSumPrograms, out, {{out, name + ".bias"}});
  return map;
}

PackedNormLayer PackedTransformer::norm_of(const std::string& name, const std::string& r_bias) {
  const int64_t width = config_.d_model;
  const auto vector = [&](const std::string& of) { return weights_.has(of) ? weights_.weight(of, width) : zeros_; };
  return {.weight = vector(name + ".weight"),
          .bias = vector(name + ".bias"),
          .r_bias = vector(r_bias),
          .parts = add_parts(kNormPrograms, 3 * width,
                             {{width, name + ".weight"}, {width, name + ".bias"}, {width, r_bias}})};
}

PackedStack PackedTransformer::stack_of(bool is_decoder, int64_t blocks) {
  const std::string side = is_decoder ? "decoder" : "encoder", language = is_decoder ? "target" : "source";
  const int64_t width = config_.d_model, inner = config_.d_ff;
  PackedStack stack;
  const auto table = weights_.has("embedding") ? "embedding" : language + "_embedding";
  const int64_t rows = weights_.rows_of(table);
  stack.table = weights_.copy(table, rows, width);
  stack.table_gradient = weights_.gradient(table, rows, width);
  if (config_.positions == PositionKind::kLearned) {
    stack.positions = weights_.copy(language + "_positions.weight", config_.max_positions, width);
    stack.position_gradients = weights_.gradient(language + "_positions.weight", config_.max_positions, width);
  } else if (config_.positions == PositionKind::kSinusoidal) {
    stack.positions = sinusoid_table(0, kMostPositions, width, config_.sinusoid).to(weights_.copies().options());
  }
  using Kind = PackedSublayer::Kind;
  std::vector<std::string> names;  // of the norm of each sublayer
  std::vector<std::string> biases;
  for (int64_t i = 0; i < blocks; ++i) {
    const auto block = fmt::format("{}_{}.", side, i);
    for (const auto kind : {Kind::kSelf, Kind::kCross, Kind::kFeedForward}) {
      if (kind == Kind::kCross && !is_decoder) continue;
      const bool feeds = kind == Kind::kFeedForward;
      const auto name = block + (feeds ? "feed_forward" : kind == Kind::kSelf ? "self_attention" : "cross_attention");
      const auto first = feeds ? name + ".inner" : name + ".query", last = name + (feeds ? ".outer" : ".output");
      const int64_t out = feeds ? inner : kind == Kind::kSelf ? 3 * width : width;
      stack.sublayers.push_back({.kind = kind,
                                 .inner = map_of(first, out, width, /*sums_bias=*/true),
                                 .outer = map_of(last, width, feeds ? inner : width, /*sums_bias=*/false),
                                 .number = i});
      names.push_back(name + "_norm");
      biases.push_back(last + ".bias");
    }
  }
  if (config_.norm == Norm::kPre) {  // a norm stands before its sublayer, and one more behind the last of them
    names.push_back(side + "_norm");
    stack.first = norm_of(names.front(), "");
    names.erase(names.begin());
  }
  for (size_t i = 0; i < names.size(); ++i) stack.sublayers[i].norm = norm_of(names[i], biases[i]);
  return stack;
}

torch::Tensor PackedTransformer::add_gradients(const PackedBatch& batch) {
  const torch::NoGradGuard no_grad;
  return Pass(*this, batch).run();
}

}  // namespace nmt
