#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "base/error.h"
#include "nn/kernels/kernel_support.h"
#include "nn/kernels/products.h"
#include "nn/kernels/x86_level.h"

#ifdef __x86_64__
namespace nmt::kernels::avx_vnni_by_avx512 {
extern const PackedKernels kPackedSet;  // avx_vnni_by_avx512.cpp
}
#endif

namespace nmt::kernels::test::packed_product_test {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::kFloat32, WeightFormat::kBfloat16, WeightFormat::kInt8};

template <typename Body>
void for_each_packed_set(Body&& body) {
  std::vector<const PackedKernels*> sets;
  for (const char* name : kPackedSetNames)
    if (const PackedKernels* set = packed_kernels_by_name(name)) {
      ASSERT_STREQ(set->name, name);
      sets.push_back(set);
    }
  ASSERT_FALSE(sets.empty());
#ifdef __x86_64__
  if (packed_kernels_by_name("avx512_vnni")) sets.push_back(&avx_vnni_by_avx512::kPackedSet);
#endif
  for (const auto* set : sets)
    for (const auto format : kFormats) {
      SCOPED_TRACE(set->name);
      SCOPED_TRACE(static_cast<int>(format));
      body(*set, format);
    }
}

struct Problem {
  Problem(int64_t rows, int64_t in, int64_t out)
      : rows(rows),
        in(in),
        out(out),
        x(wave<float>(rows * in, 1, 2)),
        weight(wave<float>(out * in, 2)),
        bias(wave<float>(out, 3)),
        residual(wave<float>(rows * out, 4)) {}
  int64_t rows, in, out;
  std::vector<float> x, weight, bias, residual;
  bool with_all = true;  // bias, relu and residual
};

/// Memory that is as large as a format asks for, and not a byte more.
struct Memory {
  Memory(const PackedKernels& set, WeightFormat format, const Problem& p)
      : panels(panel_count(p.out) * words_in_row(format, p.in) * kPanel),
        words(p.rows * set.words_of_x(format, p.in)),
        scales(format == WeightFormat::kInt8 ? panel_count(p.out) * kPanel : 0),
        sums(scales.size()),
        row_scales(format == WeightFormat::kInt8 ? p.rows : 0) {}
  std::vector<uint32_t> panels, words;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<RowScale> row_scales;
};

/// Panels and rows one after the other where `split`.
std::vector<float> multiply(const PackedKernels& set, WeightFormat format, const Problem& p, bool split) {
  Memory memory(set, format, p);
  std::vector<float> y(p.rows * p.out);
  const PackedWeight packed{.format = format,
                            .out = p.out,
                            .in = p.in,
                            .panels = memory.panels.data(),
                            .scales = memory.scales.data(),
                            .sums = memory.sums.data()};
  const int64_t panels = panel_count(p.out), middle = split ? p.rows / 2 : 0;
  for (int64_t panel = 0; panel < panels; ++panel) set.pack(p.weight.data(), packed, {panel, panel + 1});
  const bool as_it_is = format == WeightFormat::kFloat32;
  for (const Range rows : {Range{0, middle}, Range{middle, p.rows}})
    if (!as_it_is) set.prepare(format, p.x.data(), p.in, rows, memory.words.data(), memory.row_scales.data());
  const PackedProduct product{.weight = packed,
                              .x = as_it_is ? static_cast<const void*>(p.x.data()) : memory.words.data(),
                              .row_scales = memory.row_scales.data(),
                              .bias = p.with_all ? p.bias.data() : nullptr,
                              .relu = p.with_all,
                              .residual = p.with_all ? p.residual.data() : nullptr,
                              .y = y.data()};
  for (const Range rows : {Range{0, middle}, Range{middle, p.rows}})
    for (int64_t panel = 0; panel < panels; panel += split ? 1 : panels)
      set.multiply(product, rows, {panel, split ? panel + 1 : panels});
  return y;
}

/// A row of whole steps and what one is worth.
struct Steps {
  Doubles steps;
  double size = 1;
};

Steps steps_of_weight(const float* row, int64_t in) {
  Steps result;
  float largest = 0;
  for (int64_t k = 0; k < in; ++k) largest = std::max(largest, std::abs(row[k]));
  result.size = largest / 127;
  for (int64_t k = 0; k < in; ++k) result.steps.push_back(std::nearbyint(row[k] * (127 / largest)));
  return result;
}

