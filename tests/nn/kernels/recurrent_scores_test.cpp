#include <tuple>

#include "kernel_support.h"

namespace nmt::kernels::test::recurrent_scores_test {
namespace {

constexpr int64_t kBatch = 3;
const std::tuple<int64_t, int64_t, int64_t> kShapes[] = {{1, 1, 1}, {2, 3, 15}, {3, 17, 16}, {5, 2, 17}, {1, 33, 40}};

/// Runs a kernel on the sentences in two parts.
template <typename Run>
void in_parts(Run&& run) {
  run(Range{0, 1});
  run(Range{1, kBatch});
}

template <typename Body>
void for_each_shape(Body&& body) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const auto& [target, source, size] : kShapes)
      body(set, ScoreShape{.type = type_of<T>(), .target = target, .source = source, .size = size}, T());
  });
}

/// body(sentence, t, s) for all.
template <typename Body>
void for_each_score(const ScoreShape& shape, Body&& body) {
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t t = 0; t < shape.target; ++t)
      for (int64_t s = 0; s < shape.source; ++s) body(b, t, s);
}

TEST(RecurrentScoresKernel, OfDotsAndSumsEqualPlainLoops) {
  for_each_shape([&]<typename T>(const Kernels& set, const ScoreShape& shape, T) {
    const auto [type, target, source, size] = shape;
    const auto queries = wave<T>(kBatch * target * size, 1), keys = wave<T>(kBatch * source * size, 2);
    const auto weights = wave<T>(kBatch * target * source, 3);
    std::vector<T> scores(weights.size()), of_keys(queries.size()), of_queries(keys.size());
    in_parts([&](Range range) {
      set.recurrent.dot_scores(shape, queries.data(), keys.data(), scores.data(), range);
      set.recurrent.weighted_sums(shape, weights.data(), keys.data(), of_keys.data(), range);
      set.recurrent.weighted_sums_of_queries(shape, weights.data(), queries.data(), of_queries.data(), range);
    });
    Doubles dots(scores.size()), left(of_keys.size()), right(of_queries.size());
    for_each_score(shape, [&](int64_t b, int64_t t, int64_t s) {
      const int64_t query = (b * shape.target + t) * shape.size, key = (b * shape.source + s) * shape.size;
      const int64_t place = (b * shape.target + t) * shape.source + s;
      for (int64_t i = 0; i < shape.size; ++i) {
        dots[place] += widen(queries[query + i]) * widen(keys[key + i]);
        left[query + i] += widen(weights[place]) * widen(keys[key + i]);
        right[key + i] += widen(weights[place]) * widen(queries[query + i]);
      }
    });
    expect_close(scores, dots, 1e-5);
    expect_close(of_keys, left, 1e-5);
    expect_close(of_queries, right, 1e-5);
  });
}

TEST(RecurrentScoresKernel, OfAdditiveAttentionEqualPlainLoops) {
  for_each_shape([&]<typename T>(const Kernels& set, const ScoreShape& shape, T) {
    const auto [type, target, source, size] = shape;
    const int64_t count = kBatch * target * source;
    const auto queries = wave<T>(kBatch * target * size, 1), keys = wave<T>(kBatch * source * size, 2);
    const auto v = wave<float>(size, 3), u = wave<float>(size, 4), coverage = wave<float>(count, 5);
    const auto of_scores = wave<T>(count, 6);
    for (const bool covered : {false, true}) {
      const AdditiveScores task{.shape = shape,
                                .queries = queries.data(),
                                .keys = keys.data(),
                                .v = v.data(),
                                .coverage = covered ? coverage.data() : nullptr,
                                .u = covered ? u.data() : nullptr};
      std::vector<T> scores(count), of_queries(queries.size()), of_keys(keys.size());
      std::vector<float> of_v(kBatch * size), of_coverage(covered ? count : 0), of_u(covered ? kBatch * size : 0);
      const AdditiveGradients gradients{.scores = of_scores.data(),
                                        .queries = of_queries.data(),
                                        .keys = of_keys.data(),
                                        .v = of_v.data(),
                                        .coverage = covered ? of_coverage.data() : nullptr,
                                        .u = covered ? of_u.data() : nullptr};
      in_parts([&](Range range) {
        set.recurrent.additive_scores(task, scores.data(), range);
        set.recurrent.additive_scores_backward(task, gradients, range);
      });
      Doubles sums(count), q(queries.size()), k(keys.size()), dv(of_v.size()), dc(of_coverage.size()), du(of_u.size());
      for_each_score(shape, [&](int64_t b, int64_t t, int64_t s) {
        const int64_t place = (b * shape.target + t) * shape.source + s;
        for (int64_t i = 0; i < shape.size; ++i) {
          const int64_t query = (b * shape.target + t) * shape.size + i, key = (b * shape.source + s) * shape.size + i;
          const double push = covered ? double{coverage[place]} * u[i] : 0;
          const double hidden = std::tanh(widen(queries[query]) + widen(keys[key]) + push);
          const double inside = widen(of_scores[place]) * v[i] * (1 - hidden * hidden);
          sums[place] += v[i] * hidden;
          q[query] += inside;
          k[key] += inside;
          dv[b * shape.size + i] += widen(of_scores[place]) * hidden;
          if (!covered) continue;
          dc[place] += inside * u[i];
          du[b * shape.size + i] += inside * coverage[place];
        }
      });
      expect_close(scores, sums, 1e-5);
      expect_close(of_queries, q, 1e-5);
      expect_close(of_keys, k, 1e-5);
      expect_close(of_v, dv, 2e-5);
      expect_close(of_coverage, dc, 1e-5);
      expect_close(of_u, du, 2e-5);
    }
  });
}

TEST(RecurrentScoresKernel, OfSoftmaxEqualAPlainLoop) {
  for_each_set([&](const Kernels& set) {
    for (const auto& [target, source, size] : kShapes) {
      const ScoreShape shape{.target = target, .source = source, .size = size};
      const std::vector<int64_t> lengths{source, (source + 1) / 2, 0};
      auto scores = wave<float>(kBatch * target * source, 1, 5);
      Doubles expected(scores.size());
      for (int64_t row = 0; row < kBatch * target; ++row) {
        const int64_t length = lengths[row / target];
        double sum = 0;
        for (int64_t s = 0; s < length; ++s) sum += std::exp(scores[row * source + s]);
        for (int64_t s = 0; s < length; ++s) expected[row * source + s] = std::exp(scores[row * source + s]) / sum;
      }
      in_parts([&](Range range) { set.recurrent.softmax_scores(shape, scores.data(), lengths.data(), range); });
      expect_close(scores, expected, 1e-6);
    }
  });
}

}  // namespace
}  // namespace nmt::kernels::test::recurrent_scores_test
