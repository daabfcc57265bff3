#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nn/ops/cross_entropy.h"
#include "tensor_support.h"

namespace nmt::distilled_cross_entropy_test {
namespace {

using test::expect_close;
using test::wave;

constexpr int64_t kRows = 41;

/// A student of 12 features, a teacher of 8, and labels of which one does not count.
struct Rows {
  explicit Rows(int64_t classes, at::ScalarType type = torch::kFloat32, double share = 0.3, int64_t rows = kRows) {
    const auto trained = [&](at::IntArrayRef sizes, double first) {
      return wave(sizes, 1, first).to(type).requires_grad_(true);
    };
    hidden = trained({rows, 12}, 0), weight = trained({classes, 12}, 2), bias = trained({classes}, 5);
    labels = (torch::arange(rows, torch::kInt64) * 7 + 3) % classes;
    labels[7] = -1;
    teacher = {.hidden = wave({rows, 8}, 1, 3).to(type),
               .weight = wave({classes, 8}, 1.5, 1).to(type),
               .bias = wave({classes}, 1, 4).to(type),
               .share = share};
  }
  LossSums distilled(const Smoothing& smoothing) const {
    return distilled_output_cross_entropy(hidden, weight, bias, labels, smoothing, teacher);
  }
  LossSums plain(const Smoothing& smoothing) const {
    return output_cross_entropy(hidden, weight, bias, labels, smoothing);
  }
  std::vector<torch::Tensor> gradients(const torch::Tensor& loss) const {
    for (const auto& x : {hidden, weight, bias}) x.mutable_grad().reset();
    loss.backward();
    return {hidden.grad(), weight.grad(), bias.grad()};
  }

  torch::Tensor hidden, weight, bias, labels;
  TeacherRows teacher;
};

/// -sum_v t_v log p_v over the rows that count, by whole matrices.
torch::Tensor of_teacher(const Rows& rows) {
  const auto logs = torch::log_softmax(rows.hidden.matmul(rows.weight.t()) + rows.bias, -1);
  const auto t = torch::softmax(rows.teacher.hidden.matmul(rows.teacher.weight.t()) + rows.teacher.bias, -1);
  return -(t * logs * (rows.labels >= 0).unsqueeze(-1)).sum();
}

class DistilledCrossEntropyOf : public testing::TestWithParam<at::ScalarType> {};

TEST_P(DistilledCrossEntropyOf, FollowsItsDefinitionWithGradients) {
  for (const int64_t classes : {5, 37, 1000}) {
    for (const auto form : {SmoothingForm::kAll, SmoothingForm::kOthersNormalized}) {
      const Rows rows(classes, GetParam());
      const Smoothing smoothing(0.1, form);
      const auto plain = plain_output_cross_entropy(rows.hidden, rows.weight, rows.bias, rows.labels, smoothing);
      const auto expected = 0.7 * plain.loss + 0.3 * of_teacher(rows);
      const auto expected_gradients = rows.gradients(expected / kRows);
      const auto sums = rows.distilled(smoothing);
      const auto gradients = rows.gradients(sums.loss / kRows);
      const double loss = expected.item<double>();
      EXPECT_NEAR(sums.loss.item<double>(), loss, 1e-5 * loss) << classes;
      EXPECT_NEAR(sums.label_loss.item<double>(), plain.label_loss.item<double>(), 1e-5 * loss);
      EXPECT_EQ(sums.correct.item<int64_t>(), plain.correct.item<int64_t>());
      for (size_t i = 0; i < gradients.size(); ++i)
        expect_close(gradients[i], expected_gradients[i], 1e-6, "gradient " + std::to_string(i));
    }
  }
}

TEST_P(DistilledCrossEntropyOf, WithoutAShareHasTheBitsOfTheLabels) {
  const Rows rows(37, GetParam(), 0);
  const auto plain = rows.plain(0.1), distilled = rows.distilled(0.1);
  EXPECT_TRUE(distilled.loss.equal(plain.loss));
  const auto expected = rows.gradients(plain.loss / kRows), found = rows.gradients(distilled.loss / kRows);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(Types, DistilledCrossEntropyOf, testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

// Three pieces by hand: logits 0 of the student, ln 1, ln 2 and ln 5 of the teacher, label 1, half of each.
TEST(DistilledCrossEntropy, GivesTheHandComputedValue) {
  const auto one = torch::ones({1, 1});
  const auto to_weight = [](at::ArrayRef<double> logits) {
    return torch::tensor(logits).to(torch::kFloat32).unsqueeze(1);
  };
  const TeacherRows teacher{.hidden = one, .weight = to_weight({1, 2, 5}).log(), .bias = {}, .share = 0.5};
  const auto weight = to_weight({0, 1, 0}).requires_grad_(true);
  const auto sums =
      distilled_output_cross_entropy(one, weight, {}, torch::tensor({1}, torch::kInt64), Smoothing(), teacher);
  const double sum = 2 + std::exp(1), label = std::log(sum) - 1, taught = std::log(sum) - 0.25;
  EXPECT_NEAR(sums.loss.item<double>(), (label + taught) / 2, 1e-6);
  sums.loss.backward();
  const auto q = torch::tensor({0.0625, 0.625, 0.3125}), p = torch::tensor({1 / sum, std::exp(1) / sum, 1 / sum});
  expect_close(weight.grad().squeeze(1), p - q, 1e-6);
}

TEST(DistilledCrossEntropy, WorksInSeveralBlocks) {
  const Rows rows(140'000, torch::kFloat32, 0.5, 100);  // 64 rows a block
  const torch::NoGradGuard no_grad;
  const double expected = (rows.plain(0.1).loss + of_teacher(rows)).item<double>() / 2;
  EXPECT_NEAR(rows.distilled(0.1).loss.item<double>() / expected, 1, 1e-4);
}

TEST(DistilledCrossEntropy, InBfloat16StaysNearFloat) {
  const Rows rows(500);
  auto low = rows;
  low.hidden = rows.hidden.detach().to(torch::kBFloat16).requires_grad_(true);
  low.teacher.hidden = rows.teacher.hidden.to(torch::kBFloat16);
  const auto exact = rows.distilled(0.1).loss, found = low.distilled(0.1).loss;
  EXPECT_NEAR(found.item<double>() / exact.item<double>(), 1, 5e-3);
  const auto expected = rows.gradients(exact)[0], gradient = low.gradients(found)[0].to(torch::kFloat32);
  EXPECT_LT((gradient - expected).norm().item<double>(), 0.02 * expected.norm().item<double>());
}

}  // namespace
}  // namespace nmt::distilled_cross_entropy_test
