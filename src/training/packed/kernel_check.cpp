#include "training/packed/kernel_check.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "training/packed/batch_plan.h"
#include "training/packed/packed_transformer.h"
#include "training/packed/plain_operations.h"

namespace nmt {
namespace {

constexpr double kDropoutRate = 0.2;  // of dropout
constexpr int64_t kVocabulary = 40;   // few words: some of them are rows of several pieces
constexpr int64_t kPrograms = 5;
constexpr double kBound = 5e-3, kExactBound = 3e-3;  // rounding to bfloat16 alone is 2e-3; of what stays float32

// A batch with tiles of each size, some of them with several sentences.
TensorBatch small_batch(int64_t largest_tile) {
  std::vector<int64_t> source{7, 30, 3, largest_tile - 2, 1}, target{21, 5, largest_tile - 7, 1, 19};
  const auto ids = [](const std::vector<int64_t>& lengths, int64_t times) {
    auto made = torch::zeros({std::ssize(lengths), std::ranges::max(lengths)}, torch::kInt64);
    for (int64_t i = 0; i < made.numel(); ++i)  // the first words are the most frequent ones
      made.mutable_data_ptr<int64_t>()[i] = i * times % kVocabulary * (i * i % 7) % kVocabulary;
    return made;
  };
  return {.source = ids(source, 11),
          .source_lengths = torch::tensor(source),
          .target_in = ids(target, 13),
          .target_out = ids(target, 17),
          .target_lengths = torch::tensor(target)};
}

class Checks {
 public:
  Checks(PackedOperations& operations, const ModelConfig& config, torch::Device device, at::ScalarType type)
      : operations_(operations),
        config_(config),
        device_(device),
        type_(type),
        tile_(operations.largest_tile(config.d_model / config.num_heads)),
        random_(at::detail::createCPUGenerator(1)) {
    const BatchPlanOptions options{.largest_tile = tile_, .key = 0x123456789ABCDEF, .scale = 0.3};
    on_device_ = plan_batch(small_batch(tile_), options, device);
    on_host_ = plan_batch(small_batch(tile_), options, torch::kCPU);
  }

  std::vector<KernelCheck> run() {
    attention("attention", on_host_.target_tiles.size(), &PackedBatch::target_tiles, false);
    attention("attention to the source", on_host_.cross_tiles.size(), &PackedBatch::cross_tiles, true);
    if (config_.positions == PositionKind::kRotary) rotation();
    norms();
    feed_forward();
    products();
    losses();
    embeddings();
    adam();
    return std::move(checks_);
  }

 private:
  using Tensors = std::vector<torch::Tensor>;
  using Run = std::function<void(PackedOperations& operations, const PackedBatch& batch, const Tensors& x)>;

  torch::Tensor random(at::IntArrayRef sizes) { return at::empty(sizes, torch::kFloat32).normal_(0, 1, random_); }
  // Activations: the twin has the same numbers as the kernel.
  torch::Tensor half(at::IntArrayRef sizes) { return random(sizes).to(type_); }
  // A result begins as no number, so what is not written shows.
  torch::Tensor half_result(at::IntArrayRef sizes) { return at::full(sizes, NAN, type_); }
  static torch::Tensor result(at::IntArrayRef sizes) { return at::full(sizes, NAN, torch::kFloat32); }

  // x: all that it reads and writes, on the CPU.
  void check(const std::string& name, const Tensors& x, const Run& run, double bound = kBound) {
    Tensors there, here;
    for (const auto& tensor : x) {
      there.push_back(tensor.to(device_, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true));
      here.push_back(tensor.scalar_type() == type_ ? tensor.to(torch::kFloat32) : tensor.clone());
    }
    run(operations_, on_device_, there);
    run(twins_, on_host_, here);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto expected = here[i].to(torch::kFloat64), got = there[i].cpu().to(torch::kFloat64);
      const double size = expected.norm().item<double>(), error = (got - expected).norm().item<double>();
      const double relative = size > 0 ? error / size : error;
      worst = std::isnan(relative) ? std::numeric_limits<double>::infinity() : std::max(worst, relative);
    }
    checks_.push_back({name, worst, bound});
  }

  static DropoutPlace place(const PackedBatch& batch, int32_t site) {
    return {.p = kDropoutRate, .key = batch.key, .site = site};
  }

