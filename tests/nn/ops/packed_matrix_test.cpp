#include "nn/ops/packed_matrix.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/files/file.h"
#include "base/files/stored_weights.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::packed_matrix_test {
namespace {

using kernels::WeightFormat;
using test::expect_close;
using test::wave;

constexpr WeightFormat kFormats[] = {WeightFormat::kFloat32, WeightFormat::kBfloat16, WeightFormat::kInt8};
constexpr const auto& kSets = kernels::kPackedSetNames;

/// Symmetric int8 of the rows of a weight, and what they stand for.
torch::Tensor through_int8(const torch::Tensor& weight) {
  const auto scale = weight.to(torch::kFloat64).abs().amax(1, true) / 127;
  return torch::round(weight / scale).clamp(-127, 127) * scale;
}
/// 256 steps between the least and the greatest number of each row of x, 0 among them.
torch::Tensor through_uint8(const torch::Tensor& x) {
  const auto wide = x.to(torch::kFloat64);
  const auto low = wide.amin(1, true).clamp_max(0), scale = (wide.amax(1, true).clamp_min(0) - low) / 255;
  const auto zero = torch::round(-low / scale);
  return (torch::floor(wide / scale + zero + 0.5).clamp(0, 255) - zero) * scale;
}

/// x weightᵀ with both rounded as the format says, in double.
torch::Tensor rounded_product(WeightFormat format, const torch::Tensor& x, const torch::Tensor& weight) {
  const auto product = [](const torch::Tensor& a, const torch::Tensor& b) {
    return a.to(torch::kFloat64).matmul(b.to(torch::kFloat64).t());
  };
  if (format == WeightFormat::kInt8) return product(through_uint8(x), through_int8(weight));
  if (format == WeightFormat::kBfloat16) return product(x.to(torch::kBFloat16), weight.to(torch::kBFloat16));
  return product(x, weight);
}

/// What one kernel set makes of x weightᵀ + bias, a ReLU and a residual.
torch::Tensor multiply(const kernels::PackedKernels& set, WeightFormat format, const torch::Tensor& x,
                       const torch::Tensor& weight, const torch::Tensor& bias, bool relu,
                       const torch::Tensor& residual) {
  const int64_t rows = x.size(0), in = x.size(1), out = weight.size(0), panels = kernels::panel_count(out);
  const int64_t words = kernels::words_in_row(format, in);
  std::vector<uint32_t> packed(panels * words * kernels::kPanel, 0xabababab);
  std::vector<uint32_t> x_words(rows * set.words_of_x(format, in), 0xabababab);
  std::vector<float> scales(panels * kernels::kPanel);
  std::vector<int32_t> sums(panels * kernels::kPanel);
  std::vector<kernels::RowScale> row_scales(rows);
  const kernels::PackedWeight matrix{
      .format = format, .out = out, .in = in, .panels = packed.data(), .scales = scales.data(), .sums = sums.data()};
  set.pack(weight.const_data_ptr<float>(), matrix, {0, panels});
  const bool as_it_is = format == WeightFormat::kFloat32;
  if (!as_it_is) set.prepare(format, x.const_data_ptr<float>(), in, {0, rows}, x_words.data(), row_scales.data());
  auto y = torch::full({rows, out}, std::numeric_limits<float>::quiet_NaN());
  const auto data = [](const torch::Tensor& t) { return t.defined() ? t.const_data_ptr<float>() : nullptr; };
  set.multiply({.weight = matrix,
                .x = as_it_is ? x.const_data_ptr() : x_words.data(),
                .row_scales = row_scales.data(),
                .bias = data(bias),
                .relu = relu,
                .residual = data(residual),
                .y = y.mutable_data_ptr<float>()},
               {0, rows}, {0, panels});
  return y;
}

TEST(PackedKernels, EqualProductsOfRoundedNumbersInEverySet) {
  int sets = 0;
  for (const char* name : kSets) {
    const auto* set = kernels::packed_kernels_by_name(name);
    if (!set) continue;
    ++sets;
    for (const auto format : kFormats) {
      for (const auto& [rows, in, out] :
           {std::tuple{1, 1, 1}, {2, 7, 64}, {5, 33, 65}, {6, 64, 128}, {7, 3, 200}, {13, 130, 63}, {40, 66, 100}}) {
        const auto x = wave({rows, in}), weight = wave({out, in}, 1, 1);
        const auto bias = wave({out}, 1, 2), residual = wave({rows, out}, 3, 4);
        const auto what = fmt::format("{} format {} {}x{}x{}", name, static_cast<int>(format), rows, in, out);
        const auto expected = rounded_product(format, x, weight);
        expect_close(multiply(*set, format, x, weight, {}, false, {}), expected, 1e-4, what);
        expect_close(multiply(*set, format, x, weight, bias, true, residual), (expected + bias).relu() + residual, 1e-4,
                     what);
      }
    }
  }
  EXPECT_GE(sets, 1);
}

// A long row is multiplied in pieces where there are many rows; the sums of a piece wait until the next one. One row
// alone has no pieces.
TEST(PackedKernels, GiveLongRowsTheBitsThatTheyHaveAlone) {
  const auto weight = wave({70, 2600}, 1, 1), bias = wave({70}, 1, 2);
  for (const char* name : kSets) {
    const auto* set = kernels::packed_kernels_by_name(name);
    if (!set) continue;
    for (const auto format : kFormats) {
      for (const int64_t rows : {7, 150}) {  // one chunk of rows and several; products are around 1,000
        const auto x = wave({rows, 2600});
        const auto together = multiply(*set, format, x, weight, bias, false, {});
        const auto what = fmt::format("{} format {} rows {}", name, static_cast<int>(format), rows);
        expect_close(together, rounded_product(format, x, weight) + bias, 0.05, what);
        for (int64_t row = 0; row < rows; row += 3) {
          const auto alone = multiply(*set, format, x.narrow(0, row, 1).contiguous(), weight, bias, false, {});
          EXPECT_TRUE(together.narrow(0, row, 1).equal(alone)) << what << ": " << row;
        }
      }
    }
  }
}

TEST(PackedKernels, RoundPositiveNumbersToAll256Steps) {
  const auto x = wave({3, 50}).abs(), weight = wave({10, 50}, 1, 1);
  const auto exact = at::linear(x, weight);
  for (const char* name : kSets)
    if (const auto* set = kernels::packed_kernels_by_name(name))
      expect_close(multiply(*set, WeightFormat::kInt8, x, weight, {}, false, {}), exact, 0.1, name);
}

TEST(PackedKernels, PassOnNumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const char* name : kSets) {
    const auto* set = kernels::packed_kernels_by_name(name);
    if (!set) continue;
    for (const auto format : kFormats) {
      for (const float bad : {nan, infinity}) {
        auto x = wave({2, 40});
        x[1][3] = bad;
        const auto y = multiply(*set, format, x, wave({5, 40}, 1, 1), {}, false, {});
        EXPECT_TRUE(y[0].isfinite().all().item<bool>()) << name;
        EXPECT_FALSE(y[1].isfinite().any().item<bool>()) << name;
      }
      auto weight = wave({5, 40}, 1, 1);
      weight[2][1] = nan;
      const auto y = multiply(*set, format, wave({2, 40}), weight, {}, false, {});
      EXPECT_EQ(y.isnan().sum().item<int64_t>(), 2) << name;
    }
  }
}

