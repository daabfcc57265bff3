#include "nn/kernels/training/training_product.h"

#include <string>

#include "nn/kernels/kernel_support.h"

namespace nmt::kernels::test::training_product_test {
namespace {

template <typename Body>
void for_each_training_set(Body&& body) {
  int sets = 0;
  for (const char* name : {"baseline", "avx512_bf16"})
    if (const TrainingKernels* set = training_kernels_by_name(name)) {
      SCOPED_TRACE(name);
      ASSERT_STREQ(set->name, name);
      body(*set);
      ++sets;
    }
  EXPECT_GE(sets, 1);
}

struct Problem {
  Problem(int64_t rows, int64_t in, int64_t out)
      : rows(rows),
        in(in),
        out(out),
        x(wave<uint16_t>(rows * in, 1)),
        of_y(wave<uint16_t>(rows * out, 2)),
        weight(wave<float>(out * in, 3)),
        bias(wave<float>(out, 4)),
        panels(panel_count(out) * kPanel * in / 2, 1),
        transposed(panel_count(in) * kPanel * out / 2, 1) {}

  void pack(const TrainingKernels& set) {
    const TrainingWeight packed{.out = out, .in = in, .panels = panels.data(), .transposed = transposed.data()};
    for (int64_t panel = panel_count(out); panel-- > 0;) set.pack(weight.data(), packed, {panel, panel + 1});
  }
  double rounded_weight(int64_t o, int64_t i) const { return widen(narrow<uint16_t>(weight[o * in + i])); }
  std::string name() const { return std::to_string(rows) + " x " + std::to_string(in) + " -> " + std::to_string(out); }

  int64_t rows, in, out;
  std::vector<uint16_t> x, of_y;
  std::vector<float> weight, bias;
  std::vector<uint32_t> panels, transposed;
};

/// Whole panels and parts of them, more rows than stay in the cache together, odd numbers of rows, none.
std::vector<Problem> problems() {
  return {{1, 2, 2}, {5, 34, 70}, {13, 128, 64}, {101, 64, 192}, {7, 2050, 6}, {1031, 130, 66}, {0, 4, 4}};
}

// Two rows of ranges, so that nothing may depend on where they begin.
std::vector<uint16_t> multiply(const TrainingKernels& set, TrainingProduct product, int64_t middle) {
  std::vector<uint16_t> y(product.rows * product.out);
  product.y = y.data();
  set.multiply(product, {middle, product.rows});
  set.multiply(product, {0, middle});
  return y;
}

TEST(TrainingProduct, IsThatOfRoundedNumbers) {
  for_each_training_set([](const TrainingKernels& set) {
    for (auto& p : problems()) {
      p.pack(set);
      Doubles expected;
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t o = 0; o < p.out; ++o) {
          double sum = p.bias[o];
          for (int64_t i = 0; i < p.in; ++i) sum += widen(p.x[r * p.in + i]) * p.rounded_weight(o, i);
          expected.push_back(sum);
        }
      const TrainingProduct product{
          .rows = p.rows, .in = p.in, .out = p.out, .x = p.x.data(), .panels = p.panels.data(), .bias = p.bias.data()};
      const auto y = multiply(set, product, 0);
      expect_close(y, expected, 1e-5, p.name());
      EXPECT_EQ(y, multiply(set, product, p.rows / 2)) << p.name();
    }
  });
}

TEST(TrainingProduct, WithTheTransposedWeightIsTheGradientOfItsInput) {
  for_each_training_set([](const TrainingKernels& set) {
    for (auto& p : problems()) {
      p.pack(set);
      Doubles expected;
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t i = 0; i < p.in; ++i) {
          double sum = 0;
          for (int64_t o = 0; o < p.out; ++o) sum += widen(p.of_y[r * p.out + o]) * p.rounded_weight(o, i);
          expected.push_back(sum);
        }
      const TrainingProduct product{
          .rows = p.rows, .in = p.out, .out = p.in, .x = p.of_y.data(), .panels = p.transposed.data()};
      expect_close(multiply(set, product, p.rows / 3), expected, 1e-5, p.name());
    }
  });
}

struct Gradients {
  std::vector<float> weight, bias;
};

Gradients gradients(const TrainingKernels& set, const Problem& p, bool split) {
  Gradients sums{.weight = wave<float>(p.out * p.in, 5), .bias = wave<float>(p.out, 6)};
  std::vector<uint32_t> pairs(panel_count(p.in) * pair_count(p.rows) * kPanel, 1);
  for (int64_t panel = panel_count(p.in); panel-- > 0;)
    set.pair_rows(p.x.data(), p.rows, p.in, {panel, panel + 1}, pairs.data());
  const TrainingGradient gradient{.rows = p.rows,
                                  .in = p.in,
                                  .out = p.out,
                                  .x_pairs = pairs.data(),
                                  .y_gradient = p.of_y.data(),
                                  .weight_gradient = sums.weight.data(),
                                  .bias_gradient = sums.bias.data()};
  if (!split) {
    set.add_gradient(gradient, {0, p.out}, {0, p.in});
    return sums;
  }
  for (int64_t output = 0; output < p.out; output += kPanel)
    for (int64_t input = 0; input < p.in; input += kPanel)
      set.add_gradient(gradient, {output, std::min(p.out, output + kPanel)}, {input, std::min(p.in, input + kPanel)});
  return sums;
}

TEST(TrainingProduct, AddsTheGradientsOfWeightAndBias) {
  for_each_training_set([](const TrainingKernels& set) {
    for (const auto& p : problems()) {
      auto weight = wide(wave<float>(p.out * p.in, 5)), bias = wide(wave<float>(p.out, 6));
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t o = 0; o < p.out; ++o) {
          const double of_y = widen(p.of_y[r * p.out + o]);
          bias[o] += of_y;
          for (int64_t i = 0; i < p.in; ++i) weight[o * p.in + i] += of_y * widen(p.x[r * p.in + i]);
        }
      const auto found = gradients(set, p, false);
      expect_close(found.weight, weight, 1e-4, p.name());
      expect_close(found.bias, bias, 1e-4, p.name());
    }
  });
}

TEST(TrainingProduct, AddsTheSameGradientsInParts) {
  for_each_training_set([](const TrainingKernels& set) {
    const Problem p(1031, 256, 192);  // more rows than are taken at once
    const auto whole = gradients(set, p, false), parts = gradients(set, p, true);
    EXPECT_EQ(parts.weight, whole.weight);
    EXPECT_EQ(parts.bias, whole.bias);
  });
}

TEST(TrainingProduct, HasASetOnlyWhereItIsTheFastest) {
  if (const auto* set = training_kernels()) {
    EXPECT_STREQ(set->name, "avx512_bf16");
  }
}

}  // namespace
}  // namespace nmt::kernels::test::training_product_test