  void attention(const std::string& name, size_t sizes, std::vector<AttentionTiles> PackedBatch::*tiles,
                 bool is_cross) {
    const int64_t width = config_.d_model, queries = on_host_.target.tokens();
    const int64_t keys = is_cross ? on_host_.source.tokens() : queries;
    const auto task_of = [=, this](const PackedBatch& batch, const Tensors& x) {
      return PackedAttention{.q = x[0].narrow(1, 0, width),
                             .k = x[1].narrow(1, 0, width),
                             .v = x[1].narrow(1, width, width),
                             .query_segments = batch.target.segments,
                             .key_segments = is_cross ? batch.source.segments : batch.target.segments,
                             .heads = config_.num_heads,
                             .causal = !is_cross,
                             .dropout = place(batch, 3)};
    };
    check(name, {half({queries, 3 * width}), half({keys, 2 * width}), half_result({queries, width})},
          [=](auto& operations, const auto& batch, const auto& x) {
            for (size_t i = 0; i < sizes; ++i) operations.attention_forward(task_of(batch, x), (batch.*tiles)[i], x[2]);
          });
    check("gradient of " + name,
          {half({queries, 3 * width}), half({keys, 2 * width}), half({queries, width}), half_result({queries, width}),
           half_result({keys, 2 * width})},
          [=](auto& operations, const auto& batch, const auto& x) {
            for (size_t i = 0; i < sizes; ++i)
              operations.attention_backward(task_of(batch, x), (batch.*tiles)[i], x[2], x[3], x[4].narrow(1, 0, width),
                                            x[4].narrow(1, width, width));
          });
  }

  void rotation() {
    const int64_t width = config_.d_model, head = width / config_.num_heads;
    for (const double direction : {1.0, -1.0})
      check(direction > 0 ? "rotary positions" : "gradient of rotary positions",
            {half({on_host_.target.tokens(), 3 * width}), random({128, head})},
            [=](auto& operations, const auto& batch, const auto& x) {
              operations.rotate(x[0], x[1], batch.target.positions, 2 * width, direction);
            });
  }

  void norms() {
    const int64_t width = config_.d_model, rows = 37;
    const bool centred = config_.norm_form == NormForm::kLayer;
    const auto bias = centred ? random({width}) : at::zeros({width});
    for (const bool has_r : {false, true}) {
      const auto task_of = [=](const PackedBatch& batch, const Tensors& x) {
        return PackedNorm{.weight = x[0], .bias = x[1], .r_bias = x[2], .centred = centred, .dropout = place(batch, 4)};
      };
      const std::string name = has_r ? "residual, dropout and norm" : "norm";
      const Tensors vectors{random({width}), bias, random({width})};
      auto x = vectors;
      for (const auto& more : {half({rows, width}), half({rows, width}), at::zeros({rows, width}, type_),
                               half_result({rows, width}), result({rows, 2})})
        x.push_back(more);
      check(name, x, [=](auto& operations, const auto& batch, const auto& t) {
        operations.residual_norm_forward(task_of(batch, t), t[3], has_r ? t[4] : torch::Tensor(), has_r ? t[5] : t[3],
                                         t[6], t[7]);
      });
      for (const auto which : {SecondGradient::kNone, SecondGradient::kOfY, SecondGradient::kOfN}) {
        x = vectors;
        for (const auto& more : {half({rows, width}), half({rows, width}), half({rows, width}), random({rows, 2}).abs(),
                                 half_result({rows, width}), at::zeros({rows, width}, type_),
                                 result({kPrograms, 3 * width}), at::zeros({3 * width})})
          x.push_back(more);
        check("gradient of " + name, x, [=](auto& operations, const auto& batch, const auto& t) {
          operations.residual_norm_backward(task_of(batch, t), t[3], t[4], which, t[5], t[6], t[7],
                                            has_r ? t[8] : torch::Tensor(), t[9]);
          add_up(t[9], t[10]);
        });
      }
    }
  }

  // How sums are divided among the programs is the kernels' own affair.
  static void add_up(const torch::Tensor& parts, const torch::Tensor& sums) {
    sums.copy_(parts.sum(0));
    parts.zero_();
  }

