#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "nn/attention/head_scores.h"
#include "nn/device/device.h"
#include "nn/layers/recurrent_attention.h"
#include "nn/scores/attention_score.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::scores_test {
namespace {

using test::expect_close;
using test::wave;

constexpr int64_t kBatch = 2, kTarget = 3, kSource = 5;

void set_by_formula(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  double start = 0.3;
  for (auto& item : module.named_parameters()) item.value().copy_(wave(item.value().sizes(), 0.5, start += 0.9));
}

// A row of a matrix as doubles.
std::vector<double> row_of(const torch::Tensor& x, at::IntArrayRef place) {
  auto row = x;
  for (const int64_t i : place) row = row[i];
  const auto values = row.detach().cpu().to(torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

std::vector<double> times(const torch::Tensor& matrix, const std::vector<double>& x) {
  std::vector<double> y;
  for (int64_t i = 0; i < matrix.size(0); ++i) y.push_back(dot(row_of(matrix, {i}), x));
  return y;
}

struct ScoreCase {
  const char* name;
  AttentionScoreOptions options;
  // score(q, k, position of k) by the equation.
  std::function<double(torch::nn::Module&, const std::vector<double>&, const std::vector<double>&, int64_t)> equation;
};

// 19 and 21 features fill no vector register.
const ScoreCase kCases[] = {
    {"dot", {.query = 19, .key = 19}, [](auto&, const auto& q, const auto& k, int64_t) { return dot(q, k); }},
    {"scaled_dot",
     {.query = 19, .key = 19},
     [](auto&, const auto& q, const auto& k, int64_t) { return dot(q, k) / std::sqrt(19.0); }},
    {"general",
     {.query = 19, .key = 21},
     [](auto& score, const auto& q, const auto& k, int64_t) {
       return dot(q, times(score.named_parameters()["key.weight"], k));
     }},
    {"additive",
     {.query = 19, .key = 21, .inner = 18, .bias = true},
     [](auto& score, const auto& q, const auto& k, int64_t) {
       const auto parameters = score.named_parameters();
       const auto asked = times(parameters["query.weight"], q), offered = times(parameters["key.weight"], k);
       const auto bias = row_of(parameters["key.bias"], {}), v = row_of(parameters["v"], {0});
       double sum = 0;
       for (size_t i = 0; i < v.size(); ++i) sum += v[i] * std::tanh(asked[i] + offered[i] + bias[i]);
       return sum;
     }},
    {"cosine",
     {.query = 19, .key = 19},
     [](auto&, const auto& q, const auto& k, int64_t) { return dot(q, k) / std::sqrt(dot(q, q) * dot(k, k)); }},
    {"scaled_cosine",
     {.query = 19, .key = 19},
     [](auto& score, const auto& q, const auto& k, int64_t) {
       const double beta = score.named_parameters()["beta"].template item<double>();
       return beta * dot(q, k) / std::sqrt(dot(q, q) * dot(k, k));
     }},
    {"location",
     {.query = 19, .key = 21, .max_source = 6},
     [](auto& score, const auto& q, const auto&, int64_t position) {
       return times(score.named_parameters()["places.weight"], q)[position];
     }},
};

// Float32 against double: sums of up to 40 products of size one.
TEST(AttentionScores, AreTheirEquations) {
  for (const auto device : test::devices()) {
    for (const auto& c : kCases) {
      const auto score = make_attention_score(Choice<AttentionScoreKind>(c.name), c.options);
      set_by_formula(*score);
      move_module(*score, device);
      const auto queries = wave({kBatch, kTarget, c.options.query}, 1, 0.2).to(device);
      const auto keys = wave({kBatch, kSource, c.options.key}, 1, 1.1).to(device);
      auto expected = torch::empty({kBatch, kTarget, kSource}, torch::kFloat64);
      for (int64_t b = 0; b < kBatch; ++b)
        for (int64_t t = 0; t < kTarget; ++t)
          for (int64_t s = 0; s < kSource; ++s)
            expected[b][t][s] = c.equation(*score, row_of(queries, {b, t}), row_of(keys, {b, s}), s);
      const auto what = std::string(c.name) + " on " + device.str();
      expect_close(score->forward(queries, score->prepare(keys)).detach().cpu().to(torch::kFloat64), expected, 5e-6,
                   what);
      const torch::NoGradGuard no_grad;  // the way of decoding
      expect_close(score->forward(queries, score->prepare(keys)).cpu().to(torch::kFloat64), expected, 5e-6, what);
    }
  }
}

TEST(AttentionScores, HaveTheirGradients) {
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto score = make_attention_score(Choice<AttentionScoreKind>(c.name), c.options);
    set_by_formula(*score);
    const auto queries = wave({kBatch, kTarget, c.options.query}, 1, 0.2);
    const auto keys = wave({kBatch, kSource, c.options.key}, 1, 1.1);
    const auto weights = wave({kBatch, kTarget, kSource}, 1, 0.7);
    const auto sum = [&](const torch::Tensor& q, const torch::Tensor& k) {
      return (score->forward(q, score->prepare(k)) * weights).sum();
    };
    test::expect_gradient([&](const auto& q) { return sum(q, keys); }, queries, 1e-2, 2e-3, 7);
    if (std::string(c.name) != "location")
      test::expect_gradient([&](const auto& k) { return sum(queries, k); }, keys, 1e-2, 2e-3, 7);
  }
}

// Vectors whose features have mean square 1: |q| = |k| = sqrt(16).
TEST(AttentionScores, ScaledCosineStartsAsScaledDotOfVectorsOfEqualLength) {
  const auto of_length_4 = [](const torch::Tensor& x) { return x / x.norm(2, -1, true) * 4; };
  const auto queries = of_length_4(wave({kBatch, kTarget, 16}, 1, 0.2)),
             keys = of_length_4(wave({kBatch, 5, 16}, 1, 1));
  const auto score = make_attention_score(AttentionScoreKind::kScaledCosine, {.query = 16, .key = 16});
  const auto dot = make_attention_score(AttentionScoreKind::kScaledDot, {.query = 16, .key = 16});
  expect_close(score->forward(queries, score->prepare(keys)).detach(), dot->forward(queries, dot->prepare(keys)), 1e-5);
}

TEST(AttentionScores, RefuseWhatIsNoFunctionOfAQueryAndAKey) {
  EXPECT_EQ(test::message_of<Error>([] { make_attention_score(AttentionScoreKind::kLocal, {}); }),
            "attention score local: is no score of its own");
}

TEST(AttentionScores, RefuseWhatDoesNotFit) {
  EXPECT_EQ(test::message_of<Error>([] { make_attention_score(AttentionScoreKind::kDot, {.query = 4, .key = 6}); }),
            "attention score dot: queries have 4 features, keys 6; use equal sizes, or score general or additive");
  const auto location = make_attention_score(AttentionScoreKind::kLocation, {.query = 4, .key = 4, .max_source = 3});
  EXPECT_EQ(test::message_of<Error>([&] {
              location->prepare(torch::zeros({1, 4, 4}));
            }),
            "attention score location: the source has 4 positions, its table 3; cut sources (data.maxlen1) or raise "
            "model.max_positions");
}

// bfloat16 keeps 8 bits of arguments, of what the plain operations have in between, and of results.
TEST(AdditiveScores, AreThePlainOperationsInEitherType) {
  for (const bool covered : {false, true}) {
    for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
      std::vector<std::vector<torch::Tensor>> results;
      for (const auto score : {additive_scores, plain_additive_scores}) {
        auto queries = wave({kBatch, kTarget, 35}, 1, 0.2).to(type).requires_grad_(true);
        auto keys = wave({kBatch, kSource, 35}, 1, 1.3).to(type).requires_grad_(true);
        auto v = wave({1, 35}, 0.6, 0.1).requires_grad_(true), u = wave({1, 35}, 0.8, 2.1).requires_grad_(true);
        auto coverage = wave({kBatch, kTarget, kSource}, 1, 0.5).requires_grad_(true);
        const auto scores =
            score(queries, keys, v, covered ? coverage : torch::Tensor(), covered ? u : torch::Tensor());
        (scores.to(torch::kFloat32) * wave({kBatch, kTarget, kSource}, 1, 0.9)).sum().backward();
        results.push_back({scores.detach(), queries.grad(), keys.grad(), v.grad()});
        if (covered) results.back().push_back(u.grad()), results.back().push_back(coverage.grad());
      }
      for (size_t i = 0; i < results[0].size(); ++i) {
        EXPECT_EQ(results[0][i].scalar_type(), results[1][i].scalar_type());
        const double size = results[1][i].abs().max().item<double>();
        expect_close(results[0][i], results[1][i], size * (type == torch::kFloat32 ? 3e-6 : 1.0 / 32),
                     "result " + std::to_string(i));
      }
    }
  }
}

TEST(ScoreProducts, AreMatrixProductsWithTheirGradients) {
  const auto queries = wave({kBatch, kTarget, 21}, 1, 0.4), keys = wave({kBatch, kSource, 21}, 1, 2.2);
  const auto weights = wave({kBatch, kTarget, kSource}, 1, 0.8);
  expect_close(dot_scores(queries, keys), torch::matmul(queries, keys.transpose(1, 2)), 1e-5);
  expect_close(weighted_sums(weights, keys), torch::matmul(weights, keys), 1e-5);
  const auto scores_sum = [&](const auto& q, const auto& k) { return (dot_scores(q, k) * weights).sum(); };
  const auto contexts_sum = [&](const auto& w, const auto& k) { return (weighted_sums(w, k) * queries).sum(); };
  test::expect_gradient([&](const auto& q) { return scores_sum(q, keys); }, queries, 1e-2, 2e-3, 5);
  test::expect_gradient([&](const auto& k) { return scores_sum(queries, k); }, keys, 1e-2, 2e-3, 5);
  test::expect_gradient([&](const auto& w) { return contexts_sum(w, keys); }, weights, 1e-2, 2e-3, 5);
  test::expect_gradient([&](const auto& k) { return contexts_sum(weights, k); }, keys, 1e-2, 2e-3, 5);
}

TEST(ScoreProducts, SoftmaxGivesPaddingNoWeight) {
  const auto lengths = torch::tensor({int64_t{3}, int64_t{0}}, torch::kInt64);
  for (const auto device : test::devices()) {
    const auto scores = wave({kBatch, kTarget, kSource}, 3, 0.8).to(device);
    const auto expected = torch::softmax(scores[0].narrow(1, 0, 3), -1);
    for (const bool gradients : {false, true}) {
      const torch::AutoGradMode mode(gradients);
      const auto weights = softmax_scores(scores, lengths);
      expect_close(weights[0].narrow(1, 0, 3), expected, 1e-6);
      EXPECT_EQ(weights[0].narrow(1, 3, 2).abs().sum().item<double>(), 0);
      EXPECT_EQ(weights[1].abs().sum().item<double>(), 0) << "a source without words";
    }
  }
}

TEST(LocalWindow, IsGaussAroundThePredictedCentre) {
  for (const auto device : test::devices()) {
    constexpr int64_t kSize = 6, kInner = 5, kLong = 12, kWindow = 2;
    LocalWindow window(LocalWindowImpl::Options{.query = kSize, .inner = kInner, .window = kWindow});
    set_by_formula(*window);
    move_module(*window, device);
    const auto lengths = torch::tensor({int64_t{12}, int64_t{7}}, torch::kInt64);
    const auto queries = wave({2, 3, kSize}, 1, 0.2), scores = wave({2, 3, kLong}, 1, 0.9);
    const auto weights = window(queries.to(device), scores.to(device), lengths, 0).detach().cpu();
    const auto parameters = window->named_parameters();
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = 0; t < 3; ++t) {
        auto hidden = times(parameters["hidden.weight"], row_of(queries, {b, t}));
        for (auto& x : hidden) x = std::tanh(x);
        const double length = static_cast<double>(lengths[b].item<int64_t>());
        const double p = length / (1 + std::exp(-times(parameters["centre.weight"], hidden)[0]));
        double sum = 0;
        const auto inside = [&](int64_t s) { return std::abs(s - p) <= kWindow && s < length; };
        for (int64_t s = 0; s < kLong; ++s)
          if (inside(s)) sum += std::exp(scores[b][t][s].item<double>());
        for (int64_t s = 0; s < kLong; ++s) {
          const double align = inside(s) ? std::exp(scores[b][t][s].item<double>()) / sum : 0;
          EXPECT_NEAR(weights[b][t][s].item<double>(), align * std::exp(-(s - p) * (s - p) / (2.0 * 1 * 1)), 1e-5)
              << b << " " << t << " " << s << " on " << device;
        }
      }
  }
}

