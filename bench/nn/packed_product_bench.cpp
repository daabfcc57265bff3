// The products of decoding on one thread, by format, rows rounded to the format included: rates by shape in GFLOP/s,
// how `auto` compares with float32, and the tokens a second that a search could reach if it did nothing but its
// products. Usage: packed_product_bench [kernel set]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "nn/kernels/products.h"

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

template <typename Run>
double seconds_of(Run&& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int attempt = 0; attempt < 7; ++attempt) {
    const auto start = Clock::now();
    int64_t runs = 0;
    double seconds = 0;
    do {
      run();
      ++runs;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < 0.03);
    best = std::min(best, seconds / static_cast<double>(runs));
  }
  return best;
}

constexpr WeightFormat kFormats[] = {WeightFormat::kFloat32, WeightFormat::kBfloat16, WeightFormat::kInt8};

struct Size {
  const char* name;
  int64_t dim, hidden, blocks;
};
constexpr Size kSizes[] = {{"small", 256, 1024, 3}, {"base", 512, 2048, 6}};
constexpr int64_t kBatch = 32, kVocabulary = 8000;

// A Transformer's products, each with weights of its own.
class Products {
 public:
  Products(const PackedKernels& set, WeightFormat format) : set_(set), format_(format) {}
  void add(int64_t rows, int64_t in, int64_t out) {
    products_.push_back(std::make_unique<Product>(set_, format_, Shape{rows, in, out}));
  }
  double seconds() {
    return seconds_of([&] {
      for (const auto& product : products_) product->run();
    });
  }

 private:
  const PackedKernels& set_;
  WeightFormat format_;
  std::vector<std::unique_ptr<Product>> products_;
};

// The speed of a step: one token of kBatch sentences, and the encoding of as many source words, 16 steps' worth at
// once.
double tokens_a_second(const PackedKernels& set, WeightFormat format, const Size& size, int64_t beam) {
  constexpr int64_t kSteps = 16;
  Products decoder(set, format), encoder(set, format);
  const auto add_block = [&](Products& products, int64_t rows) {
    products.add(rows, size.dim, 3 * size.dim);
    products.add(rows, size.dim, size.dim);
    products.add(rows, size.dim, size.hidden);
    products.add(rows, size.hidden, size.dim);
  };
  for (int64_t block = 0; block < size.blocks; ++block) {
    add_block(encoder, kSteps * kBatch);
    encoder.add(kSteps * kBatch, size.dim, 2 * size.dim);  // keys and values for the decoder
    add_block(decoder, kBatch * beam);
    for (int i = 0; i < 2; ++i) decoder.add(kBatch * beam, size.dim, size.dim);
  }
  decoder.add(kBatch * beam, size.dim, kVocabulary);
  return kBatch / (decoder.seconds() + encoder.seconds() / kSteps);
}

// GFLOP/s of a shape; 0 where the product is wrong.
double rate(const PackedKernels& set, WeightFormat format, const Shape& shape) {
  const double tolerance = format == WeightFormat::kFloat32 ? 1e-4 : format == WeightFormat::kBfloat16 ? 0.1 : 0.2;
  Product product(set, format, shape);
  product.run();
  if (product.error() > tolerance) return 0;
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.in * shape.out);
  return operations / seconds_of([&] { product.run(); }) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const PackedKernels* set = argc > 1 ? packed_kernels_by_name(argv[1]) : &packed_kernels();
  if (!set) {
    fmt::print(stderr, "packed_product_bench: {}: no such kernel set on this processor\n", argv[1]);
    return 2;
  }
  const bool takes_bfloat16 = has_dot_products(WeightFormat::kBfloat16, set->name);
  double least = 1e9;  // of what auto takes, beside float32
  fmt::print("{}\n| GFLOP/s: rows, in, out | fp32 | bf16 | int8 |\n| --- | --- | --- | --- |\n", set->name);
  for (const auto& shape : kShapes) {
    fmt::print("| {}, {}, {} |", shape.rows, shape.in, shape.out);
    double rates[std::size(kFormats)];
    for (size_t i = 0; i < std::size(kFormats); ++i) {
      rates[i] = rate(*set, kFormats[i], shape);
      if (rates[i] == 0) {
        fmt::print(stderr, "packed_product_bench: wrong product\n");
        return 1;
      }
      fmt::print(" {:.0f} |", rates[i]);
    }
    fmt::print("\n");
    least = std::min(least, (takes_bfloat16 ? rates[1] : rates[0]) / rates[0]);
  }
  fmt::print("\nauto is {}: at least {:.2f} of fp32's rate\n\n", takes_bfloat16 ? "bf16" : "fp32", least);
  fmt::print("| tokens/s, products alone, batch {} | fp32 | bf16 | int8 |\n| --- | --- | --- | --- |\n", kBatch);
  for (const auto& size : kSizes) {
    for (const int64_t beam : {1, 4}) {
      fmt::print("| {}, {} |", size.name, beam == 1 ? "greedy" : "beam 4");
      for (const auto format : kFormats) fmt::print(" {:.0f} |", tokens_a_second(*set, format, size, beam));
      fmt::print("\n");
    }
  }
}
