#include <string>

#include "nn/kernels/kernel_support.h"
#include "nn/kernels/products.h"
#include "nn/kernels/x86_level.h"

namespace nmt::kernels::test::training_product_test {
namespace {

template <typename Number>
constexpr Type kType = sizeof(Number) == 4 ? Type::kFloat : Type::kBfloat16;

template <typename Number, typename Body>
void for_each_set_of(Body&& body) {
  int sets = 0;
  for (const char* name : {"baseline", "avx2", "avx512", "avx512_bf16"})
    if (const TrainingKernels* set = training_kernels_by_name(name, kType<Number>)) {
      SCOPED_TRACE(std::string(name) + (sizeof(Number) == 4 ? ", float32" : ", bfloat16"));
      ASSERT_STREQ(set->name, name);
      ASSERT_EQ(set->type, kType<Number>);
      body(*set, Number());
      ++sets;
    }
  EXPECT_GE(sets, 1);
}
/// body(set, a number of its type).
template <typename Body>
void for_each_training_set(Body&& body) {
  for_each_set_of<float>(body);
  for_each_set_of<uint16_t>(body);
}

template <typename Number>
struct Problem {
  Problem(int64_t rows, int64_t in, int64_t out)
      : rows(rows),
        in(in),
        out(out),
        x(wave<Number>(rows * in, 1)),
        of_y(wave<Number>(rows * out, 2)),
        weight(wave<float>(out * in, 3)),
        bias(wave<float>(out, 4)),
        panels(panel_count(out) * kPanel * word_count(kType<Number>, in), 1),
        transposed(panel_count(in) * kPanel * word_count(kType<Number>, out), 1) {}

  void pack(const TrainingKernels& set) {
    const TrainingWeight source{.out = out, .in = in, .numbers = weight.data()};
    for (int64_t panel = panel_count(out); panel-- > 0;) set.pack(source, {panel, panel + 1}, panels.data());
    for (int64_t panel = panel_count(in); panel-- > 0;)
      set.pack_transposed(source, {panel, panel + 1}, transposed.data());
  }
  double rounded_weight(int64_t o, int64_t i) const { return widen(narrow<Number>(weight[o * in + i])); }
  std::string name() const { return std::to_string(rows) + " x " + std::to_string(in) + " -> " + std::to_string(out); }

  int64_t rows, in, out;
  std::vector<Number> x, of_y;
  std::vector<float> weight, bias;
  std::vector<uint32_t> panels, transposed;
};

/// Whole panels and parts of them, more rows than stay in the cache together, odd numbers of rows, none; with float32
/// also odd numbers of columns.
template <typename Number>
std::vector<Problem<Number>> problems() {
  std::vector<Problem<Number>> all = {{1, 2, 2},    {5, 34, 70},     {13, 128, 64}, {101, 64, 192},
                                      {7, 2050, 6}, {1031, 130, 66}, {0, 4, 4}};
  if (sizeof(Number) == 4) all.insert(all.end(), {{1, 1, 1}, {9, 65, 63}});
  return all;
}

// Two rows of ranges, so that nothing may depend on where they begin.
template <typename Number>
std::vector<Number> multiply(const TrainingKernels& set, TrainingProduct product, int64_t middle) {
  std::vector<Number> y(product.rows * product.out);
  product.y = y.data();
  set.multiply(product, {middle, product.rows});
  set.multiply(product, {0, middle});
  return y;
}

TEST(TrainingProduct, IsThatOfRoundedNumbers) {
  for_each_training_set([](const TrainingKernels& set, auto number) {
    using Number = decltype(number);
    for (auto& p : problems<Number>()) {
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
      const auto y = multiply<Number>(set, product, 0);
      expect_close(y, expected, 1e-4, p.name());  // sums of up to 2,050 products in float32
      EXPECT_EQ(y, multiply<Number>(set, product, p.rows / 2)) << p.name();
    }
  });
}

TEST(TrainingProduct, WithTheTransposedWeightIsTheGradientOfItsInput) {
  for_each_training_set([](const TrainingKernels& set, auto number) {
    using Number = decltype(number);
    for (auto& p : problems<Number>()) {
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
      expect_close(multiply<Number>(set, product, p.rows / 3), expected, 1e-4, p.name());
    }
  });
}

struct Gradients {
  std::vector<float> weight, bias;
};

template <typename Number>
Gradients gradients(const TrainingKernels& set, const Problem<Number>& p, bool split) {
  Gradients sums{.weight = wave<float>(p.out * p.in, 5), .bias = wave<float>(p.out, 6)};
  std::vector<uint32_t> x_panels(panel_count(p.in) * word_count(kType<Number>, p.rows) * kPanel, 1);
  for (int64_t panel = panel_count(p.in); panel-- > 0;)
    set.pack_rows(p.x.data(), p.rows, p.in, {panel, panel + 1}, x_panels.data());
  const TrainingGradient gradient{.rows = p.rows,
                                  .in = p.in,
                                  .out = p.out,
                                  .x_panels = x_panels.data(),
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
  for_each_training_set([](const TrainingKernels& set, auto number) {
    for (const auto& p : problems<decltype(number)>()) {
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
  for_each_training_set([](const TrainingKernels& set, auto number) {
    const Problem<decltype(number)> p(1031, 256, 192);  // more rows than are taken at once
    const auto whole = gradients(set, p, false), parts = gradients(set, p, true);
    EXPECT_EQ(parts.weight, whole.weight);
    EXPECT_EQ(parts.bias, whole.bias);
  });
}

// Lanes are outputs, so wider vectors take the same sums in the same order.
TEST(TrainingProduct, HasTheSameBitsInFloat32WithEveryFusedMultiplyAdd) {
  const auto* narrow = training_kernels_by_name("avx2", Type::kFloat);
  if (!narrow) GTEST_SKIP() << "no AVX2 here";
  for (const char* name : {"avx512", "avx512_bf16"})
    if (const auto* wide = training_kernels_by_name(name, Type::kFloat))
      for (auto& p : problems<float>()) {
        p.pack(*wide);
        const TrainingProduct product{.rows = p.rows,
                                      .in = p.in,
                                      .out = p.out,
                                      .x = p.x.data(),
                                      .panels = p.panels.data(),
                                      .bias = p.bias.data()};
        EXPECT_EQ(multiply<float>(*wide, product, 0), multiply<float>(*narrow, product, 0)) << name << ' ' << p.name();
        const auto some = gradients(*wide, p, false), others = gradients(*narrow, p, false);
        EXPECT_EQ(some.weight, others.weight) << name << ' ' << p.name();
        EXPECT_EQ(some.bias, others.bias) << name << ' ' << p.name();
      }
}

TEST(TrainingProduct, HasASetOnlyWhereItIsTheFastest) {
  if (const auto* set = training_kernels(Type::kBfloat16)) {
    EXPECT_FALSE(has_bfloat16_tiles());
    EXPECT_STREQ(set->name, has_quick_bfloat16() ? "avx512_bf16" : "avx512");
  }
  if (const auto* set = training_kernels(Type::kFloat)) {
    EXPECT_STRNE(set->name, "baseline");
  }
}

}  // namespace
}  // namespace nmt::kernels::test::training_product_test
