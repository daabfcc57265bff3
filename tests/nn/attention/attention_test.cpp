#include "nn/attention/attention.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "nn/kernels/kernels.h"
#include "tensor_support.h"

namespace nmt::attention_test {
namespace {

using test::expect_close;
using test::wave;

struct Case {
  const char* name;
  int64_t batch, heads, target, source, model;
  bool causal;
  std::vector<int64_t> target_lengths, source_lengths;
};

const Case kCases[] = {
    {"one token", 1, 1, 1, 1, 4, false, {}, {}},
    {"odd sizes", 2, 3, 5, 7, 15, false, {5, 3}, {7, 2}},
    {"causal", 2, 2, 9, 9, 32, true, {9, 4}, {9, 4}},
    {"beyond one vector", 3, 2, 33, 18, 40, false, {33, 1, 20}, {18, 17, 16}},
    {"long causal", 1, 4, 70, 70, 64, true, {70}, {70}},
};

torch::Tensor lengths(const std::vector<int64_t>& values) {
  return values.empty() ? torch::Tensor() : torch::tensor(values, torch::kInt64);
}

class FusedAttention : public testing::TestWithParam<Case> {
 protected:
  AttentionOptions options() const {
    const auto& c = GetParam();
    return {.heads = c.heads,
            .causal = c.causal,
            .target_lengths = lengths(c.target_lengths),
            .source_lengths = lengths(c.source_lengths)};
  }
};

TEST_P(FusedAttention, EqualsPlainAttentionWithItsGradients) {
  const auto& c = GetParam();
  const auto mix = wave({c.batch, c.target, c.model}, 1, 3);  // any fixed gradient of the context
  std::vector<torch::Tensor> results[2];
  for (const bool fused : {false, true}) {
    // Slices of one projection, as the layers hand them over.
    auto q = wave({c.batch, c.target, c.model}).requires_grad_(true);
    auto kv = wave({c.batch, c.source, 2 * c.model}, 1, 1).requires_grad_(true);
    ForwardContext pass;
    const auto parts = kv.chunk(2, -1);
    const auto context = fused ? attention(q, parts[0], parts[1], options(), pass)
                               : plain_attention(q, parts[0], parts[1], options(), pass);
    (context * mix).sum().backward();
    results[fused] = {context.detach(), q.grad(), kv.grad()};
  }
  const char* names[] = {"context", "gradient of q", "gradient of k and v"};
  for (int i = 0; i < 3; ++i) expect_close(results[1][i], results[0][i], 2e-5, names[i]);
}

TEST_P(FusedAttention, InBfloat16StaysNearFloat) {
  const auto& c = GetParam();
  const auto q = wave({c.batch, c.target, c.model}), k = wave({c.batch, c.source, c.model}, 1, 1),
             v = wave({c.batch, c.source, c.model}, 1, 2);
  ForwardContext pass;
  const auto exact = attention(q, k, v, options(), pass);
  const auto low = attention(q.to(torch::kBFloat16), k.to(torch::kBFloat16), v.to(torch::kBFloat16), options(), pass);
  EXPECT_EQ(low.scalar_type(), torch::kBFloat16);
  expect_close(low, exact, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Shapes, FusedAttention, testing::ValuesIn(kCases),
                         [](const auto& info) { return "case" + std::to_string(info.index); });

TEST(FusedAttention, EqualsPlainOnEveryInstructionSetThatRunsHere) {
  const int64_t rows = 11, model = 24;
  const auto q = wave({1, rows, model}), k = wave({1, rows, model}, 1, 1), v = wave({1, rows, model}, 1, 2);
  ForwardContext pass;
  const auto expected =
      plain_attention(q, k, v, {.heads = 2, .causal = true, .target_lengths = {}, .source_lengths = {}}, pass);
  int sets = 0;
  for (const char* name : {"avx512", "avx2", "baseline"}) {
    const auto* set = kernels::kernels_by_name(name);
    if (!set) continue;
    ++sets;
    auto context = torch::zeros_like(q);
    const kernels::AttentionShape shape{.batch = 1,
                                        .heads = 2,
                                        .target = rows,
                                        .source = rows,
                                        .head_dim = 12,
                                        .query_stride = model,
                                        .key_stride = model,
                                        .context_stride = model,
                                        .causal = true,
                                        .scale = static_cast<float>(1 / std::sqrt(12.0))};
    set->attention(kernels::Type::kFloat, shape, q.const_data_ptr(), k.const_data_ptr(), v.const_data_ptr(),
                   context.mutable_data_ptr(), nullptr, 0, 2);
    expect_close(context, expected, 2e-6, name);
  }
  EXPECT_GE(sets, 1);
}

TEST(FusedAttention, IgnoresKeysBeyondTheLengthAndLaterPositions) {
  const auto q = wave({1, 6, 8}), k = wave({1, 6, 8}, 1, 1), v = wave({1, 6, 8}, 1, 2);
  ForwardContext pass;
  const AttentionOptions padded{.heads = 2, .target_lengths = {}, .source_lengths = torch::tensor({4}, torch::kInt64)};
  const AttentionOptions causal{.heads = 2, .causal = true, .target_lengths = {}, .source_lengths = {}};
  auto other_k = k.clone(), other_v = v.clone();
  other_k.narrow(1, 4, 2).fill_(9);
  other_v.narrow(1, 4, 2).fill_(-9);
  EXPECT_TRUE(attention(q, k, v, padded, pass).equal(attention(q, other_k, other_v, padded, pass)));
  const auto before = attention(q, k, v, causal, pass), after = attention(q, other_k, other_v, causal, pass);
  EXPECT_TRUE(before.narrow(1, 0, 4).equal(after.narrow(1, 0, 4)));
  // Without the masks the change shows: the masks do something.
  const AttentionOptions open{.heads = 2, .target_lengths = {}, .source_lengths = {}};
  EXPECT_FALSE(attention(q, k, v, open, pass).equal(attention(q, other_k, other_v, open, pass)));
}

TEST(FusedAttention, DropoutHasTheGradientOfItsOwnMask) {
  const auto k = wave({2, 5, 8}, 1, 1), v = wave({2, 5, 8}, 1, 2), mix = wave({2, 5, 8}, 1, 3);
  const AttentionOptions options{
      .heads = 2, .dropout = 0.4, .causal = true, .target_lengths = {}, .source_lengths = {}};
  const auto loss = [&](const torch::Tensor& q, const torch::Tensor& keys, const torch::Tensor& values) {
    ForwardContext pass(3, 7, 0);
    return (attention(q, keys, values, options, pass) * mix).sum();
  };
  const auto q = wave({2, 5, 8});
  test::expect_gradient([&](const torch::Tensor& x) { return loss(x, k, v); }, q, 1e-2, 2e-2, 7);
  test::expect_gradient([&](const torch::Tensor& x) { return loss(q, x, v); }, k, 1e-2, 2e-2, 7);
  test::expect_gradient([&](const torch::Tensor& x) { return loss(q, k, x); }, v, 1e-2, 2e-2, 7);
  ForwardContext none;
  EXPECT_FALSE(loss(q, k, v).equal((attention(q, k, v, options, none) * mix).sum()));
}

TEST(FusedAttention, IsTheSameForEveryNumberOfThreads) {
  const auto q = wave({7, 13, 32}), k = wave({7, 13, 32}, 1, 1), v = wave({7, 13, 32}, 1, 2);
  const AttentionOptions options{
      .heads = 4, .dropout = 0.3, .causal = true, .target_lengths = {}, .source_lengths = {}};
  const int before = at::get_num_threads();
  torch::Tensor results[2];
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    ForwardContext pass(1, 1, 0);
    results[threads - 1] = attention(q, k, v, options, pass);
  }
  at::set_num_threads(before);
  EXPECT_TRUE(results[0].equal(results[1]));
}

// Worked example in three dimensions: softmax(Q Kᵀ / sqrt 3) V, computed with 12 digits elsewhere.
TEST(PlainAttention, ReproducesTheWorkedExample) {
  const auto x = torch::tensor({{1., 0., 1., 0.}, {0., 2., 0., 2.}, {1., 1., 1., 1.}});
  const auto wq = torch::tensor({{1., 0., 1.}, {1., 0., 0.}, {0., 0., 1.}, {0., 1., 1.}});
  const auto wk = torch::tensor({{0., 0., 1.}, {1., 1., 0.}, {0., 1., 0.}, {1., 1., 0.}});
  const auto wv = torch::tensor({{0., 2., 0.}, {0., 3., 0.}, {1., 0., 3.}, {1., 1., 0.}});
  const auto expected = torch::tensor({{1.8638742024, 6.3193710122, 1.7041886963},
                                       {1.9991095526, 7.8141235049, 0.2734720584},
                                       {1.9925551076, 7.4796355918, 0.7358772581}});
  const AttentionOptions options{.heads = 1, .target_lengths = {}, .source_lengths = {}};
  ForwardContext pass;
  const auto project = [&](const torch::Tensor& w) { return torch::matmul(x, w).unsqueeze(0).to(torch::kFloat32); };
  expect_close(plain_attention(project(wq), project(wk), project(wv), options, pass).squeeze(0), expected, 1e-5);
  expect_close(attention(project(wq), project(wk), project(wv), options, pass).squeeze(0), expected, 1e-5);
}

}  // namespace
}  // namespace nmt::attention_test