Steps steps_of_x(const float* row, int64_t in) {
  Steps result;
  float low = 0, high = 0;
  for (int64_t k = 0; k < in; ++k) low = std::min(low, row[k]), high = std::max(high, row[k]);
  const float inverse = 255 / (high - low), zero = std::nearbyint(-low * inverse);
  result.size = (high - low) / 255;
  for (int64_t k = 0; k < in; ++k)
    result.steps.push_back(std::min(std::floor(row[k] * inverse + (zero + 0.5f)), 255.0f) - zero);
  return result;
}

Steps steps_of(WeightFormat format, const float* row, int64_t in, bool is_weight) {
  if (format == WeightFormat::kInt8) return is_weight ? steps_of_weight(row, in) : steps_of_x(row, in);
  Steps result;
  for (int64_t k = 0; k < in; ++k)
    result.steps.push_back(format == WeightFormat::kFloat32 ? row[k] : widen(narrow<uint16_t>(row[k])));
  return result;
}

Doubles expected_product(WeightFormat format, const Problem& p) {
  std::vector<Steps> weights;
  for (int64_t j = 0; j < p.out; ++j) weights.push_back(steps_of(format, p.weight.data() + j * p.in, p.in, true));
  Doubles y;
  for (int64_t i = 0; i < p.rows; ++i) {
    const auto x = steps_of(format, p.x.data() + i * p.in, p.in, false);
    for (int64_t j = 0; j < p.out; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < p.in; ++k) sum += x.steps[k] * weights[j].steps[k];
      sum *= x.size * weights[j].size;
      y.push_back(p.with_all ? std::max(sum + p.bias[j], 0.0) + p.residual[i * p.out + j] : sum);
    }
  }
  return y;
}

TEST(PackedProductKernel, EqualsAPlainLoop) {
  for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
    for (const auto& [rows, in, out] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                        {2, 7, 64},
                                        {5, 33, 65},
                                        {6, 64, 128},
                                        {7, 3, 200},
                                        {13, 130, 63},
                                        {40, 66, 100}}) {
      Problem p(rows, in, out);
      for (const bool with_all : {true, false}) {
        p.with_all = with_all;
        const auto y = multiply(set, format, p, false);
        // A number that stands between two steps of int8 may go to either: 127 weights of 2 / 255.
        expect_close(y, expected_product(format, p), format == WeightFormat::kInt8 ? 0.03 : 1e-4);
        EXPECT_EQ(multiply(set, format, p, true), y) << "however the work is split";
      }
    }
  });
}

// Rows that are longer than a piece of a panel, in more than one chunk.
TEST(PackedProductKernel, EqualsAPlainLoopInLongRows) {
  const Problem p(150, 2600, 70);
  std::map<WeightFormat, Doubles> expected;
  for (const auto format : kFormats) expected[format] = expected_product(format, p);
  for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
    expect_close(multiply(set, format, p, false), expected[format], format == WeightFormat::kInt8 ? 0.05 : 2e-3);
  });
}

// Steps of 1 for weights and x alike: nothing is rounded before the sum is. Rows and weights at their limits are there.
TEST(PackedProductKernel, MultipliesWholeNumbersExactlyInInt8) {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{2, 5}, {77, 130}, {300, 64}, {kMaxInt8In, 3}}) {
    constexpr int64_t kRows = 7;
    Problem p(kRows, in, out);
    p.with_all = false;
    for (int64_t k = 0; k < in; ++k) {
      for (int64_t r = 0; r < kRows; ++r)
        p.x[r * in + k] = k < 2 ? (k == 0 ? -128 : 127) : r == 0 ? -128 : r == 1 ? 127 : (k * (2 * r + 1)) % 256 - 128;
      for (int64_t o = 0; o < out; ++o)
        p.weight[o * in + k] = k == 1 || o == 0 ? 127 : o == 1 ? -127 : (k * (2 * o + 3)) % 255 - 127;
    }
    std::vector<float> expected;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t o = 0; o < out; ++o) {
        int64_t sum = 0;
        for (int64_t k = 0; k < in; ++k)
          sum += static_cast<int64_t>(p.x[r * in + k]) * static_cast<int64_t>(p.weight[o * in + k]);
        expected.push_back(static_cast<float>(sum));
      }
    for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
      if (format != WeightFormat::kInt8) return;
      EXPECT_EQ(multiply(set, format, p, false), expected) << in;
    });
  }
}

