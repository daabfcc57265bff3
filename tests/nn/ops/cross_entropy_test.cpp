#include "nn/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor_support.h"

namespace nmt::cross_entropy_test {
namespace {

using test::expect_close;
using test::wave;

torch::Tensor labels_for(int64_t rows, int64_t classes) {
  return (torch::arange(rows, torch::kInt64) * 7 + 3) % classes;
}

class OutputCrossEntropyOf : public testing::TestWithParam<at::ScalarType> {};

TEST_P(OutputCrossEntropyOf, EqualsThePlainFormWithItsGradients) {
  const auto values = [](at::IntArrayRef sizes, double scale, int64_t first) {
    return wave(sizes, scale, first).to(GetParam()).requires_grad_(true);
  };
  for (const int64_t classes : {5, 16, 37, 1000}) {
    for (const bool with_bias : {false, true}) {
      LossSums sums[2];
      torch::Tensor gradients[2][3];
      for (const bool blocks : {false, true}) {
        auto hidden = values({41, 12}, 1, 0), weight = values({classes, 12}, 1, 2);
        auto bias = with_bias ? values({classes}, 1, 5) : torch::Tensor();
        auto labels = labels_for(41, classes);
        labels[7] = -1;  // does not count
        sums[blocks] = blocks ? output_cross_entropy(hidden, weight, bias, labels, 0.1)
                              : plain_output_cross_entropy(hidden, weight, bias, labels, 0.1);
        (sums[blocks].loss / 41).backward();
        gradients[blocks][0] = hidden.grad();
        gradients[blocks][1] = weight.grad();
        gradients[blocks][2] = with_bias ? bias.grad() : torch::zeros({1});
      }
      const double scale = sums[0].loss.item<double>();
      EXPECT_NEAR(sums[1].loss.item<double>(), scale, 1e-5 * scale);
      EXPECT_NEAR(sums[1].label_loss.item<double>(), sums[0].label_loss.item<double>(), 1e-5 * scale);
      EXPECT_EQ(sums[1].correct.item<int64_t>(), sums[0].correct.item<int64_t>());
      for (int i = 0; i < 3; ++i) expect_close(gradients[1][i], gradients[0][i], 1e-6, "gradient " + std::to_string(i));
    }
  }
}

// Float32: the toolkit's kernels. Float64: the tensor operations by which other devices do the same.
INSTANTIATE_TEST_SUITE_P(Types, OutputCrossEntropyOf, testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

TEST(OutputCrossEntropy, WorksInSeveralBlocks) {
  // 300,000 classes leave 64 rows a block: 150 rows are three blocks.
  const auto hidden = wave({150, 4}), weight = wave({300000, 4}, 0.5, 2), labels = labels_for(150, 300000);
  const torch::NoGradGuard no_grad;
  const auto blocks = output_cross_entropy(hidden, weight, {}, labels, 0.1),
             plain = plain_output_cross_entropy(hidden, weight, {}, labels, 0.1);
  EXPECT_NEAR(blocks.loss.item<double>() / plain.loss.item<double>(), 1, 1e-5);
}

TEST(OutputCrossEntropy, InBfloat16StaysNearFloat) {
  auto hidden = wave({64, 32}), weight = wave({500, 32}, 0.3, 2);
  const auto labels = labels_for(64, 500);
  const torch::NoGradGuard no_grad;
  const double exact = output_cross_entropy(hidden, weight, {}, labels, 0.1).loss.item<double>();
  const double low = output_cross_entropy(hidden.to(torch::kBFloat16), weight, {}, labels, 0.1).loss.item<double>();
  EXPECT_NEAR(low / exact, 1, 5e-3);
}

// Hand-made: logits 0.1 -0.1 1 0 0, label 2, smoothing 0.1 over five classes.
TEST(OutputCrossEntropy, GivesTheHandComputedValue) {
  const auto hidden = torch::ones({1, 1}),
             weight = torch::tensor({0.1, -0.1, 1.0, 0.0, 0.0}).to(torch::kFloat32).unsqueeze(1);
  const auto labels = torch::tensor({2}, torch::kInt64);
  EXPECT_NEAR(output_cross_entropy(hidden, weight, {}, labels, 0.1).loss.item<double>(), 0.9863210496, 1e-6);
  double sum = 0;
  for (const double x : {0.1, -0.1, 1.0, 0.0, 0.0}) sum += std::exp(x);
  EXPECT_NEAR(output_cross_entropy(hidden, weight, {}, labels, 0.1).label_loss.item<double>(), std::log(sum) - 1.0,
              1e-6);
}

// The same logits with smoothing 0.05 over the four other classes: cross-entropy, and less its least value. The values
// are those of the published program this form is from.
TEST(OutputCrossEntropy, SmoothsOverTheOtherClasses) {
  const auto hidden = torch::ones({1, 1}),
             weight = torch::tensor({0.1, -0.1, 1.0, 0.0, 0.0}).to(torch::kFloat32).unsqueeze(1);
  const auto labels = torch::tensor({2}, torch::kInt64);
  for (const auto function : {output_cross_entropy, plain_output_cross_entropy}) {
    const auto loss = [&](SmoothingForm form) {
      return function(hidden, weight, {}, labels, {0.05, form}).loss.item<double>();
    };
    EXPECT_NEAR(loss(SmoothingForm::kOthers), 0.9563210496, 1e-6);
    EXPECT_NEAR(loss(SmoothingForm::kOthersNormalized), 0.6884910882, 1e-6);
  }
  EXPECT_NEAR(Smoothing(0.05, SmoothingForm::kOthersNormalized).constant(5), 0.2678299614, 1e-9);
  EXPECT_NEAR(Smoothing(0.05, SmoothingForm::kOthersNormalized).constant(8000), 0.6478688, 1e-7);
}

// Its definition: sum over v of -q_v log p_v with q written out, in double.
TEST(OutputCrossEntropy, OfTheOthersFollowsItsDefinitionWithGradient) {
  const int64_t rows = 9, classes = 21;
  const double eps = 0.3;
  for (const auto form : {SmoothingForm::kOthers, SmoothingForm::kOthersNormalized}) {
    const auto hidden_data = wave({rows, 6}), weight_data = wave({classes, 6}, 1, 2);
    auto labels = labels_for(rows, classes);
    labels[4] = -1;
    auto hidden = hidden_data.to(torch::kFloat64).requires_grad_(true);
    auto q = torch::full({rows, classes}, eps / static_cast<double>(classes - 1), torch::kFloat64);
    q.scatter_(1, labels.clamp_min(0).unsqueeze(1), 1 - eps);
    q[4].zero_();
    const auto logs = torch::log_softmax(torch::matmul(hidden, weight_data.to(torch::kFloat64).t()), -1);
    auto expected = -(q * logs).sum();
    if (form == SmoothingForm::kOthersNormalized) expected = expected + torch::xlogy(q, q).sum();
    expected.backward();
    for (const auto function : {output_cross_entropy, plain_output_cross_entropy}) {
      auto x = hidden_data.clone().requires_grad_(true);
      const auto found = function(x, weight_data, {}, labels, {eps, form});
      found.loss.backward();
      EXPECT_NEAR(found.loss.item<double>(), expected.item<double>(), 1e-4);
      expect_close(x.grad().to(torch::kFloat64), hidden.grad(), 1e-5, "gradient");
    }
  }
}

TEST(OutputCrossEntropy, LessItsLeastValueIsZeroAtBest) {
  // Logits that are the logarithms of q.
  const double eps = 0.2;
  const auto logits = torch::log(torch::tensor({eps / 3, eps / 3, 1 - eps, eps / 3}));
  for (const auto function : {output_cross_entropy, plain_output_cross_entropy})
    EXPECT_NEAR(function(torch::ones({1, 1}), logits.to(torch::kFloat32).unsqueeze(1), {},
                         torch::tensor({2}, torch::kInt64), {eps, SmoothingForm::kOthersNormalized})
                    .loss.item<double>(),
                0, 1e-6);
}

// Padding (a negative label here) counts neither as a hit nor as a token, even where it would have been predicted.
TEST(OutputCrossEntropy, CountsHitsOfRealLabelsOnly) {
  const auto hidden = torch::ones({3, 1}),
             weight = torch::tensor({0.1, -0.1, 1.0, 0.0, 0.0}).to(torch::kFloat32).unsqueeze(1);
  for (const auto function : {output_cross_entropy, plain_output_cross_entropy}) {
    const auto hits = [&](std::vector<int64_t> labels) {
      return function(hidden, weight, {}, torch::tensor(labels), {0.05}).correct.item<int64_t>();
    };
    EXPECT_EQ(hits({2, 3, -1}), 1);
    EXPECT_EQ(hits({2, 2, 2}), 3);
    EXPECT_EQ(hits({0, 3, -1}), 0);
  }
}

TEST(OutputCrossEntropy, LeavesRowsWithNegativeLabelsOut) {
  auto hidden = wave({6, 4}).requires_grad_(true), weight = wave({9, 4}, 1, 2);
  const auto labels = torch::tensor({3, -1, 0, 8, -1, 2}, torch::kInt64);
  const auto kept = torch::tensor({0, 2, 3, 5}, torch::kInt64);
  for (const auto function : {output_cross_entropy, plain_output_cross_entropy}) {
    const auto with = function(hidden, weight, {}, labels, 0.1);
    const auto without = function(hidden.index_select(0, kept), weight, {}, labels.index_select(0, kept), 0.1);
    EXPECT_NEAR(with.loss.item<double>(), without.loss.item<double>(), 1e-5);
    EXPECT_NEAR(with.label_loss.item<double>(), without.label_loss.item<double>(), 1e-5);
    EXPECT_EQ(with.correct.item<int64_t>(), without.correct.item<int64_t>());
    hidden.mutable_grad().reset();
    with.loss.backward();
    EXPECT_EQ(hidden.grad()[1].abs().sum().item<double>(), 0);
    EXPECT_GT(hidden.grad()[2].abs().sum().item<double>(), 0);
  }
}

// Its definition, in double: q written out, KL(p||q) = sum_v p_v log(p_v / q_v).
torch::Tensor defined_pair_loss(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                const torch::Tensor& labels, const Smoothing& smoothing, const PairLoss& pair) {
  const int64_t classes = weight.size(0);
  auto logits = torch::matmul(hidden, weight.t());
  if (bias.defined()) logits = logits + bias;
  const auto p = torch::softmax(logits, -1);
  torch::Tensor loss = torch::zeros({}, torch::kFloat64);
  for (int64_t i = 0; i < labels.size(0); i += 2) {
    const auto label = labels[i].item<int64_t>();
    if (label < 0) continue;
    const bool all = smoothing.form == SmoothingForm::kAll;
    auto target =
        torch::full({classes}, smoothing.rate / static_cast<double>(all ? classes : classes - 1), torch::kFloat64);
    target[label] = all ? target[label].item<double>() + 1 - smoothing.rate : 1 - smoothing.rate;
    const auto constant = smoothing.form == SmoothingForm::kOthersNormalized ? torch::xlogy(target, target).sum()
                                                                             : torch::zeros({}, torch::kFloat64);
    loss = loss + pair.first * (constant - (target * p[i].log()).sum()) +
           pair.second * (constant - (target * p[i + 1].log()).sum()) +
           pair.forward * (p[i] * (p[i] / p[i + 1]).log()).sum() +
           pair.backward * (p[i + 1] * (p[i + 1] / p[i]).log()).sum();
  }
  return loss;
}

TEST(PairedCrossEntropy, FollowsItsDefinitionWithGradients) {
  const PairLoss pairs[] = {{0.5f, 0.5f, 1.25f, 1.25f}, {1, 0, 3, 0}, {0.3f, 0.9f, 0, 2}};
  for (const auto form : {SmoothingForm::kAll, SmoothingForm::kOthers, SmoothingForm::kOthersNormalized}) {
    for (const auto& pair : pairs) {
      for (const int64_t classes : {5, 37}) {
        const Smoothing smoothing(0.2, form);
        auto labels = labels_for(12, classes).repeat_interleave(2);
        labels[4] = labels[5] = -1;
        auto x = wave({24, 6}).to(torch::kFloat64).requires_grad_(true),
             w = wave({classes, 6}, 1, 2).to(torch::kFloat64).requires_grad_(true),
             b = wave({classes}, 1, 5).to(torch::kFloat64).requires_grad_(true);
        const auto expected = defined_pair_loss(x, w, b, labels, smoothing, pair);
        (expected / 12).backward();
        const auto in = [&](at::ScalarType type, auto function) {
          auto hidden = wave({24, 6}).to(type).requires_grad_(true),
               weight = wave({classes, 6}, 1, 2).to(type).requires_grad_(true),
               bias = wave({classes}, 1, 5).to(type).requires_grad_(true);
          const auto found = function(hidden, weight, bias, labels, smoothing, pair);
          (found.loss / 12).backward();
          EXPECT_NEAR(found.loss.template item<double>(), expected.item<double>(), 1e-5 * expected.item<double>());
          expect_close(hidden.grad().to(torch::kFloat64), x.grad(), 3e-6, "gradient of hidden");
          expect_close(weight.grad().to(torch::kFloat64), w.grad(), 3e-6, "gradient of weight");
          expect_close(bias.grad().to(torch::kFloat64), b.grad(), 3e-6, "gradient of bias");
        };
        in(torch::kFloat32, paired_output_cross_entropy);        // the toolkit's kernels
        in(torch::kFloat64, paired_output_cross_entropy);        // tensor operations, block by block
        in(torch::kFloat32, plain_paired_output_cross_entropy);  // the whole matrix
      }
    }
  }
}

// Perplexity and accuracy are those of the first row of each pair.
TEST(PairedCrossEntropy, CountsTheFirstRows) {
  const auto hidden = wave({20, 6}), weight = wave({9, 6}, 1, 2);
  auto labels = labels_for(10, 9).repeat_interleave(2);
  labels[6] = labels[7] = -1;
  const auto first = torch::arange(0, 20, 2);
  const auto expected =
      plain_output_cross_entropy(hidden.index_select(0, first), weight, {}, labels.index_select(0, first), 0.1);
  for (const auto function : {paired_output_cross_entropy, plain_paired_output_cross_entropy}) {
    const auto found = function(hidden, weight, {}, labels, 0.1, {0.5f, 0.5f, 1, 1});
    EXPECT_NEAR(found.label_loss.item<double>(), expected.label_loss.item<double>(), 1e-4);
    EXPECT_EQ(found.correct.item<int64_t>(), expected.correct.item<int64_t>());
  }
}

TEST(PairedCrossEntropy, WorksInSeveralBlocks) {
  // 70,000 classes leave 118 rows a block: 150 rows are two blocks.
  auto hidden = wave({150, 4}).requires_grad_(true), again = wave({150, 4}).requires_grad_(true);
  const auto weight = wave({70000, 4}, 0.5, 2), labels = labels_for(75, 70000).repeat_interleave(2);
  const PairLoss pair{0.5f, 0.5f, 1, 1};
  const auto blocks = paired_output_cross_entropy(hidden, weight, {}, labels, 0.1, pair),
             plain = plain_paired_output_cross_entropy(again, weight, {}, labels, 0.1, pair);
  EXPECT_NEAR(blocks.loss.item<double>() / plain.loss.item<double>(), 1, 1e-5);
  blocks.loss.backward();
  plain.loss.backward();
  expect_close(hidden.grad(), again.grad(), 1e-4);
}

TEST(PairedCrossEntropy, InBfloat16StaysNearFloat) {
  const auto labels = labels_for(32, 500).repeat_interleave(2);
  const auto weight = wave({500, 32}, 0.3, 2);
  const PairLoss pair{0.5f, 0.5f, 1, 1};
  torch::Tensor gradients[2];
  double losses[2];
  for (const bool low : {false, true}) {
    auto hidden = wave({64, 32}).requires_grad_(true);
    const auto sums =
        paired_output_cross_entropy(low ? hidden.to(torch::kBFloat16) : hidden, weight, {}, labels, 0.1, pair);
    sums.loss.backward();
    losses[low] = sums.loss.item<double>();
    gradients[low] = hidden.grad();
  }
  EXPECT_NEAR(losses[1] / losses[0], 1, 5e-3);
  expect_close(gradients[1], gradients[0], 0.02 * gradients[0].abs().max().item<double>());
}

// Two equal rows: the plain loss, and no divergence.
TEST(PairedCrossEntropy, OfEqualRowsIsTheLossOfOne) {
  const auto one = wave({15, 6}), weight = wave({40, 6}, 1, 2), labels = labels_for(15, 40);
  auto hidden = one.repeat_interleave(2, 0).requires_grad_(true), single = one.clone().requires_grad_(true);
  const auto pair =
      paired_output_cross_entropy(hidden, weight, {}, labels.repeat_interleave(2), 0.1, {0.5f, 0.5f, 7, 9});
  const auto alone = output_cross_entropy(single, weight, {}, labels, 0.1);
  EXPECT_NEAR(pair.loss.item<double>(), alone.loss.item<double>(), 1e-4);
  pair.loss.backward();
  alone.loss.backward();
  expect_close(hidden.grad().unflatten(0, {15, 2}).sum(1), single.grad(), 1e-5);
}

// Its gradient would be written behind the row, its loss read from there.
TEST(OutputCrossEntropy, RefusesLabelsBeyondTheVocabulary) {
  const auto hidden = wave({4, 3}), weight = wave({10, 3}, 1, 2).requires_grad_(true);
  for (const int64_t label : {10, 11, 1 << 30}) {
    auto labels = labels_for(4, 10);
    labels[2] = label;
    EXPECT_THROW(output_cross_entropy(hidden, weight, {}, labels, 0.1), c10::Error) << label;
    EXPECT_THROW(paired_output_cross_entropy(hidden, weight, {}, labels, 0.1, {.first = 1, .second = 1}), c10::Error)
        << label;
  }
}

TEST(OutputCrossEntropy, SurvivesHugeLogits) {
  const auto hidden = torch::full({2, 1}, 1e4f), weight = torch::tensor({{1.0f}, {-1.0f}, {0.5f}});
  const auto sums = output_cross_entropy(hidden, weight, {}, torch::tensor({0, 1}, torch::kInt64), 0.0);
  EXPECT_NEAR(sums.loss.item<double>(), 2e4, 1);
  EXPECT_EQ(sums.correct.item<int64_t>(), 1);
}

}  // namespace
}  // namespace nmt::cross_entropy_test
