// The kernels of training beside plain LibTorch operations: milliseconds forwards and backwards, a Markdown table.
// Usage: kernels_bench [small|base] [bf16|fp32] [threads]
// Both run in turns, and the best of their rounds counts: other work on a machine only slows.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/autograd.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "nn/attention/attention.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "nn/layers/recurrent_cell.h"
#include "nn/ops/cross_entropy.h"
#include "nn/ops/forward_context.h"
#include "nn/ops/layer_norm.h"
#include "nn/ops/linear.h"
#include "nn/positions/positions.h"
#include "training/optimizers/optimizer.h"

namespace {

using namespace nmt;
using torch::Tensor;

constexpr int64_t kBatch = 160, kTime = 25, kVocabulary = 8000, kParameters = 40;
constexpr double kDropout = 0.1, kSmoothing = 0.1;
constexpr int kRounds = 9;
constexpr double kRoundSeconds = 0.1;  // at least, of each program

using Run = std::function<void()>;

double seconds_of(const Run& run, int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

void compare(const std::string& kernel, const std::string& operations, const Run& ours, const Run& theirs) {
  double best[2];
  int times[2];
  for (const int side : {0, 1}) {
    const auto& run = side == 0 ? ours : theirs;
    run();  // buffers are made
    best[side] = seconds_of(run, 1);
    times[side] = std::max(1, static_cast<int>(std::ceil(kRoundSeconds / best[side])));
  }
  for (int round = 0; round < kRounds; ++round)
    for (const int side : {0, 1}) best[side] = std::min(best[side], seconds_of(side == 0 ? ours : theirs, times[side]));
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} |\n", kernel, operations, 1e3 * best[0], 1e3 * best[1],
             best[1] / best[0]);
}

/// A pass forwards, and backwards into `inputs`.
Run both_ways(std::vector<Tensor> inputs, std::function<Tensor()> forward) {
  const auto gradient = at::ones_like(forward());
  return [=] { torch::autograd::grad({forward()}, inputs, {gradient}); };
}

struct Sizes {
  int64_t model, inner, heads;
  at::ScalarType type;

  Tensor activations(at::IntArrayRef shape) const { return torch::randn(shape).to(type).requires_grad_(true); }
  Tensor weights(at::IntArrayRef shape) const { return (torch::randn(shape) * 0.05).requires_grad_(true); }
};

void compare_elementwise(const Sizes& sizes) {
  const auto inner = sizes.activations({kBatch * kTime, sizes.inner});
  const auto x = sizes.activations({kBatch * kTime, sizes.model}), residual = sizes.activations(x.sizes());
  ForwardContext pass(1, 1, 0);
  compare("relu and dropout", "relu, dropout",
          both_ways({inner}, [=]() mutable { return relu_dropout(inner, kDropout, pass); }),
          both_ways({inner}, [=] { return at::dropout(at::relu(inner), kDropout, true); }));
  compare("dropout and residual", "dropout, add",
          both_ways({x, residual}, [=]() mutable { return add_dropped(residual, x, kDropout, pass); }),
          both_ways({x, residual}, [=] { return residual + at::dropout(x, kDropout, true); }));
  LayerNorm norm(sizes.model, 1e-6);
  compare("layer normalisation", "layer_norm",
          both_ways({x, norm->weight, norm->bias}, [=]() mutable { return norm->forward(x); }),
          both_ways({x, norm->weight, norm->bias}, [=] {
            return at::layer_norm(x, {sizes.model}, norm->weight.to(sizes.type), norm->bias.to(sizes.type), 1e-6);
          }));
}

void compare_products(const Sizes& sizes) {
  const auto x = sizes.activations({kBatch * kTime, sizes.model});
  const auto weight = sizes.weights({sizes.inner, sizes.model}), bias = sizes.weights({sizes.inner});
  compare("affine map", "linear", both_ways({x, weight, bias}, [=] { return linear(x, weight, bias); }),
          both_ways({x, weight, bias}, [=] { return at::linear(x, weight.to(sizes.type), bias.to(sizes.type)); }));
}

void compare_attention(const Sizes& sizes) {
  const auto q = sizes.activations({kBatch, kTime, sizes.model}), k = sizes.activations(q.sizes()),
             v = sizes.activations(q.sizes());
  const auto lengths = kTime - torch::arange(kBatch).remainder(3);  // a bucket of nearly equal lengths
  const AttentionOptions options{
      .heads = sizes.heads, .dropout = kDropout, .target_lengths = lengths, .source_lengths = lengths};
  ForwardContext pass(1, 1, 0);
  const auto ours = both_ways({q, k, v}, [=]() mutable { return attention(q, k, v, options, pass); });
  const auto heads = [=](const Tensor& x) { return x.unflatten(-1, {sizes.heads, -1}).transpose(1, 2); };
  const auto is_real = torch::arange(kTime).lt(lengths.unsqueeze(1)).view({kBatch, 1, 1, kTime});
  compare("attention", "matmul, masked_fill, softmax, dropout, matmul", ours, both_ways({q, k, v}, [=] {
            const auto scale = 1 / std::sqrt(static_cast<double>(sizes.model / sizes.heads));
            const auto scores = at::matmul(heads(q) * scale, heads(k).transpose(-1, -2));
            const auto weights = at::softmax(scores.masked_fill(is_real.logical_not(), -1e4), -1);
            return at::matmul(at::dropout(weights, kDropout, true), heads(v)).transpose(1, 2).flatten(2);
          }));
  compare("attention", "scaled_dot_product_attention", ours, both_ways({q, k, v}, [=] {
            return at::scaled_dot_product_attention(heads(q), heads(k), heads(v), is_real, kDropout)
                .transpose(1, 2)
                .flatten(2);
          }));
}

