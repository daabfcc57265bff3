// Rates of the products of decoding on one thread, by format and shape: GFLOP/s, rows rounded to the format included.
// Usage: packed_product_bench [kernel set]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "nn/kernels/packed/packed_product.h"

namespace {

using namespace nmt::kernels;

struct Shape {
  int64_t rows, in, out;
};

// Greedy and beam 4 with batches of 32, one sentence, an encoder's block of rows; small and base models.
constexpr Shape kShapes[] = {{32, 256, 256},  {32, 256, 1024}, {128, 256, 8000}, {32, 512, 2048},
                             {32, 2048, 512}, {640, 512, 512}, {4, 512, 2048},   {1, 512, 2048}};

class Product {
 public:
  Product(const PackedKernels& set, WeightFormat format, Shape shape)
      : set_(set),
        shape_(shape),
        x_(shape.rows * shape.in),
        weight_(shape.out * shape.in),
        y_(shape.rows * shape.out),
        scales_(panel_count(shape.out) * kPanel),
        sums_(scales_.size()),
        panels_(scales_.size() * words_in_row(format, shape.in)),
        words_(shape.rows * set.words_of_x(format, shape.in)),
        row_scales_(shape.rows) {
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = std::sin(0.3f * static_cast<float>(i));
    for (size_t i = 0; i < weight_.size(); ++i) weight_[i] = std::cos(0.7f * static_cast<float>(i));
    packed_ = {.format = format,
               .out = shape.out,
               .in = shape.in,
               .panels = panels_.data(),
               .scales = scales_.data(),
               .sums = sums_.data()};
    set.pack(weight_.data(), packed_, {0, panel_count(shape.out)});
  }

  void run() {
    const bool as_it_is = packed_.format == WeightFormat::kFloat32;
    if (!as_it_is)
      set_.prepare(packed_.format, x_.data(), shape_.in, {0, shape_.rows}, words_.data(), row_scales_.data());
    const PackedProduct product{.weight = packed_,
                                .x = as_it_is ? static_cast<const void*>(x_.data()) : words_.data(),
                                .row_scales = row_scales_.data(),
                                .y = y_.data()};
    set_.multiply(product, {0, shape_.rows}, {0, panel_count(shape_.out)});
  }

  // Relative to the largest element, at some places.
  double error() const {
    double worst = 0, largest = 0;
    for (int64_t r = 0; r < shape_.rows; r += 7) {
      for (int64_t c = 0; c < shape_.out; c += 13) {
        double exact = 0;
        for (int64_t k = 0; k < shape_.in; ++k) exact += double{x_[r * shape_.in + k]} * weight_[c * shape_.in + k];
        worst = std::max(worst, std::abs(exact - y_[r * shape_.out + c]));
        largest = std::max(largest, std::abs(exact));
      }
    }
    return worst / largest;
  }

 private:
  const PackedKernels& set_;
  Shape shape_;
  std::vector<float> x_, weight_, y_, scales_;
  std::vector<int32_t> sums_;
  std::vector<uint32_t> panels_, words_;
  std::vector<RowScale> row_scales_;
  PackedWeight packed_;
};

double seconds_of_a_run(Product& product) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int attempt = 0; attempt < 7; ++attempt) {
    const auto start = Clock::now();
    int64_t runs = 0;
    double seconds = 0;
    do {
      product.run();
      ++runs;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < 0.03);
    best = std::min(best, seconds / static_cast<double>(runs));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const PackedKernels* set = argc > 1 ? packed_kernels_by_name(argv[1]) : &packed_kernels();
  if (!set) {
    fmt::print(stderr, "packed_product_bench: {}: no such kernel set on this processor\n", argv[1]);
    return 2;
  }
  fmt::print("{}\n| rows, in, out | fp32 | bf16 | int8 |\n| --- | --- | --- | --- |\n", set->name);
  for (const auto& shape : kShapes) {
    std::string line = fmt::format("| {}, {}, {} |", shape.rows, shape.in, shape.out);
    for (const auto& [format, tolerance] :
         {std::pair{WeightFormat::kFloat32, 1e-4}, {WeightFormat::kBfloat16, 0.1}, {WeightFormat::kInt8, 0.2}}) {
      Product product(*set, format, shape);
      product.run();
      if (product.error() > tolerance) {
        fmt::print(stderr, "packed_product_bench: wrong product, relative error {}\n", product.error());
        return 1;
      }
      const double operations = 2.0 * static_cast<double>(shape.rows * shape.in * shape.out);
      line += fmt::format(" {:.0f} |", operations / seconds_of_a_run(product) / 1e9);
    }
    fmt::print("{}\n", line);
  }
}
