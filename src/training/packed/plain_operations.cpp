#include "training/packed/plain_operations.h"

#include <ATen/Functions.h>

#include <cmath>
#include <limits>
#include <vector>

namespace nmt {
namespace {

// In float32, or in float64 what is float64.
torch::Tensor wide(const torch::Tensor& x) {
  return x.to(x.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32);
}

torch::Tensor factors_of(const DropoutPlace& dropout, std::span<const int64_t> first, int64_t columns,
                         const torch::Tensor& like) {
  return dropout_factors(static_cast<uint64_t>(dropout.key.item<int64_t>()), dropout.site, dropout.p, first, columns)
      .to(wide(like).scalar_type());
}

// For a matrix whose rows are `apart` numbers apart.
torch::Tensor factors_of(const DropoutPlace& dropout, int64_t rows, int64_t apart, int64_t columns,
                         const torch::Tensor& like) {
  std::vector<int64_t> first(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) first[static_cast<size_t>(row)] = row * apart;
  return factors_of(dropout, first, columns, like);
}

// One tile: heads first, [heads, words, D] in the type of sums.
struct Tile {
  int64_t first_query = 0, queries = 0, first_key = 0, keys = 0;
  torch::Tensor q = {}, k = {}, v = {};
  torch::Tensor weights = {}, factors = {};  // [heads, queries, keys]
  double scale = 1;
};

Tile tile_of(const PackedAttention& task, const int32_t* numbers) {
  Tile tile{.first_query = numbers[0], .queries = numbers[1], .first_key = numbers[2], .keys = numbers[3]};
  const auto part = [&](const torch::Tensor& x, int64_t first, int64_t count) {
    return wide(x.narrow(0, first, count)).unflatten(1, {task.heads, -1}).transpose(0, 1);
  };
  tile.q = part(task.q, tile.first_query, tile.queries);
  tile.k = part(task.k, tile.first_key, tile.keys);
  tile.v = part(task.v, tile.first_key, tile.keys);
  tile.scale = 1 / std::sqrt(static_cast<double>(tile.q.size(2)));
  auto seen = task.query_segments.narrow(0, tile.first_query, tile.queries).unsqueeze(1) ==
              task.key_segments.narrow(0, tile.first_key, tile.keys).unsqueeze(0);
  if (task.causal) seen = seen.logical_and(torch::ones_like(seen).tril());
  const auto scores = at::matmul(tile.q, tile.k.transpose(1, 2)) * tile.scale;
  tile.weights = scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity()).softmax(-1);
  std::vector<int64_t> first;
  for (int64_t head = 0; head < task.heads; ++head)
    for (int64_t query = 0; query < tile.queries; ++query)
      first.push_back(((tile.first_query + query) * task.heads + head) * 128);
  tile.factors = factors_of(task.dropout, first, tile.keys, task.q).view({task.heads, tile.queries, tile.keys});
  return tile;
}

template <typename Body>
void for_each_tile(const PackedAttention& task, const AttentionTiles& tiles, const Body& body) {
  const auto numbers = tiles.tiles.contiguous();
  for (int64_t i = 0; i < numbers.size(0); ++i)
    if (const auto* tile = numbers.const_data_ptr<int32_t>() + 4 * i; tile[1] > 0) body(tile_of(task, tile));
}

void write_words(const torch::Tensor& to, int64_t first, const torch::Tensor& by_head) {
  to.narrow(0, first, by_head.size(1)).copy_(by_head.transpose(0, 1).flatten(1));
}

// Sums of columns as the kernels leave them: any division among the programs is right.
void write_sums(const torch::Tensor& parts, const torch::Tensor& sums) {
  parts.zero_();
  parts[0].copy_(sums);
}

struct Prediction {
  torch::Tensor logits, log_p = {}, wanted = {};  // [rows, classes]
  torch::Tensor of_label = {}, smoothed = {};     // [rows]
};

Prediction predict(const torch::Tensor& logits, const torch::Tensor& labels, double smoothing) {
  Prediction p{.logits = wide(logits)};
  const int64_t classes = logits.size(1);
  const auto label = labels.clamp_min(0).to(torch::kInt64).unsqueeze(1);
  p.log_p = p.logits.log_softmax(-1);
  p.wanted = torch::full_like(p.log_p, smoothing / static_cast<double>(classes));
  p.wanted.scatter_add_(1, label, torch::full_like(label, 1 - smoothing, p.log_p.options()));
  p.of_label = -p.log_p.gather(1, label).squeeze(1);
  p.smoothed = -(p.wanted * p.log_p).sum(1);
  return p;
}

void write_losses(const torch::Tensor& losses, const torch::Tensor& loss, const Prediction& p,
                  const torch::Tensor& labels) {
  const auto counts = labels >= 0;
  const auto is_best = p.logits.argmax(-1) == labels;
  losses.copy_(torch::stack({loss, p.of_label, is_best.to(loss.scalar_type())}, 1) * counts.unsqueeze(1));
}

}  // namespace