// A row alone has no pieces that wait for others.
TEST(PackedProductKernel, GivesLongRowsTheBitsThatTheyHaveAlone) {
  constexpr int64_t kRows = 13, kIn = 2602;
  Problem p(kRows, kIn, 70);
  p.with_all = false;
  for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
    const auto together = multiply(set, format, p, false);
    for (const int64_t row : {0, 12}) {
      Problem alone(1, kIn, 70);
      alone.with_all = false;
      std::copy_n(p.x.begin() + row * kIn, kIn, alone.x.begin());
      const auto y = multiply(set, format, alone, false);
      EXPECT_TRUE(std::equal(y.begin(), y.end(), together.begin() + row * p.out)) << row;
    }
  });
}

TEST(PackedProductKernel, PassesOnNumbersThatAreNone) {
  using Limits = std::numeric_limits<float>;
  for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
    for (const float bad : {Limits::quiet_NaN(), Limits::infinity()}) {
      Problem p(2, 40, 5);
      p.with_all = false;
      p.x[43] = bad;
      const auto y = multiply(set, format, p, false);
      for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(std::isfinite(y[i]), i < 5) << bad << " at " << i;
    }
  });
}

#ifdef __aarch64__
// All sets have fused multiply-adds and the same order of sums; only the dot products of bfloat16 round otherwise.
TEST(PackedProductKernel, HasTheBitsOfTheBaselineOnArm64) {
  for (const auto& [rows, in, out] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {5, 33, 65}, {13, 130, 63}, {40, 66, 100}, {12, 1300, 130}}) {
    Problem p(rows, in, out);
    for (const bool with_all : {true, false}) {
      p.with_all = with_all;
      for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
        if (format == WeightFormat::kBfloat16 && !std::strcmp(set.name, "neon_bf16")) return;
        EXPECT_EQ(multiply(set, format, p, false), multiply(*packed_kernels_by_name("baseline"), format, p, false));
      });
    }
  }
}
#endif

/// Numbers from -1 to 1 that have the same bits wherever they are made.
std::vector<float> drawn(size_t count, uint32_t state) {
  std::vector<float> numbers(count);
  for (float& x : numbers) {
    state = state * 1664525 + 1013904223;
    x = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
  return numbers;
}

/// FNV-1a.
uint64_t digest(const std::vector<float>& numbers) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const float x : numbers)
    for (int byte = 0; byte < 4; ++byte)
      hash = (hash ^ (std::bit_cast<uint32_t>(x) >> (8 * byte) & 0xff)) * 0x100000001b3;
  return hash;
}

// The sums are exact, and nothing after them is a product that is added to: x86-64 and ARM64 have the same bits, in
// every set. (Only a number of x between two steps may go to either, where a fused multiply-add rounds once: none of
// these does.)
TEST(PackedProductKernel, HasTheSameBitsInInt8OnEveryProcessor) {
  Problem p(16, 300, 100);
  p.with_all = false;
  p.x = drawn(p.x.size(), 1);
  p.weight = drawn(p.weight.size(), 2);
  for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
    if (format != WeightFormat::kInt8) return;
    EXPECT_EQ(digest(multiply(set, format, p, false)), 0xf8eae45f6899f759u);
  });
}

// One tile of rows and several, rows in one piece and in several, panels that are full and not.
TEST(PackedProductKernel, HasTheBitsOfTheBaselineInInt8) {
  for (const auto& [rows, in, out] : {std::tuple<int64_t, int64_t, int64_t>{1, 2, 1},
                                      {3, 9, 70},
                                      {6, 255, 64},
                                      {7, 257, 65},
                                      {13, 2601, 130},
                                      {32, 512, 200},
                                      {129, 1026, 63}}) {
    Problem p(rows, in, out);
    p.with_all = false;
    // Whole steps: what stands between two may go to either.
    const auto make_whole = [in = in](std::vector<float>& numbers, uint32_t seed, float least) {
      numbers = drawn(numbers.size(), seed);
      for (float& x : numbers) x = std::max(std::floor(x * 128), least);
      for (size_t k = 0; k < numbers.size(); k += in) numbers[k] = least, numbers[k + in - 1] = 127;
    };
    make_whole(p.x, 3, -128);
    make_whole(p.weight, 4, -127);
    const auto expected = multiply(*packed_kernels_by_name("baseline"), WeightFormat::kInt8, p, false);
    for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
      if (format == WeightFormat::kInt8) {
        EXPECT_EQ(multiply(set, format, p, true), expected) << rows << " x " << in;
      }
    });
  }
}

