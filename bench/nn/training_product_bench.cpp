// Rates of the products of training in bfloat16, ours beside LibTorch's: GFLOP/s of y = x weightᵀ, of the gradient of x
// and of that of the weight, by shape. Usage: training_product_bench [threads] [kernel set]
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "nn/device/parallel_ranges.h"
#include "nn/kernels/training/training_product.h"

namespace {

using namespace nmt::kernels;

struct Shape {
  int64_t rows, in, out;
};

// Small and base: attention, feed-forward, a block of rows of the output layer.
constexpr Shape kShapes[] = {{3700, 256, 256},  {3700, 256, 768}, {3700, 256, 1024}, {3700, 1024, 256},
                             {512, 256, 8000},  {3700, 512, 512}, {3700, 512, 1536}, {3700, 512, 2048},
                             {3700, 2048, 512}, {512, 512, 8000}};

template <typename Body>
double best_seconds(Body&& body) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int attempt = 0; attempt < 7; ++attempt) {
    const auto start = Clock::now();
    double seconds = 0;
    int runs = 0;
    do {
      body();
      ++runs;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < 0.05);
    best = std::min(best, seconds / runs);
  }
  return best;
}

const uint16_t* numbers(const torch::Tensor& x) { return static_cast<const uint16_t*>(x.const_data_ptr()); }

void measure(const TrainingKernels& set, const Shape& shape) {
  const auto bf16 = torch::kBFloat16;
  const auto x = torch::randn({shape.rows, shape.in}).to(bf16), master = torch::randn({shape.out, shape.in});
  const auto weight = master.to(bf16), of_y = torch::randn({shape.rows, shape.out}).to(bf16);
  auto y = torch::empty_like(of_y), of_x = torch::empty_like(x), of_weight = torch::zeros_like(master);
  auto narrow_of_weight = torch::empty_like(weight);
  const auto words = [](int64_t out, int64_t in) {
    return torch::empty({panel_count(out) * kPanel * in / 2}, torch::kInt32);
  };
  auto panels = words(shape.out, shape.in), transposed = words(shape.in, shape.out);
  const TrainingWeight packed{.out = shape.out,
                              .in = shape.in,
                              .panels = static_cast<uint32_t*>(panels.mutable_data_ptr()),
                              .transposed = static_cast<uint32_t*>(transposed.mutable_data_ptr())};
  const TrainingProduct forward{.rows = shape.rows,
                                .in = shape.in,
                                .out = shape.out,
                                .x = numbers(x),
                                .panels = packed.panels,
                                .y = static_cast<uint16_t*>(y.mutable_data_ptr())};
  const TrainingProduct backward{.rows = shape.rows,
                                 .in = shape.out,
                                 .out = shape.in,
                                 .x = numbers(of_y),
                                 .panels = packed.transposed,
                                 .y = static_cast<uint16_t*>(of_x.mutable_data_ptr())};
  auto pairs = torch::empty({panel_count(shape.in) * pair_count(shape.rows) * kPanel}, torch::kInt32);
  const TrainingGradient gradient{.rows = shape.rows,
                                  .in = shape.in,
                                  .out = shape.out,
                                  .x_pairs = static_cast<uint32_t*>(pairs.mutable_data_ptr()),
                                  .y_gradient = numbers(of_y),
                                  .weight_gradient = of_weight.mutable_data_ptr<float>()};
  const auto multiply = [&](const TrainingProduct& product) {
    nmt::parallel_ranges(shape.rows, 96, [&](int64_t begin, int64_t end) { set.multiply(product, {begin, end}); });
  };
  const auto add_gradient = [&] {
    nmt::parallel_ranges(panel_count(shape.in), 1, [&](int64_t begin, int64_t end) {
      set.pair_rows(numbers(x), shape.rows, shape.in, {begin, end}, static_cast<uint32_t*>(pairs.mutable_data_ptr()));
    });
    nmt::parallel_ranges(shape.out, kPanel, [&](int64_t begin, int64_t end) {
      set.add_gradient(gradient, {begin, end}, {0, shape.in});
    });
  };
  const double flop = 2e-9 * static_cast<double>(shape.rows * shape.in * shape.out);
  const double packing = best_seconds([&] {
    set.pack(master.const_data_ptr<float>(), packed, {0, panel_count(shape.out)});
  });
  const double ours[] = {best_seconds([&] { multiply(forward); }), best_seconds([&] { multiply(backward); }),
                         best_seconds(add_gradient)};
  const double theirs[] = {best_seconds([&] { at::mm_out(y, x, weight.t()); }),
                           best_seconds([&] { at::mm_out(of_x, of_y, weight); }),
                           best_seconds([&] { at::mm_out(narrow_of_weight, of_y.t(), x); })};
  fmt::print("{:5} x {:4} -> {:4}", shape.rows, shape.in, shape.out);
  for (int i = 0; i < 3; ++i) fmt::print("  {:4.0f} ({:4.0f})", flop / ours[i], flop / theirs[i]);
  fmt::print("  packing {:.2f} ms\n", 1e3 * packing);
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 2);
  const auto* set = training_kernels_by_name(argc > 2 ? argv[2] : "avx512_bf16");
  if (!set) {
    fmt::print(stderr, "training_product_bench: this processor cannot run it\n");
    return 2;
  }
  fmt::print("{}, {} threads: y, gradient of x, gradient of the weight, GFLOP/s (LibTorch's)\n", set->name,
             at::get_num_threads());
  for (const auto& shape : kShapes) measure(*set, shape);
}