std::array<uint32_t, 4> philox(uint64_t key, uint32_t number, uint32_t site) {
  constexpr uint64_t kFirst = 0xD2511F53, kSecond = 0xCD9E8D57;
  constexpr int kRounds = 7;
  std::array<uint32_t, 4> c{number, site, 0, 0};
  auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t first = kFirst * c[0], second = kSecond * c[2];
    c = {static_cast<uint32_t>(second >> 32) ^ c[1] ^ low, static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ c[3] ^ high, static_cast<uint32_t>(first)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return c;
}

torch::Tensor dropout_factors(uint64_t key, int32_t site, double p, std::span<const int64_t> first, int64_t columns) {
  const int64_t rows = std::ssize(first);
  auto factors = torch::empty({rows, columns}, torch::kFloat64);
  auto* out = factors.mutable_data_ptr<double>();
  const auto least = static_cast<float>(p);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; column += 4) {
      const auto words = philox(key, static_cast<uint32_t>((first[static_cast<size_t>(row)] + column) / 4),
                                static_cast<uint32_t>(site));
      for (int64_t i = 0; i < 4 && column + i < columns; ++i)
        *out++ = static_cast<float>(words[static_cast<size_t>(i)] >> 8) * 0x1p-24f >= least ? 1 / (1 - p) : 0;
    }
  return factors;
}

int64_t PlainOperations::largest_tile(int64_t /*head*/) const { return 128; }

void PlainOperations::attention_forward(const PackedAttention& task, const AttentionTiles& tiles,
                                        const torch::Tensor& out) {
  for_each_tile(task, tiles, [&](const Tile& tile) {
    write_words(out, tile.first_query, at::matmul(tile.weights * tile.factors, tile.v));
  });
}

void PlainOperations::attention_backward(const PackedAttention& task, const AttentionTiles& tiles,
                                         const torch::Tensor& dout, const torch::Tensor& dq, const torch::Tensor& dk,
                                         const torch::Tensor& dv) {
  for_each_tile(task, tiles, [&](const Tile& tile) {
    const auto d = wide(dout.narrow(0, tile.first_query, tile.queries)).unflatten(1, {task.heads, -1}).transpose(0, 1);
    write_words(dv, tile.first_key, at::matmul((tile.weights * tile.factors).transpose(1, 2), d));
    const auto dweights = at::matmul(d, tile.v.transpose(1, 2)) * tile.factors;
    const auto dscores = tile.weights * (dweights - (tile.weights * dweights).sum(-1, /*keepdim=*/true)) * tile.scale;
    write_words(dq, tile.first_query, at::matmul(dscores, tile.k));
    write_words(dk, tile.first_key, at::matmul(dscores.transpose(1, 2), tile.q));
  });
}

void PlainOperations::rotate(const torch::Tensor& x, const torch::Tensor& angles, const torch::Tensor& positions,
                             int64_t columns, double direction) {
  const auto part = x.narrow(1, 0, columns);
  const auto pairs = wide(part).unflatten(1, {-1, angles.size(1) / 2, 2});  // [rows, heads, D / 2, 2]
  const auto of_row = angles.index_select(0, positions.to(torch::kInt64)).view({x.size(0), 1, -1, 2});
  const auto sine = of_row.select(-1, 0) * direction, cosine = of_row.select(-1, 1);
  const auto a = pairs.select(-1, 0), b = pairs.select(-1, 1);
  part.copy_(torch::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(1));
}

