#include "evaluation/self_test.h"

#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "nn/attention/attention.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/products.h"
#include "nn/ops/linear.h"
#include "nn/positions/table_positions.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"

namespace nmt {
namespace {

using kernels::WeightFormat;

std::vector<double> numbers_of(const torch::Tensor& y) {
  const auto flat = y.to(torch::kCPU, torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

std::string difference_of(const torch::Tensor& found, const torch::Tensor& expected, double tolerance) {
  return first_difference(numbers_of(found), numbers_of(expected), tolerance);
}

/// [1, rows, columns], as the layers take it.
torch::Tensor matrix(std::initializer_list<double> values, int64_t columns) {
  return torch::tensor(std::vector<double>(values), torch::kFloat64).view({1, -1, columns});
}

/// Numbers between -1 and 1 that hold nothing special.
torch::Tensor wave(torch::IntArrayRef sizes, double salt) {
  return torch::sin(torch::arange(c10::multiply_integers(sizes), torch::kFloat64) * (0.7 + 0.013 * salt) + salt)
      .view(sizes);
}

/// The example of docs/attention_by_hand.md: what the layers compute against numbers by hand.
std::string attention_by_hand(torch::Device device) {
  const auto x = matrix({1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1}, 4);
  const auto q = x.matmul(matrix({1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1}, 3));
  const auto k = x.matmul(matrix({0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0}, 3));
  const auto v = x.matmul(matrix({0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0}, 3));
  const auto expected = matrix({1.8638742024, 6.3193710122, 1.7041886963, 1.9991095526, 7.8141235049, 0.2734720584,
                                1.9925551076, 7.4796355918, 0.7358772581},
                               3);
  const auto on = [&](const torch::Tensor& y) { return y.to(device, torch::kFloat32); };
  ForwardContext no_dropout;
  auto difference = difference_of(plain_attention(q, k, v, {.heads = 1}, no_dropout), expected, 1e-9);
  if (difference.empty())
    difference = difference_of(attention(on(q), on(k), on(v), {.heads = 1}, no_dropout), expected, 1e-5);
  return difference;
}

/// Position 2 at 512 features: the first four and the last four.
std::string position_vectors() {
  const auto row = sinusoid_table(2, 1, 512, Sinusoid::kInterleaved)[0];
  const auto ends = torch::cat({row.narrow(0, 0, 4), row.narrow(0, 508, 4)});
  return difference_of(ends,
                       matrix({0.9092974268256817, -0.4161468365471424, 0.9364147386330829, -0.35089519414026626,
                               0.00021492156400967983, 0.9999999769043604, 0.00020732658420224113, 0.9999999785078435},
                              8),
                       1e-7);
}

std::string score_difference(const scoring::Metric& metric, double expected) {
  const std::vector<std::string> hypotheses = {"The boat leaves the harbour at 7.30, doesn't it?",
                                               "Two children carry a blue kite."};
  const scoring::References references = {
      {"The boat leaves the harbour at 7.30, does it not?", "Two children are carrying a blue kite."}};
  const std::array found = {scoring::score_corpus(metric, hypotheses, references).score}, wanted = {expected};
  return first_difference(found, wanted, 1e-12);
}

/// Three heads of 20 features, 7 queries and 9 keys.
std::string attention_kernel(const kernels::Kernels& set, kernels::Type type) {
  constexpr int64_t kHeads = 3, kWidth = 60;
  const auto kind = type == kernels::Type::kFloat ? torch::kFloat32 : torch::kBFloat16;
  const auto q = wave({1, 7, kWidth}, 1).to(kind), k = wave({1, 9, kWidth}, 2).to(kind);
  const auto v = wave({1, 9, kWidth}, 3).to(kind);
  auto context = torch::empty_like(q);
  const kernels::AttentionShape shape{.batch = 1,
                                      .heads = kHeads,
                                      .target = 7,
                                      .source = 9,
                                      .head_dim = kWidth / kHeads,
                                      .query_stride = kWidth,
                                      .key_stride = kWidth,
                                      .context_stride = kWidth,
                                      .scale = static_cast<float>(1 / std::sqrt(20.0))};
  set.attention(type, shape, q.data_ptr(), k.data_ptr(), v.data_ptr(), context.data_ptr(), nullptr, 0, kHeads);
  ForwardContext no_dropout;
  const auto in_double = [](const torch::Tensor& y) { return y.to(torch::kFloat64); };
  const auto expected = plain_attention(in_double(q), in_double(k), in_double(v), {.heads = kHeads}, no_dropout);
  return difference_of(context, expected, type == kernels::Type::kFloat ? 1e-5 : 1.0 / 128);
}

/// Five rows of 70 numbers, 66 outputs.
std::string product_kernel(const kernels::PackedKernels& set, WeightFormat format, double tolerance) {
  constexpr int64_t kRows = 5, kIn = 70, kOut = 66;
  const auto x = wave({kRows, kIn}, 1).to(torch::kFloat32), weight = wave({kOut, kIn}, 2).to(torch::kFloat32);
  const int64_t panels = kernels::panel_count(kOut);
  std::vector<uint32_t> packed_words(panels * kernels::words_in_row(format, kIn) * kernels::kPanel);
  std::vector<uint32_t> words(kRows * set.words_of_x(format, kIn));
  std::vector<float> scales(panels * kernels::kPanel);
  std::vector<int32_t> sums(scales.size());
  std::vector<kernels::RowScale> row_scales(kRows);
  auto y = torch::empty({kRows, kOut});
  const kernels::PackedWeight packed{.format = format,
                                     .out = kOut,
                                     .in = kIn,
                                     .panels = packed_words.data(),
                                     .scales = scales.data(),
                                     .sums = sums.data()};
  set.pack(weight.data_ptr<float>(), packed, {0, panels});
  const bool as_it_is = format == WeightFormat::kFloat32;
  if (!as_it_is) set.prepare(format, x.data_ptr<float>(), kIn, {0, kRows}, words.data(), row_scales.data());
  set.multiply({.weight = packed,
                .x = as_it_is ? x.data_ptr<float>() : static_cast<const void*>(words.data()),
                .row_scales = row_scales.data(),
                .y = y.data_ptr<float>()},
               {0, kRows}, {0, panels});
  return difference_of(y, x.to(torch::kFloat64).matmul(weight.to(torch::kFloat64).t()), tolerance);
}

std::string product_on(torch::Device device) {
  const auto x = wave({5, 70}, 1).to(device, torch::kFloat32), weight = wave({66, 70}, 2).to(device, torch::kFloat32);
  const auto expected = x.to(torch::kFloat64).matmul(weight.to(torch::kFloat64).t());
  return difference_of(linear(x, weight, /*bias=*/torch::Tensor()), expected, 0.05);  // a GPU may round to TF32
}

void check_kernels(std::vector<SelfCheck>& checks) {
  for (const char* name : {"baseline", "avx2", "avx512"})
    if (const auto* set = kernels::kernels_by_name(name)) {
      checks.push_back(
          {fmt::format("attention kernel, {}, float32", name), attention_kernel(*set, kernels::Type::kFloat)});
      checks.push_back(
          {fmt::format("attention kernel, {}, bfloat16", name), attention_kernel(*set, kernels::Type::kBfloat16)});
    }
  for (const char* name : kernels::kPackedSetNames)
    if (const auto* set = kernels::packed_kernels_by_name(name)) {
      checks.push_back({fmt::format("product, {}, float32", name), product_kernel(*set, WeightFormat::kFloat32, 1e-5)});
      checks.push_back(
          {fmt::format("product, {}, bfloat16", name), product_kernel(*set, WeightFormat::kBfloat16, 0.05)});
      checks.push_back({fmt::format("product, {}, int8", name), product_kernel(*set, WeightFormat::kInt8, 0.1)});
    }
}

}  // namespace

std::string first_difference(std::span<const double> found, std::span<const double> expected, double tolerance) {
  if (found.size() != expected.size()) return fmt::format("{} numbers instead of {}", found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    if (!(std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))))
      return fmt::format("{:.10g} instead of {:.10g}, number {} of {}", found[i], expected[i], i + 1, found.size());
  return {};
}

std::vector<SelfCheck> self_test() {
  const torch::NoGradGuard no_gradients;
  std::vector<SelfCheck> checks = {{"attention by hand", attention_by_hand(torch::kCPU)},
                                   {"position vectors", position_vectors()},
                                   {"BLEU", score_difference(scoring::Bleu(), 57.84396990528688)},
                                   {"chrF2", score_difference(scoring::Chrf(), 77.31392609871806)}};
  check_kernels(checks);
  for (int i = 0; i < static_cast<int>(torch::cuda::device_count()); ++i) {
    const torch::Device gpu(torch::kCUDA, static_cast<c10::DeviceIndex>(i));
    checks.push_back({fmt::format("attention by hand, {}", gpu.str()), attention_by_hand(gpu)});
    checks.push_back({fmt::format("product, {}", gpu.str()), product_on(gpu)});
  }
  return checks;
}

std::string self_test_text(std::span<const SelfCheck> checks) {
  std::string text;
  for (const auto& [name, difference] : checks)
    text += difference.empty() ? fmt::format("ok      {}\n", name) : fmt::format("differs {}: {}\n", name, difference);
  return text;
}

}  // namespace nmt