// Where the instruction is slow, bfloat16 is multiplied as float32.
TEST(PackedProductKernel, TakesTheInstructionOfBfloat16WhereItIsQuick) {
  const std::string chosen = packed_kernels().name;
  EXPECT_EQ(chosen == "avx512_bf16", has_quick_bfloat16() && packed_kernels_by_name("avx512_bf16"));
  if (!has_quick_bfloat16() && packed_kernels_by_name("avx512_bf16")) {
    EXPECT_EQ(chosen, "avx512_vnni");
  }
}

// The precision `auto` is made of this table (models/decoding_precision.cpp).
TEST(PackedProductKernel, SaysWhichSetsHaveDotProducts) {
  struct Expected {
    bool bfloat16, int8;
  };
  const std::map<std::string, Expected> table = {{"baseline", {false, false}},   {"avx2", {false, false}},
                                                 {"avx_vnni", {false, true}},    {"avx512", {false, false}},
                                                 {"avx512_vnni", {false, true}}, {"avx512_bf16", {true, true}},
                                                 {"neon", {false, false}},       {"neon_dotprod", {false, true}},
                                                 {"neon_i8mm", {false, true}},   {"neon_bf16", {true, true}}};
  EXPECT_EQ(table.size(), std::size(kPackedSetNames));
  for (const char* name : kPackedSetNames) {
    ASSERT_TRUE(table.contains(name)) << name;
    EXPECT_TRUE(has_dot_products(WeightFormat::kFloat32, name)) << name;
    EXPECT_EQ(has_dot_products(WeightFormat::kBfloat16, name), table.at(name).bfloat16) << name;
    EXPECT_EQ(has_dot_products(WeightFormat::kInt8, name), table.at(name).int8) << name;
  }
}

// Each in a process of its own, which must not have asked for a set before: the environment is read once.
TEST(PackedProductKernelDeathTest, GoesNoFurtherThanTheEnvironmentAllows) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto exit_with_sets = [](const char* last) {
    setenv("NMT_KERNEL_SET", last, 1);
    std::fprintf(stderr, "%s, %s", packed_kernels().name, kernels().name);
    std::_Exit(0);
  };
  EXPECT_EXIT(exit_with_sets("baseline"), testing::ExitedWithCode(0), "^baseline, baseline$");
#ifdef __x86_64__
  if (has_x86_64_level(3)) {
    EXPECT_EXIT(exit_with_sets("avx2"), testing::ExitedWithCode(0), "^avx2, avx2$");
  }
  if (has_x86_64_level(4) && __builtin_cpu_supports("avx512vnni")) {
    EXPECT_EXIT(exit_with_sets("avx512_vnni"), testing::ExitedWithCode(0), "^avx512_vnni, avx512$");
  }
#endif
  const auto exit_with_error = [] {
    setenv("NMT_KERNEL_SET", "avx3", 1);
    try {
      packed_kernels();
    } catch (const Error& error) {
      std::fprintf(stderr, "%s", error.what());
      std::_Exit(2);
    }
  };
  EXPECT_EXIT(exit_with_error(), testing::ExitedWithCode(2),
              "NMT_KERNEL_SET=avx3: no set of kernels has this name; there are baseline, avx2, avx_vnni, ");
}

TEST(PackedProductKernel, TakesRowsOfZeros) {
  for_each_packed_set([&](const PackedKernels& set, WeightFormat format) {
    Problem p(2, 9, 3);
    std::ranges::fill(p.x, 0.0f);
    std::ranges::fill(p.weight, 0.0f);
    p.with_all = false;
    expect_close(multiply(set, format, p, false), Doubles(6), 0);
  });
}

}  // namespace
}  // namespace nmt::kernels::test::packed_product_test
