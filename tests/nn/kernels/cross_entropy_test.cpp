#include <functional>

#include "kernel_support.h"

namespace nmt::kernels::test::cross_entropy_test {
namespace {

constexpr double kSmoothing = 0.1, kScale = 0.7;

Doubles log_softmax(const Doubles& logits) {
  const double highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double x : logits) sum += std::exp(x - highest);
  Doubles result;
  for (const double x : logits) result.push_back(x - highest - std::log(sum));
  return result;
}

double smoothed_loss(const Doubles& log_p, int64_t label) {
  double mean = 0;
  for (const double x : log_p) mean -= x / static_cast<double>(log_p.size());
  return (1 - kSmoothing) * -log_p[label] + kSmoothing * mean;
}

/// Gradient of f at x, times kScale, by differences.
Doubles gradient(const std::function<double(const Doubles&)>& f, Doubles x) {
  constexpr double kStep = 1e-5;
  Doubles result;
  for (double& number : x) {
    const double middle = number;
    number = middle + kStep;
    const double above = f(x);
    number = middle - kStep;
    result.push_back(kScale * (above - f(x)) / (2 * kStep));
    number = middle;
  }
  return result;
}

template <typename T>
Doubles slice(const std::vector<T>& numbers, int64_t begin, int64_t count) {
  return wide(std::vector<T>(numbers.begin() + begin, numbers.begin() + begin + count));
}

/// What a kernel writes of its rows.
struct Outcome {
  explicit Outcome(size_t rows) : loss(rows, 77.0f), label_loss(rows, 77.0f), correct(rows, 7) {}
  std::vector<float> loss, label_loss;
  std::vector<uint8_t> correct;
};

template <typename T>
CrossEntropyRows task_of(std::vector<T>& logits, const std::vector<int64_t>& labels, Outcome& outcome) {
  return {.logits = logits.data(),
          .rows = std::ssize(labels),
          .classes = std::ssize(logits) / std::ssize(labels),
          .labels = labels.data(),
          .smoothing = kSmoothing,
          .write_gradient = true,
          .gradient_scale = kScale,
          .loss = outcome.loss.data(),
          .label_loss = outcome.label_loss.data(),
          .correct = outcome.correct.data()};
}

TEST(CrossEntropyKernel, EqualsAPlainLoop) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const int64_t classes : {1, 2, 15, 16, 17, 100}) {
      const std::vector<int64_t> labels{classes - 1, -1, classes / 2};
      auto logits = wave<T>(3 * classes, 1, 4);
      logits[2 * classes + classes / 2] = narrow<T>(5);  // the highest
      const auto before = logits;
      Outcome outcome(3);
      auto task = task_of(logits, labels, outcome);
      task.write_gradient = false;
      set.cross_entropy(type_of<T>(), task, 0, 3);
      EXPECT_EQ(logits, before) << "nothing is written that nobody asked for";
      task.write_gradient = true;
      set.cross_entropy(type_of<T>(), task, 0, 1);
      set.cross_entropy(type_of<T>(), task, 1, 3);
      Doubles losses(3), label_losses(3), gradients;
      for (int64_t row = 0; row < 3; ++row) {
        const auto x = slice(before, row * classes, classes);
        if (labels[row] < 0) {
          gradients.insert(gradients.end(), classes, 0.0);
          EXPECT_EQ(outcome.correct[row], 0);
          continue;
        }
        losses[row] = smoothed_loss(log_softmax(x), labels[row]);
        label_losses[row] = -log_softmax(x)[labels[row]];
        const auto own = gradient([&](const Doubles& y) { return smoothed_loss(log_softmax(y), labels[row]); }, x);
        gradients.insert(gradients.end(), own.begin(), own.end());
        EXPECT_EQ(outcome.correct[row], x[labels[row]] == *std::ranges::max_element(x));
      }
      expect_close(outcome.loss, losses, 1e-5);
      expect_close(outcome.label_loss, label_losses, 1e-5);
      expect_close(logits, gradients, 1e-5);
    }
  });
}

TEST(CrossEntropyKernel, OfPairsEqualsAPlainLoop) {
  const PairLoss weights{.first = 0.9f, .second = 0.8f, .forward = 0.7f, .backward = 0.6f};
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const int64_t classes : {1, 2, 16, 17, 50}) {
      const std::vector<int64_t> labels{0, 5, -1, 5, classes - 1, 5};  // those of the second rows are not read
      auto logits = wave<T>(6 * classes, 1, 2);
      const auto before = logits;
      Outcome outcome(6);
      const auto task = task_of(logits, labels, outcome);
      set.cross_entropy_pairs(type_of<T>(), task, weights, 0, 1);
      set.cross_entropy_pairs(type_of<T>(), task, weights, 1, 3);
      Doubles losses(6), label_losses(6), gradients;
      for (int64_t row = 0; row < 6; row += 2) {
        const auto both = slice(before, row * classes, 2 * classes);
        if (labels[row] < 0) {
          gradients.insert(gradients.end(), 2 * classes, 0.0);
          continue;
        }
        const auto loss = [&](const Doubles& x) {
          const auto p = log_softmax({x.begin(), x.begin() + classes}), q = log_softmax({x.begin() + classes, x.end()});
          double forward = 0, backward = 0;
          for (int64_t j = 0; j < classes; ++j) {
            forward += std::exp(p[j]) * (p[j] - q[j]);
            backward += std::exp(q[j]) * (q[j] - p[j]);
          }
          return weights.first * smoothed_loss(p, labels[row]) + weights.second * smoothed_loss(q, labels[row]) +
                 weights.forward * forward + weights.backward * backward;
        };
        losses[row] = loss(both);
        label_losses[row] = -log_softmax({both.begin(), both.begin() + classes})[labels[row]];
        const auto own = gradient(loss, both);
        gradients.insert(gradients.end(), own.begin(), own.end());
      }
      expect_close(outcome.loss, losses, 1e-5);
      expect_close(outcome.label_loss, label_losses, 1e-5);
      expect_close(logits, gradients, 1e-5);
    }
  });
}

TEST(CrossEntropyKernel, WritesOnlyWhatIsAskedFor) {
  for_each_set([&](const Kernels& set) {
    const std::vector<int64_t> labels{1, -1};
    auto logits = wave<float>(2 * 5, 1);
    Outcome outcome(2);
    auto task = task_of(logits, labels, outcome);
    task.loss = task.label_loss = nullptr;
    task.correct = nullptr;
    set.cross_entropy(Type::kFloat, task, 0, 2);
    set.cross_entropy_pairs(Type::kFloat, task, {}, 0, 1);
    EXPECT_EQ(outcome.loss, std::vector<float>(2, 77.0f));
  });
}

}  // namespace
}  // namespace nmt::kernels::test::cross_entropy_test