// p = t without a Gaussian; the translation's positions 6 and later look at the second sentence's last ones.
TEST(LocalWindow, FollowsThePositionOfTheStep) {
  constexpr int64_t kWindow = 2;
  for (const auto device : test::devices())
    for (const bool softmax : {true, false}) {
      LocalWindow window(
          LocalWindowImpl::Options{.kind = AttentionWindow::kMonotonic, .window = kWindow, .softmax = softmax});
      EXPECT_TRUE(window->parameters().empty());
      const auto lengths = torch::tensor({int64_t{12}, int64_t{7}}, torch::kInt64);
      const auto queries = wave({2, 3, 6}, 1, 0.2), scores = wave({2, 3, 12}, 1, 0.9);
      for (int64_t position = 0; position < 15; ++position) {
        const auto weights = window(queries.to(device), scores.to(device), lengths, position).cpu();
        for (int64_t b = 0; b < 2; ++b) {
          const int64_t length = lengths[b].item<int64_t>(), p = std::min(position, length - 1);
          const int64_t first = std::max<int64_t>(0, p - kWindow), last = std::min(p + kWindow, length - 1);
          auto expected = torch::zeros({3, 12});
          const auto inside = scores[b].narrow(1, first, last - first + 1);
          expected.narrow(1, first, last - first + 1).copy_(softmax ? torch::softmax(inside, -1) : inside);
          expect_close(weights[b], expected, 1e-6, std::to_string(position) + " on " + device.str());
        }
      }
    }
}