TEST(PackedKernels, TakeRowsOfZeros) {
  for (const auto format : kFormats)
    expect_close(multiply(kernels::packed_kernels(), format, torch::zeros({2, 9}), torch::zeros({3, 9}), {}, false, {}),
                 torch::zeros({2, 3}), 0);
}

// 255 over their range is infinite in float32, and infinity times zero no number.
TEST(PackedKernels, TakeNumbersNextToZero) {
  for (const char* name : kSets) {
    const auto* set = kernels::packed_kernels_by_name(name);
    if (!set) continue;
    for (const double size : {1e-45, 1e-40, 2e-38, 5e-37}) {
      auto small = torch::full({4, 9}, size);
      small.index_put_({1, 3}, 0);
      const auto wide = wave({4, 9});
      for (const auto& [x, weight] : {std::pair(small, wide), std::pair(wide, small)})
        expect_close(multiply(*set, WeightFormat::kInt8, x, weight, {}, false, {}), torch::zeros({4, 4}), 1e-30,
                     fmt::format("{} {}", name, size));
    }
  }
}

TEST(PackedMatrix, EqualsLinear) {
  for (const auto& [rows, in, out] : {std::tuple{1, 3, 5}, {7, 16, 32}, {65, 33, 100}, {200, 64, 31}}) {
    const auto x = wave({rows, in}), weight = wave({out, in}, 1, 1), bias = wave({out}, 1, 2);
    PackedMatrix packed;
    expect_close(packed.multiply(x, {{weight, bias}}), at::linear(x, weight, bias), 1e-5);
    expect_close(packed.multiply(x, {{weight, {}}}), at::linear(x, weight), 1e-5);
  }
}

TEST(PackedMatrix, TakesNoRows) {
  for (const auto format : kFormats) {
    PackedMatrix packed;
    packed.set_packing({.format = format});
    EXPECT_EQ(packed.multiply(wave({0, 16}), {{wave({32, 16}), {}}}).sizes().vec(), (std::vector<int64_t>{0, 32}));
  }
}