void compare_positions(const Sizes& sizes) {
  const auto x = sizes.activations({kBatch, kTime, sizes.model});
  const auto rotary = make_relative_positions({.kind = "rotary", .model = sizes.model, .heads = sizes.heads});
  const int64_t pairs = sizes.model / sizes.heads / 2;
  const auto rates = at::pow(1e-4, torch::arange(pairs) / static_cast<double>(pairs));
  const auto angles = torch::arange(kTime).unsqueeze(1) * rates;
  const auto sine = at::sin(angles).unsqueeze(1).to(sizes.type), cosine = at::cos(angles).unsqueeze(1).to(sizes.type);
  compare("rotary positions", "mul, sub, add, stack", both_ways({x}, [=] { return rotary->transform(x, 0); }),
          both_ways({x}, [=] {
            const auto of_head = x.unflatten(-1, {sizes.heads, pairs, 2});
            const auto a = of_head.select(-1, 0), b = of_head.select(-1, 1);
            return at::stack({a * cosine - b * sine, a * sine + b * cosine}, -1).flatten(2);
          }));
}

void compare_losses(const Sizes& sizes) {
  const auto hidden = sizes.activations({kBatch * kTime, sizes.model});
  const auto weight = sizes.weights({kVocabulary, sizes.model});
  const auto labels = torch::arange(kBatch * kTime).mul(37).remainder(kVocabulary);
  compare(
      "output layer and smoothed cross-entropy", "linear, cross_entropy_loss",
      both_ways({hidden, weight}, [=] { return output_cross_entropy(hidden, weight, {}, labels, kSmoothing).loss; }),
      both_ways({hidden, weight}, [=] {
        const auto logits = at::linear(hidden, weight.to(sizes.type)).to(torch::kFloat32);
        return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum, -100, kSmoothing);
      }));
  const PairLoss pair{.forward = 1, .backward = 1};
  compare("the same in pairs (R-Drop)", "linear, log_softmax, ...",
          both_ways({hidden, weight},
                    [=] { return paired_output_cross_entropy(hidden, weight, {}, labels, kSmoothing, pair).loss; }),
          both_ways({hidden, weight}, [=] {
            return plain_paired_output_cross_entropy(hidden, weight, {}, labels, kSmoothing, pair).loss;
          }));
}

void compare_cells(const Sizes& sizes) {
  const auto input = sizes.activations({kBatch, 3 * sizes.model}), state = sizes.activations({kBatch, 3 * sizes.model});
  const CellState before{.state = torch::randn({kBatch, sizes.model}).requires_grad_(true), .cell = {}};
  const auto step = [=](const auto& way) {
    return both_ways({input, state, before.state},
                     [=] { return way(kernels::Cell::kGru, input, state, before, Tensor()).state; });
  };
  compare("a step of a GRU", "sigmoid, tanh, ...", step(cell_step), step(plain_cell_step));
}

void compare_updates(const Sizes& sizes) {
  NamedTensors named;
  std::vector<Tensor> parameters;
  for (int64_t i = 0; i < kParameters; ++i) {
    parameters.push_back(sizes.weights({sizes.model, sizes.model}));
    parameters.back().mutable_grad() = at::randn_like(parameters.back());
    named.emplace_back(std::to_string(i), parameters.back());
  }
  Adam ours(named, {});
  torch::optim::Adam theirs(parameters, torch::optim::AdamOptions(1e-3));
  compare(
      "clipping", "clip_grad_norm_", [&] { ours.clip_gradients(1); },
      [&] { torch::nn::utils::clip_grad_norm_(parameters, 1); });
  compare(
      "Adam", "torch::optim::Adam", [&] { ours.step(1e-3); }, [&] { theirs.step(); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string size = argc > 1 ? argv[1] : "small", precision = argc > 2 ? argv[2] : "fp32";
  reuse_freed_tensors();
  at::set_num_threads(argc > 3 ? std::atoi(argv[3]) : 2);
  torch::manual_seed(1);
  Sizes sizes{.model = 256,
              .inner = 1024,
              .heads = 4,
              .type = resolve_precision(Choice<TrainingPrecision>(precision), torch::kCPU)};
  if (size == "base") sizes.model = 512, sizes.inner = 2048, sizes.heads = 8;
  fmt::print("{}, {}, {} threads; {} x {} tokens, d_model {}, {} heads, {} classes\n\n", size,
             precision_name(sizes.type), at::get_num_threads(), kBatch, kTime, sizes.model, sizes.heads, kVocabulary);
  fmt::print("| kernel | operations of LibTorch | ours, ms | theirs, ms | ratio |\n| --- | --- | --- | --- | --- |\n");
  compare_elementwise(sizes);
  compare_products(sizes);
  compare_attention(sizes);
  compare_positions(sizes);
  compare_losses(sizes);
  compare_cells(sizes);
  compare_updates(sizes);
}
