// The worked example of one attention head: three inputs of four features, head_dim 3. docs/attention_by_hand.md walks
// through it with the code between the markers below.
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/file.h"
#include "nn/attention/attention.h"
#include "nn/ops/linear.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::attention_by_hand_test {
namespace {

// doc: begin
torch::Tensor matrix(std::vector<double> values, int64_t columns) {
  return torch::tensor(values, torch::kFloat64).view({1, -1, columns});
}

// Inputs, one a row, and the three projections, [in, out].
const auto x = matrix({1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1}, 4);
const auto w_query = matrix({1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1}, 3);
const auto w_key = matrix({0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0}, 3);
const auto w_value = matrix({0, 2, 0, 0, 3, 0, 1, 0, 3, 1, 1, 0}, 3);

// nn/linear.h keeps its weights as [out, in].
torch::Tensor project(const torch::Tensor& w) { return linear(x, w[0].t(), /*bias=*/torch::Tensor()); }
const auto q = project(w_query), k = project(w_key), v = project(w_value);  // [batch 1, time 3, head_dim 3]

// attention() divides scores by sqrt(head_dim); queries that are as much longer undo it.
const double root = std::sqrt(3.0);

torch::Tensor context_of(const torch::Tensor& queries, bool causal, torch::Tensor* weights = nullptr) {
  ForwardContext no_dropout;
  return plain_attention(queries, k, v, {.heads = 1, .causal = causal}, no_dropout, weights);
}
// doc: end

// Every element to the printed digits: relative to its size.
void expect_digits(const torch::Tensor& actual, const std::vector<double>& expected, double relative) {
  const auto values = actual.to(torch::kFloat64).flatten();
  ASSERT_EQ(values.numel(), std::ssize(expected));
  for (int64_t i = 0; i < values.numel(); ++i)
    EXPECT_NEAR(values[i].item<double>(), expected[i], relative * std::abs(expected[i])) << "element " << i;
}

constexpr double kPrinted = 5e-8, kCalculated = 1e-9;  // eight digits, ten digits

TEST(AttentionByHand, ProjectsToQueriesKeysAndValues) {
  EXPECT_TRUE(q.equal(matrix({1, 0, 2, 2, 2, 2, 2, 1, 3}, 3)));
  EXPECT_TRUE(k.equal(matrix({0, 1, 1, 4, 4, 0, 2, 3, 1}, 3)));
  EXPECT_TRUE(v.equal(matrix({1, 2, 3, 2, 8, 0, 2, 6, 3}, 3)));
  EXPECT_TRUE(q.matmul(k.transpose(1, 2)).equal(matrix({2, 4, 4, 4, 16, 12, 4, 12, 10}, 3)));
}

TEST(AttentionByHand, HasThePrintedWeightsAndFirstRow) {
  torch::Tensor weights;
  const auto context = context_of(q * root, /*causal=*/false, &weights);
  expect_digits(weights,
                {0.06337894, 0.46831053, 0.46831053, 6.03366485e-06, 9.82007865e-01, 1.79861014e-02, 2.95387223e-04,
                 8.80536902e-01, 1.19167711e-01},
                kPrinted);
  const auto shares = weights[0][0][0].unsqueeze(-1) * v[0];  // a_1j V_j
  expect_digits(shares,
                {0.06337894, 0.12675788, 0.19013681, 0.93662106, 3.74648425, 0, 0.93662106, 2.80986319, 1.40493159},
                kPrinted);
  expect_digits(context[0][0], {1.93662106, 6.68310531, 1.59506841}, kPrinted);
}

TEST(AttentionByHand, HasEveryRowWithAndWithoutTheScale) {
  expect_digits(context_of(q * root, false),
                {1.9366210617, 6.6831053083, 1.5950684075, 1.9999939663, 7.9639915951, 0.0539764053, 1.9997046128,
                 7.7598922547, 0.3583892947},
                kCalculated);
  torch::Tensor weights;
  expect_digits(context_of(q, false, &weights),
                {1.8638742024, 6.3193710122, 1.7041886963, 1.9991095526, 7.8141235049, 0.2734720584, 1.9925551076,
                 7.4796355918, 0.7358772581},
                kCalculated);
  expect_digits(weights,
                {0.13612579756, 0.43193710122, 0.43193710122, 8.9044739063e-04, 0.90884264721, 0.090266905394,
                 7.4448923771e-03, 0.75470758064, 0.23784752698},
                kCalculated);
}

TEST(AttentionByHand, HasTheCausalRows) {
  torch::Tensor weights;
  expect_digits(context_of(q, true, &weights),
                {1, 2, 3, 1.9990211993, 7.9941271958, 0.0029364021, 1.9925551076, 7.4796355918, 0.7358772581},
                2e-8);  // 0.0029364021 has eight digits
  EXPECT_EQ(weights[0][0].triu(1).abs().sum().item<double>(), 0) << "no weight on what comes later";
  expect_digits(context_of(q * root, true),
                {1, 2, 3, 1.9999938558, 7.9999631350, 0.0000184325, 1.9997046128, 7.7598922547, 0.3583892947},
                3e-6);  // 0.0000184325 has six digits
}

// What models use: the kernel in float32 on the CPU, plain operations elsewhere.
TEST(AttentionByHand, IsWhatTheLayersCompute) {
  for (const auto device : test::devices()) {
    const auto on = [&](const torch::Tensor& y) { return y.to(device, torch::kFloat32); };
    for (const bool causal : {false, true})
      for (const double scale : {1.0, root}) {
        ForwardContext no_dropout;
        const auto context = attention(on(q * scale), on(k), on(v), {.heads = 1, .causal = causal}, no_dropout);
        test::expect_close(context.cpu(), context_of(q * scale, causal), 2e-6, device.str());
      }
  }
}

// Eight heads of 64 features stand side by side in 512.
TEST(AttentionByHand, PutsHeadsSideBySide) {
  ForwardContext no_dropout;
  const auto y = test::wave({1, 3, 512});
  const auto together = attention(y, y, y, {.heads = 8}, no_dropout);
  ASSERT_EQ(together.sizes(), torch::IntArrayRef({1, 3, 512}));
  for (int64_t head = 0; head < 8; ++head) {
    const auto part = y.narrow(2, 64 * head, 64).contiguous();
    const auto alone = attention(part, part, part, {.heads = 1}, no_dropout);
    ASSERT_EQ(alone.sizes(), torch::IntArrayRef({1, 3, 64}));
    test::expect_close(together.narrow(2, 64 * head, 64), alone, 1e-6, "head " + std::to_string(head));
  }
}

TEST(AttentionByHand, IsTheCodeOfTheDocument) {
  const auto own = read_file(test::source_directory() / "tests/nn/attention/attention_by_hand_test.cpp");
  const std::string begin = "// doc: begin\n";
  const auto from = own.find(begin) + begin.size();
  const auto code = own.substr(from, own.find("// doc: end") - from);
  EXPECT_NE(read_file(test::source_directory() / "docs/attention_by_hand.md").find(code), std::string::npos);
}

}  // namespace
}  // namespace nmt::attention_by_hand_test