// ATen's sigmoid computes whole vectors otherwise than what is left over: a sentence would depend on its batch.
TEST(LocalWindow, PredictsTheSameCentreAloneAndInABatch) {
  constexpr int64_t kSentences = 301, kPositions = 40;
  const torch::NoGradGuard no_grad;
  LocalWindow window(LocalWindowImpl::Options{.query = 6, .inner = 5, .window = 20});
  set_by_formula(*window);
  const auto query = wave({kSentences, 1, 6}, 3), scores = wave({kSentences, 1, kPositions});
  const auto together = window(query, scores, torch::full({kSentences}, kPositions, torch::kInt64), 0);
  for (int64_t i = 0; i < kSentences; ++i) {
    const auto alone =
        window(query.narrow(0, i, 1), scores.narrow(0, i, 1), torch::full({1}, kPositions, torch::kInt64), 0);
    ASSERT_TRUE(alone[0].equal(together[i])) << "sentence " << i;
  }
}

TEST(LocalWindow, GivesTheScoresThemselvesWhereThereIsNoSoftmax) {
  const LocalWindowImpl::Options options{.query = 6, .inner = 5, .window = 2};
  auto plain_options = options;
  plain_options.softmax = false;
  LocalWindow window(options), plain(plain_options);
  set_by_formula(*window), set_by_formula(*plain);
  const auto lengths = torch::tensor({int64_t{12}, int64_t{7}}, torch::kInt64);
  const auto queries = wave({2, 3, 6}, 1, 0.2), scores = wave({2, 3, 12}, 1, 0.9);
  const auto equal_scores = torch::zeros({2, 3, 12});
  // Equal scores have equal weights within the window: what is left of it is the Gaussian.
  const auto shares = window(queries, equal_scores, lengths, 0);
  const auto inside = (shares > 0).to(torch::kFloat32);
  const auto gauss = shares * inside.sum(-1, /*keepdim=*/true);
  expect_close(plain(queries, scores, lengths, 0).detach(), (scores * gauss).detach(), 1e-6);
}