void PlainOperations::residual_norm_forward(const PackedNorm& task, const torch::Tensor& x, const torch::Tensor& r,
                                            const torch::Tensor& y, const torch::Tensor& n,
                                            const torch::Tensor& statistics) {
  const int64_t width = x.size(1);
  auto input = x;
  if (r.defined()) {
    const auto factors = factors_of(task.dropout, x.size(0), norm_block(width), width, x);
    y.copy_(wide(x) + (wide(r) + task.r_bias) * factors);
    input = y;
  }
  const auto values = wide(input);
  const auto mean = values.mean(1, /*keepdim=*/true) * (task.centred ? 1 : 0);
  const auto scale = ((values - mean).square().mean(1, /*keepdim=*/true) + task.epsilon).rsqrt();
  n.copy_((values - mean) * scale * task.weight + task.bias);
  statistics.copy_(torch::cat({mean, scale}, 1));
}

void PlainOperations::residual_norm_backward(const PackedNorm& task, const torch::Tensor& dn,
                                             const torch::Tensor& second, SecondGradient which, const torch::Tensor& y,
                                             const torch::Tensor& statistics, const torch::Tensor& dx,
                                             const torch::Tensor& dr, const torch::Tensor& parts) {
  const int64_t width = y.size(1);
  const auto of_n = which == SecondGradient::kOfN ? wide(dn) + wide(second) : wide(dn);
  const auto scale = statistics.narrow(1, 1, 1);
  const auto normal = (wide(y) - statistics.narrow(1, 0, 1)) * scale;
  const auto d = of_n * task.weight;
  auto of_x =
      (d - d.mean(1, /*keepdim=*/true) * (task.centred ? 1 : 0) - normal * (d * normal).mean(1, /*keepdim=*/true)) *
      scale;
  if (which == SecondGradient::kOfY) of_x = of_x + wide(second);
  auto of_r = torch::zeros_like(of_x);
  if (dr.defined()) {
    of_r = of_x * factors_of(task.dropout, y.size(0), norm_block(width), width, y);
    dr.copy_(of_r);
  }
  dx.copy_(of_x);
  write_sums(parts, torch::cat({(of_n * normal).sum(0), of_n.sum(0), of_r.sum(0)}));
}

void PlainOperations::relu_dropout(const torch::Tensor& h, const DropoutPlace& dropout) {
  h.copy_(wide(h).relu() * factors_of(dropout, h.size(0), h.size(1), h.size(1), h));
}

void PlainOperations::relu_backward(const torch::Tensor& dh, const torch::Tensor& h, double p,
                                    const torch::Tensor& parts) {
  auto through = wide(dh);
  if (h.defined()) {
    through = through * (h > 0) / (1 - p);
    dh.copy_(through);
  }
  write_sums(parts, through.sum(0));
}

void PlainOperations::sum_parts(const torch::Tensor& parts, const torch::Tensor& places, const torch::Tensor& sums) {
  const auto flat_parts = parts.flatten(), flat_sums = sums.flatten();
  const auto* place = places.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < places.size(0); ++i, place += 5)
    flat_sums.narrow(0, place[4], place[3])
        .copy_(
            flat_parts.as_strided({place[1], place[3]}, {place[2], 1}, flat_parts.storage_offset() + place[0]).sum(0));
}

void PlainOperations::smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                                             double smoothing, const torch::Tensor& scale,
                                             const torch::Tensor& losses) {
  const auto line = logits.narrow(1, 0, classes);
  const auto p = predict(line, labels, smoothing);
  write_losses(losses, p.smoothed, p, labels);
  line.copy_((p.log_p.exp() - p.wanted) * scale * (labels >= 0).unsqueeze(1));
}

void PlainOperations::paired_cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, int64_t classes,
                                           double smoothing, const torch::Tensor& pair, const torch::Tensor& scale,
                                           const torch::Tensor& losses) {
  const auto lines = logits.narrow(1, 0, classes).unflatten(0, {-1, 2});
  const auto line_p = lines.select(1, 0), line_q = lines.select(1, 1);
  const auto p = predict(line_p, labels, smoothing), q = predict(line_q, labels, smoothing);
  const auto power_p = p.log_p.exp(), power_q = q.log_p.exp(), ratio = p.log_p - q.log_p;
  const auto forward = (power_p * ratio).sum(1), backward = -(power_q * ratio).sum(1);
  write_losses(losses, pair[0] * p.smoothed + pair[1] * q.smoothed + pair[2] * forward + pair[3] * backward, p, labels);
  const auto counts = scale * (labels >= 0).unsqueeze(1);
  line_p.copy_((pair[0] * (power_p - p.wanted) + pair[2] * power_p * (ratio - forward.unsqueeze(1)) +
                pair[3] * (power_p - power_q)) *
               counts);
  line_q.copy_((pair[1] * (power_q - q.wanted) - pair[2] * (power_p - power_q) -
                pair[3] * power_q * (ratio + backward.unsqueeze(1))) *
               counts);
}

