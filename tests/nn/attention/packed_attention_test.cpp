#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/attention/attention.h"
#include "nn/ops/packed_rows.h"
#include "tensor_support.h"

namespace nmt::packed_attention_test {
namespace {

using test::expect_close;
using test::wave;

torch::Tensor lengths(const std::vector<int64_t>& values) { return torch::tensor(values, torch::kInt64); }

TEST(PackedRows, NamesTheRealRowsOfEachSentence) {
  for (const auto device : test::devices()) {
    const auto packed = pack_rows(lengths({3, 0, 1, 4}), 4, device);
    EXPECT_EQ(packed.rows.device(), device);
    EXPECT_TRUE(packed.rows.cpu().equal(lengths({0, 1, 2, 8, 12, 13, 14, 15})));
    EXPECT_TRUE(packed.cu_seqlens.cpu().equal(torch::tensor({0, 3, 3, 4, 8}, torch::kInt32)));
    EXPECT_EQ(packed.longest, 4);
  }
  EXPECT_THROW(pack_rows(lengths({5}), 4, torch::kCPU), c10::Error);
}

// The gradient is that of index_select.
TEST(PackedRows, GradientsOfTakenRowsGoToTheirPlaces) {
  for (const auto device : test::devices()) {
    const auto rows = pack_rows(lengths({2, 0, 3}), 3, device).rows, mix = wave({5, 4}, 1, 2).to(device);
    torch::Tensor gradients[2];
    for (const bool by_index : {false, true}) {
      auto x = wave({9, 4}).to(device).detach().requires_grad_(true);
      const auto taken = by_index ? x.index_select(0, rows) : take_rows(x, rows);
      EXPECT_TRUE(taken.cpu().equal(x.index_select(0, rows).cpu()));
      (taken * mix).sum().backward();
      gradients[by_index] = x.grad().cpu();
    }
    EXPECT_TRUE(gradients[0].equal(gradients[1]));
  }
}

// One sentence after the other, by the formula.
torch::Tensor by_sentence(const PackedHeads& heads) {
  std::vector<torch::Tensor> contexts;
  const int64_t batch = heads.target_cu_seqlens.size(0) - 1;
  int64_t longest_target = 0, longest_source = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto part = [b](const torch::Tensor& x, const torch::Tensor& cu_seqlens) {
      const auto begin = cu_seqlens[b].item<int64_t>(), end = cu_seqlens[b + 1].item<int64_t>();
      return x.narrow(0, begin, end - begin).transpose(0, 1);  // [heads, tokens, head_dim]
    };
    const auto q = part(heads.q, heads.target_cu_seqlens), k = part(heads.k, heads.source_cu_seqlens),
               v = part(heads.v, heads.source_cu_seqlens);
    longest_target = std::max(longest_target, q.size(1));
    longest_source = std::max(longest_source, k.size(1));
    auto scores = torch::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)));
    if (heads.causal) scores = scores.masked_fill(torch::ones({q.size(1), k.size(1)}, torch::kBool).triu(1), -INFINITY);
    contexts.push_back(torch::matmul(scores.softmax(-1), v).transpose(0, 1));
  }
  EXPECT_EQ(heads.longest_target, longest_target);
  EXPECT_EQ(heads.longest_source, longest_source);
  return torch::cat(contexts);
}

struct Case {
  bool causal;
  std::vector<int64_t> targets, sources;  // empty: no padding
};
const Case kCases[] = {{false, {5, 3, 1}, {7, 2, 4}}, {true, {6, 2, 4}, {6, 2, 4}}, {false, {}, {}}, {true, {}, {}}};

AttentionOptions options_of(const Case& c) {
  AttentionOptions options{.heads = 2, .causal = c.causal, .target_lengths = {}, .source_lengths = {}};
  if (!c.targets.empty()) options.target_lengths = lengths(c.targets);
  if (!c.sources.empty()) options.source_lengths = c.causal ? options.target_lengths : lengths(c.sources);
  return options;
}

TEST(PackedAttention, TakesRealTokensOutAndPutsThemBack) {
  for (const auto& c : kCases) {
    const int64_t target = 6, source = c.causal ? 6 : 7, model = 16;
    const auto mix = wave({3, target, model}, 1, 3);
    std::vector<torch::Tensor> results[2];
    for (const bool packed : {false, true}) {
      auto q = wave({3, target, model}).requires_grad_(true);
      auto kv = wave({3, source, 2 * model}, 1, 1).requires_grad_(true);
      const auto parts = kv.chunk(2, -1);  // slices of one projection, as the layers hand them over
      ForwardContext pass;
      const auto context = packed ? packed_attention(q, parts[0], parts[1], options_of(c), 0, by_sentence)
                                  : plain_attention(q, parts[0], parts[1], options_of(c), pass);
      (context * mix).sum().backward();
      results[packed] = {context.detach(), q.grad(), kv.grad()};
    }
    const char* names[] = {"context", "gradient of q", "gradient of k and v"};
    for (int i = 0; i < 3; ++i) expect_close(results[1][i], results[0][i], 1e-6, names[i]);
  }
}

TEST(PackedAttention, HasNoKernelOnTheCpu) {
  EXPECT_FALSE(has_packed_attention(wave({1, 4, 16}), {.heads = 2, .target_lengths = {}, .source_lengths = {}}, 0));
}

TEST(PackedAttention, OnAGpuEqualsThePlainForm) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    for (const auto& c : kCases) {
      const int64_t target = 6, source = c.causal ? 6 : 7, model = 64;
      const auto mix = wave({3, target, model}, 1, 3);
      std::vector<torch::Tensor> results[2];
      for (const bool packed : {false, true}) {
        const auto device = packed ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
        auto q = wave({3, target, model}).to(device, type).detach().requires_grad_(true);
        auto kv = wave({3, source, 2 * model}, 1, 1).to(device, type).detach().requires_grad_(true);
        const auto parts = kv.chunk(2, -1);
        if (packed) {
          ASSERT_TRUE(has_packed_attention(q, options_of(c), 0));
        }
        ForwardContext pass;
        const auto context = packed ? attention(q, parts[0], parts[1], options_of(c), pass)
                                    : plain_attention(q, parts[0], parts[1], options_of(c), pass);
        (context * mix.to(device)).sum().backward();
        results[packed] = {context.detach().cpu(), q.grad().cpu(), kv.grad().cpu()};
      }
      const double tolerance = type == torch::kFloat32 ? 2e-5 : 0.05;
      for (int i = 0; i < 3; ++i) expect_close(results[1][i], results[0][i], tolerance);
    }
  }
}

}  // namespace
}  // namespace nmt::packed_attention_test