TEST(PackedMatrix, PutsSeveralMapsSideBySide) {
  const auto x = wave({5, 4, 24}), one = wave({30, 24}, 1, 1), two = wave({70, 24}, 1, 2);
  const auto bias_one = wave({30}, 1, 3), bias_two = wave({70}, 1, 4);
  PackedMatrix packed;
  expect_close(packed.multiply(x, {{one, bias_one}, {two, bias_two}}),
               at::cat({at::linear(x, one, bias_one), at::linear(x, two, bias_two)}, -1), 1e-5);
}

TEST(PackedMatrix, RoundsLittleInEveryFormat) {
  const auto x = wave({9, 96}), weight = wave({50, 96}, 1, 1), exact = at::linear(x, weight);
  const double largest = exact.abs().max().item<double>();
  for (const auto& [format, tolerance] : {std::pair{WeightFormat::kBfloat16, 0.02}, {WeightFormat::kInt8, 0.05}}) {
    PackedMatrix packed;
    packed.set_packing({.format = format});
    const auto y = packed.multiply(x, {{weight, {}}});
    expect_close(y, exact, tolerance * largest);
    EXPECT_GT((y - exact).abs().max().item<double>(), 1e-5) << "another format, other sums";
  }
}

TEST(PackedMatrix, FollowsItsFormat) {
  const auto x = wave({3, 40}), weight = wave({8, 40}, 1, 1);
  PackedMatrix packed;
  const auto before = packed.multiply(x, {{weight, {}}});
  packed.set_packing({.format = WeightFormat::kInt8});
  EXPECT_FALSE(packed.multiply(x, {{weight, {}}}).equal(before));
  packed.set_packing({.format = WeightFormat::kFloat32});
  EXPECT_TRUE(packed.multiply(x, {{weight, {}}}).equal(before));
}

TEST(PackedMatrix, GivesARowTheSameBitsAloneAndInABatch) {
  const auto x = wave({130, 96}), weight = wave({200, 96}, 1, 1);
  const int threads = at::get_num_threads();
  for (const auto format : kFormats) {
    PackedMatrix packed;
    packed.set_packing({.format = format});
    const auto together = packed.multiply(x, {{weight, {}}});
    for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 50})
      for (const int64_t first : {0, 63, 64, 80})
        EXPECT_TRUE(packed.multiply(x.narrow(0, first, rows), {{weight, {}}}).equal(together.narrow(0, first, rows)))
            << static_cast<int>(format) << " " << first << " " << rows;
    at::set_num_threads(1);
    EXPECT_TRUE(packed.multiply(x, {{weight, {}}}).equal(together));
    at::set_num_threads(threads);
  }
}

TEST(PackedMatrix, GathersOutputsBitForBit) {
  for (const int64_t out : {70, 200}) {
    const auto weight = wave({out, 96}, 1, 1), bias = wave({out}, 1, 3);
    std::vector<int32_t> some, all;
    for (int32_t i = 0; i < out; ++i) {
      all.push_back(i);
      if (i % 3 == 1 || i > 60) some.push_back(i);
    }
    for (const auto format : kFormats)
      for (const auto& outputs : {some, all, {0}})
        for (const auto& map : {AffineMap{weight, bias}, {weight, {}}}) {
          PackedMatrix packed;
          packed.set_packing({.format = format});
          for (const int64_t rows : {1, 5, 70}) {
            const auto x = wave({rows, 96});
            const auto whole = packed.multiply(x, {map});
            const auto gathered = PackedMatrix::multiply(x, *packed.gather(map, outputs));
            ASSERT_GE(gathered.size(1), std::ssize(outputs));
            EXPECT_TRUE(gathered.narrow(1, 0, std::ssize(outputs))
                            .equal(whole.index_select(1, torch::tensor(outputs, torch::kInt32))))
                << static_cast<int>(format) << " " << rows << " rows, " << outputs.size() << " of " << out;
          }
        }
  }
}

TEST(PackedMatrix, GivesTheMemoryOfItsOriginBack) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "weights", std::string(4 * 32, '\0'));
  const auto origin = std::make_shared<const MappedFile>(folder / "weights", MappedFile::Access::kCopyOnWrite);
  auto* bytes = const_cast<std::byte*>(origin->bytes().data());
  const auto weight = torch::from_blob(bytes, {8, 4}, torch::kFloat32);
  const auto x = wave({3, 4});
  weight.fill_(1);  // on the way out this is lost: the next look reads the file again
  PackedMatrix packed;
  packed.set_packing({.origin = origin});
  const auto y = packed.multiply(x, {{weight, {}}});
  expect_close(y, x.sum(1, true).expand({3, 8}), 1e-6);
  EXPECT_EQ(weight.abs().sum().item<float>(), 0);
  EXPECT_TRUE(packed.multiply(x, {{weight, {}}}).equal(y)) << "packed once";
}