void PlainOperations::embedding_forward(const torch::Tensor& words, const torch::Tensor& positions,
                                        const torch::Tensor& table, const torch::Tensor& position_table, double factor,
                                        const DropoutPlace& dropout, const torch::Tensor& out) {
  auto x = wide(table.index_select(0, words.to(torch::kInt64))) * factor;
  if (position_table.defined()) x = x + wide(position_table.index_select(0, positions.to(torch::kInt64)));
  out.copy_(x * factors_of(dropout, out.size(0), out.size(1), out.size(1), out));
}

void PlainOperations::embedding_pieces(const torch::Tensor& dx, const WordGroups& groups, double factor,
                                       const DropoutPlace& dropout, const torch::Tensor& dtable,
                                       const torch::Tensor& parts) {
  const auto of_rows = wide(dx) * factors_of(dropout, dx.size(0), dx.size(1), dx.size(1), dx) * factor;
  const auto* piece = groups.pieces.const_data_ptr<int32_t>();
  for (int64_t i = 0; i < groups.pieces.size(0); ++i, piece += 3) {
    if (piece[1] == 0) continue;
    const auto rows = groups.order.narrow(0, piece[0], piece[1]).to(torch::kInt64);
    const auto total = of_rows.index_select(0, rows).sum(0);
    if (piece[2] >= 0)
      dtable[piece[2]].add_(total);
    else
      parts[-1 - piece[2]].copy_(total);
  }
}

void PlainOperations::embedding_words(const WordGroups& groups, const torch::Tensor& parts,
                                      const torch::Tensor& dtable) {
  const auto* entry = groups.entries.const_data_ptr<int32_t>();
  for (int64_t i = 0; i < groups.entries.size(0); ++i, entry += 3)
    if (entry[2] > 0) dtable[entry[0]].add_(parts.narrow(0, entry[1], entry[2]).sum(0));
}

void PlainOperations::squared_norm(const torch::Tensor& gradient, const torch::Tensor& parts) {
  write_sums(parts.unsqueeze(1), gradient.square().sum().unsqueeze(0));
}

void PlainOperations::adam_control(const torch::Tensor& parts, const torch::Tensor& betas, const torch::Tensor& steps,
                                   const torch::Tensor& control) {
  const auto* numbers = betas.const_data_ptr<double>();
  const double norm = parts.sum().sqrt().item<double>(), greatest = numbers[2];
  const bool counts = norm < std::numeric_limits<double>::infinity();  // false for what is no number
  if (counts) steps.add_(1);
  const auto number = static_cast<double>(steps.item<int64_t>());
  const double made[] = {greatest > 0 && norm > greatest ? greatest / norm : 1, 1 / (1 - std::pow(numbers[0], number)),
                         1 / std::sqrt(1 - std::pow(numbers[1], number)), counts ? 1.0 : 0.0, norm};
  for (int64_t i = 0; i < 5; ++i) control[i].fill_(made[i]);
}

void PlainOperations::adam(const torch::Tensor& weights, const torch::Tensor& first_moment,
                           const torch::Tensor& second_moment, const torch::Tensor& gradient, const torch::Tensor& copy,
                           const torch::Tensor& control, const torch::Tensor& options, const torch::Tensor& rate) {
  if (control[3].item<double>() < 0.5) return;
  const auto number = [](const torch::Tensor& x, int64_t i) { return x[i].item<double>(); };
  const double beta1 = number(options, 0), beta2 = number(options, 1), lr = number(rate, 0);
  const auto g = gradient * number(control, 0);
  first_moment.add_((g - first_moment) * (1 - beta1));
  second_moment.mul_(beta2).add_(g.square() * (1 - beta2));
  const auto step =
      first_moment * (lr * number(control, 1)) / (second_moment.sqrt() * number(control, 2) + number(options, 2));
  weights.mul_(1 - lr * number(options, 3)).sub_(step);
  copy.copy_(weights);
}

}  // namespace nmt