  void feed_forward() {
    const int64_t rows = 29, width = config_.d_ff;
    check("ReLU with dropout", {half({rows, width})},
          [](auto& operations, const auto& batch, const auto& x) { operations.relu_dropout(x[0], place(batch, 5)); });
    for (const bool has_relu : {true, false})
      check(has_relu ? "gradient of ReLU" : "sums of columns",
            {half({rows, width}), half({rows, width}), result({kPrograms, width}), at::zeros({width})},
            [=](auto& operations, const auto&, const auto& x) {
              operations.relu_backward(x[0], has_relu ? x[1] : torch::Tensor(), kDropoutRate, x[2]);
              add_up(x[2], x[3]);
            });
    // Two matrices, the second one of a width that is no multiple of a launch's.
    const auto places =
        torch::tensor({10, 33, 100, 64, 5, 10 + 64, 33, 100, 36, 69, 4000, 7, 50, 50, 200}, torch::kInt64);
    check(
        "sums of parts", {random({5000}), places.view({3, 5}), at::zeros({300})},
        [](auto& operations, const auto&, const auto& x) { operations.sum_parts(x[0], x[1], x[2]); }, kExactBound);
  }

  void products() {
    const int64_t rows = 100, out = config_.d_ff, in = config_.d_model;
    check("product", {random({out, in}), half({rows, out}), half({rows, in})},
          [](auto&, const auto&, const auto& x) { add_product(x[0], x[1], x[2]); });
  }

  void losses() {
    const int64_t classes = 5003, stride = 5008;
    const auto labels = torch::tensor({0, 5002, -1, 4098, 17, 4, 5, 6}, torch::kInt32);
    for (const bool pairs : {false, true}) {
      auto logits = half({(pairs ? 2 : 1) * labels.size(0), stride});
      logits.mul_(2);
      const Tensors x{logits, labels, torch::tensor({0.5F, 0.7F, 0.3F, 0.2F}), result({labels.size(0), 3})};
      check(pairs ? "loss of two predictions" : "smoothed loss", x,
            [=](auto& operations, const auto& batch, const auto& t) {
              if (pairs)
                operations.paired_cross_entropy(t[0], t[1], classes, 0.1, t[2], batch.scale, t[3]);
              else
                operations.smoothed_cross_entropy(t[0], t[1], classes, 0.1, batch.scale, t[3]);
            });
    }
  }

  void embeddings() {
    const int64_t width = config_.d_model, rows = on_host_.target.tokens();
    for (const bool has_positions : {false, true})
      check(has_positions ? "embeddings with positions" : "embeddings",
            {half({kVocabulary, width}), half({128, width}), half_result({rows, width})},
            [=](auto& operations, const auto& batch, const auto& x) {
              operations.embedding_forward(batch.target.words, batch.target.positions, x[0],
                                           has_positions ? x[1] : torch::Tensor(), 1.5, place(batch, 6), x[2]);
            });
    const int64_t parts = on_host_.target.by_word.parts;
    check("gradient of embeddings", {half({rows, width}), random({kVocabulary, width}), result({parts, width})},
          [](auto& operations, const auto& batch, const auto& x) {
            const auto& groups = batch.target.by_word;
            operations.embedding_pieces(x[0], groups, 1.5, place(batch, 6), x[1], x[2]);
            operations.embedding_words(groups, x[2], x[1]);
          });
  }

  void adam() {
    const int64_t count = 5003;
    const auto options = torch::tensor({0.9F, 0.98F, 1e-9F, 0.01F}), rate = torch::tensor({0.01F});
    for (const double greatest : {0.0, 1.0}) {
      const Tensors x{random({count}),
                      random({count}),
                      random({count}).square(),
                      random({count}),
                      half_result({count}),
                      options,
                      rate,
                      torch::tensor({0.9, 0.98, greatest}, torch::kFloat64),
                      torch::tensor({6}, torch::kInt64),
                      result({kPrograms}),
                      result({5})};
      check(
          greatest > 0 ? "Adam with clipping" : "Adam", x,
          [](auto& operations, const auto&, const auto& t) {
            operations.squared_norm(t[3], t[9]);
            operations.adam_control(t[9], t[7], t[8], t[10]);
            t[9].zero_();  // the parts are the kernel's own affair
            operations.adam(t[0], t[1], t[2], t[3], t[4], t[10], t[5], t[6]);
          },
          kExactBound);
    }
  }

  PackedOperations& operations_;
  const ModelConfig& config_;
  torch::Device device_;
  at::ScalarType type_;
  int64_t tile_;
  at::Generator random_;
  PlainOperations twins_;
  PackedBatch on_device_, on_host_;
  std::vector<KernelCheck> checks_;
};

}  // namespace

std::vector<KernelCheck> check_kernels(PackedOperations& operations, const ModelConfig& config, torch::Device device,
                                       at::ScalarType type) {
  const torch::NoGradGuard no_grad;
  return Checks(operations, config, device, type).run();
}

}  // namespace nmt