/// Rows of a weight as a quantized model directory has them.
struct Quantized {
  torch::Tensor weight;
  Packing packing;
};
Quantized quantized(const torch::Tensor& weight, WeightFormat format) {
  if (format == WeightFormat::kBfloat16) return {weight.to(torch::kBFloat16), {.format = format}};
  const auto rows = torch::empty(weight.sizes(), torch::kInt8), scale = torch::empty({weight.size(0)});
  for (int64_t i = 0; i < weight.size(0); ++i)
    scale[i] = quantize_row({weight.const_data_ptr<float>() + i * weight.size(1), static_cast<size_t>(weight.size(1))},
                            rows.mutable_data_ptr<int8_t>() + i * weight.size(1));
  auto scales = std::make_shared<const WeightScales>(WeightScales{{rows.const_data_ptr(), scale}});
  return {rows, {.format = format, .scales = std::move(scales)}};
}

TEST(PackedMatrix, TakesQuantizedWeightsBitForBit) {
  for (const auto format : {WeightFormat::kBfloat16, WeightFormat::kInt8})
    for (const auto& [out, in] : {std::pair{70, 96}, {64, 1}, {3, 97}, {130, 31}}) {
      const auto x = wave({5, in}), weight = wave({out, in}, 1, 1), bias = wave({out}, 1, 3);
      weight[1].fill_(0);
      weight[2].fill_(0.25);
      PackedMatrix from_float, from_quantized;
      from_float.set_packing({.format = format});
      const auto [rows, packing] = quantized(weight, format);
      from_quantized.set_packing(packing);
      EXPECT_TRUE(from_quantized.multiply(x, {{rows, bias}}).equal(from_float.multiply(x, {{weight, bias}})))
          << static_cast<int>(format) << " " << out << " x " << in;
      const auto ids = torch::tensor({{0, 2}, {out - 1, 1}}, torch::kInt64);
      EXPECT_TRUE(from_quantized.look_up({rows, bias}, ids).equal(from_float.look_up({weight, bias}, ids)));
    }
}

TEST(PackedMatrix, LooksUpTheRowsThatProductsSee) {
  const auto weight = wave({70, 33}, 1, 1);
  const auto ids = torch::tensor({{69, 0, 64}, {5, 5, 63}}, torch::kInt64);
  const auto rows = [&](WeightFormat format) {
    PackedMatrix packed;
    packed.set_packing({.format = format});
    const auto found = packed.look_up({weight, {}}, ids);
    EXPECT_EQ(found.sizes(), (std::vector<int64_t>{2, 3, 33}));
    return found;
  };
  const auto chosen = weight.index_select(0, ids.flatten()).view({2, 3, 33});
  EXPECT_TRUE(rows(WeightFormat::kFloat32).equal(chosen));
  EXPECT_TRUE(rows(WeightFormat::kBfloat16).equal(chosen.to(torch::kBFloat16).to(torch::kFloat32)));
  const auto rounded = through_int8(weight).index_select(0, ids.flatten()).view({2, 3, 33});
  expect_close(rows(WeightFormat::kInt8), rounded.to(torch::kFloat32), 1e-6);
  PackedMatrix packed;
  EXPECT_THROW(packed.look_up({weight, {}}, torch::tensor({int64_t{70}})), c10::IndexError);
  EXPECT_THROW(packed.look_up({weight, {}}, torch::tensor({int64_t{-1}})), c10::IndexError);
}

TEST(PackedMatrix, RefusesAnotherFormatOfQuantizedWeights) {
  const auto x = wave({3, 8}), weight = wave({4, 8}, 1, 1);
  const auto [rows, packing] = quantized(weight, WeightFormat::kInt8);
  PackedMatrix packed;
  packed.set_packing({.format = WeightFormat::kBfloat16, .scales = packing.scales});
  EXPECT_THROW(packed.multiply(x, {{rows, {}}}), c10::Error);
  packed.set_packing({.format = WeightFormat::kInt8});
  EXPECT_THROW(packed.multiply(x, {{rows, {}}}), c10::Error) << "without scales";
}

TEST(PackedMatrix, FollowsChangesOfTheWeights) {
  auto weight = wave({8, 4}, 1, 1), bias = torch::zeros({8});
  const auto x = wave({3, 4});
  PackedMatrix packed;
  const auto before = packed.multiply(x, {{weight, bias}});
  weight.mul_(2);
  expect_close(packed.multiply(x, {{weight, bias}}), before * 2, 1e-6);
  bias.add_(1);
  expect_close(packed.multiply(x, {{weight, bias}}), before * 2 + 1, 1e-6);
}

}  // namespace
}  // namespace nmt::packed_matrix_test
