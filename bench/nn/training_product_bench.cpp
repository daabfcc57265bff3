// Rates of the products of training, ours beside LibTorch's: GFLOP/s of y = x weightᵀ, of the gradient of x and of that
// of the weight, by shape. Usage: training_product_bench [threads] [kernel set] [bf16|fp32]
#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "nn/device/cpu_kernels.h"
#include "nn/kernels/products.h"

namespace {

using namespace nmt::kernels;

struct Shape {
  int64_t rows, in, out;
};

// Small and base: attention, feed-forward, a block of rows of the output layer.
constexpr Shape kShapes[] = {{3700, 256, 256},  {3700, 256, 512},  {3700, 256, 768},  {3700, 256, 1024},
                             {3700, 1024, 256}, {512, 256, 8000},  {3700, 512, 512},  {3700, 512, 1024},
                             {3700, 512, 1536}, {3700, 512, 2048}, {3700, 2048, 512}, {512, 512, 8000}};

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

void measure(const TrainingKernels& set, const Shape& shape) {
  const auto type = set.type == Type::kFloat ? torch::kFloat32 : torch::kBFloat16;
  const auto x = torch::randn({shape.rows, shape.in}).to(type), master = torch::randn({shape.out, shape.in});
  const auto weight = master.to(type), of_y = torch::randn({shape.rows, shape.out}).to(type);
  auto y = torch::empty_like(of_y), of_x = torch::empty_like(x), of_weight = torch::zeros_like(master);
  auto narrow_of_weight = torch::empty_like(weight);
  const auto words = [&](int64_t out, int64_t in) {
    return torch::empty({panel_count(out) * kPanel * word_count(set.type, in)}, torch::kInt32);
  };
  auto panels = words(shape.out, shape.in), transposed = words(shape.in, shape.out);
  auto x_panels = words(shape.in, shape.rows);
  const auto data = [](torch::Tensor& words) { return static_cast<uint32_t*>(words.mutable_data_ptr()); };
  const TrainingWeight matrix{.out = shape.out, .in = shape.in, .numbers = master.const_data_ptr<float>()};
  const TrainingProduct forward{.rows = shape.rows,
                                .in = shape.in,
                                .out = shape.out,
                                .x = x.const_data_ptr(),
                                .panels = data(panels),
                                .y = y.mutable_data_ptr()};
  const TrainingProduct backward{.rows = shape.rows,
                                 .in = shape.out,
                                 .out = shape.in,
                                 .x = of_y.const_data_ptr(),
                                 .panels = data(transposed),
                                 .y = of_x.mutable_data_ptr()};
  const TrainingGradient gradient{.rows = shape.rows,
                                  .in = shape.in,
                                  .out = shape.out,
                                  .x_panels = data(x_panels),
                                  .y_gradient = of_y.const_data_ptr(),
                                  .weight_gradient = of_weight.mutable_data_ptr<float>()};
  const auto multiply = [&](const TrainingProduct& product) {
    nmt::parallel_ranges(shape.rows, 96, [&](int64_t begin, int64_t end) { set.multiply(product, {begin, end}); });
  };
  const auto add_gradient = [&] {
    nmt::parallel_ranges(panel_count(shape.in), 1, [&](int64_t begin, int64_t end) {
      set.pack_rows(x.const_data_ptr(), shape.rows, shape.in, {begin, end}, data(x_panels));
    });
    nmt::parallel_ranges(shape.out, kPanel, [&](int64_t begin, int64_t end) {
      set.add_gradient(gradient, {begin, end}, {0, shape.in});
    });
  };
  const double flop = 2e-9 * static_cast<double>(shape.rows * shape.in * shape.out);
  const double packing = best_seconds([&] {
    set.pack(matrix, {0, panel_count(shape.out)}, data(panels));
    set.pack_transposed(matrix, {0, panel_count(shape.in)}, data(transposed));
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
  const bool is_float = argc > 3 && !std::strcmp(argv[3], "fp32");
  const auto* set =
      training_kernels_by_name(argc > 2 ? argv[2] : "avx512_bf16", is_float ? Type::kFloat : Type::kBfloat16);
  if (!set) {
    fmt::print(stderr, "training_product_bench: this processor cannot run it\n");
    return 2;
  }
  fmt::print("{} {}, {} threads: y, gradient of x, gradient of the weight, GFLOP/s (LibTorch's)\n", set->name,
             is_float ? "fp32" : "bf16", at::get_num_threads());
  for (const auto& shape : kShapes) measure(*set, shape);
}