TEST(RecurrentAttention, SumsValuesByWeightsAndNotPadding) {
  for (const bool softmax : {true, false}) {
    RecurrentAttention attention(
        RecurrentAttentionImpl::Options{.score = "cosine", .sizes = {.query = 8, .key = 8}, .softmax = softmax});
    const auto values = wave({kBatch, kSource, 8}, 1, 0.3), queries = wave({kBatch, kTarget, 8}, 1, 1.7);
    const auto lengths = torch::tensor({int64_t{5}, int64_t{2}}, torch::kInt64);
    ForwardContext no_dropout;
    const auto result = attention(queries, attention->prepare(values, lengths), torch::Tensor(), 0, no_dropout);
    EXPECT_EQ(result.weights[1].narrow(1, 2, 3).abs().sum().item<double>(), 0);
    expect_close(result.context, torch::matmul(result.weights, values), 1e-6);
    const auto cosines = torch::cosine_similarity(queries[0].unsqueeze(1), values[0].unsqueeze(0), -1);
    expect_close(result.weights[0], softmax ? torch::softmax(cosines, -1) : cosines, 1e-6);
  }
}

TEST(RecurrentAttention, CoverageEntersTheAdditiveScoreAlone) {
  const RecurrentAttentionImpl::Options options{.score = "general", .sizes = {.query = 4, .key = 4, .coverage = true}};
  EXPECT_EQ(test::message_of<Error>([&] { RecurrentAttentionImpl attention(options); }),
            "model.coverage: attention score general takes none; use attention_score: additive");
}

}  // namespace
}  // namespace nmt::scores_test
