#include "kernel_support.h"

namespace nmt::kernels::test::attention_test {
namespace {

constexpr double kUntouched = 77;

struct Sizes {
  int64_t target, source, head_dim;
  bool causal = false;
  float dropout = 0;
};

const Sizes kSizes[] = {
    {1, 1, 1},  {3, 2, 5}, {17, 33, 16}, {5, 16, 17, true}, {20, 20, 7}, {4, 31, 64, false, 0.3}, {9, 9, 3, true, 0.5},
    {2, 65, 33}};

/// Two sentences of two heads. Rows stand further apart than they are wide: what lies between must not change.
template <typename T>
struct Problem {
  static constexpr int64_t kBatch = 2, kHeads = 2, kGap = 3;

  explicit Problem(const Sizes& sizes)
      : sizes(sizes),
        width(kHeads * sizes.head_dim),
        target_lengths{sizes.target, std::max<int64_t>(1, sizes.target - 2)},
        source_lengths{std::max<int64_t>(1, sizes.source - 1), sizes.source},
        q(wave<T>(rows(sizes.target), 1)),
        k(wave<T>(rows(sizes.source), 2)),
        v(wave<T>(rows(sizes.source), 3)) {}

  int64_t rows(int64_t length) const { return kBatch * length * (width + kGap) - kGap; }
  AttentionShape shape() const {
    return {.batch = kBatch,
            .heads = kHeads,
            .target = sizes.target,
            .source = sizes.source,
            .head_dim = sizes.head_dim,
            .query_stride = width + kGap,
            .key_stride = width + kGap,
            .context_stride = width + kGap,
            .target_lengths = target_lengths,
            .source_lengths = source_lengths,
            .causal = sizes.causal,
            .scale = 0.6f,
            .dropout = sizes.dropout,
            .dropout_key = 99};
  }
  /// Where feature e of head h of row t of sentence b stands.
  int64_t at(int64_t b, int64_t length, int64_t t, int64_t h, int64_t e) const {
    return (b * length + t) * (width + kGap) + h * sizes.head_dim + e;
  }
  int64_t visible(int64_t b, int64_t t) const {
    return sizes.causal ? std::min(source_lengths[b], t + 1) : source_lengths[b];
  }
  /// body(b, h, t) for the rows that are there.
  template <typename Body>
  void for_each_row(Body&& body) const {
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t h = 0; h < kHeads; ++h)
        for (int64_t t = 0; t < target_lengths[b]; ++t) body(b, h, t);
  }
  /// The factor of dropout for each weight [batch, heads, target, source].
  std::vector<float> factors(const Kernels& set) const {
    const int64_t count = kBatch * kHeads * sizes.target * sizes.source;
    std::vector<float> ones(count, 1.0f), keep(count, 1.0f);
    if (sizes.dropout > 0) set.dropout(Type::kFloat, keep.data(), ones.data(), nullptr, sizes.dropout, 99, 0, count);
    return keep;
  }
  /// exp(score) / sum, and the log of that sum.
  Doubles weights(int64_t b, int64_t h, int64_t t, double& log_sum) const {
    Doubles p(visible(b, t));
    double total = 0;
    for (size_t j = 0; j < p.size(); ++j) {
      for (int64_t e = 0; e < sizes.head_dim; ++e)
        p[j] += widen(q[at(b, sizes.target, t, h, e)]) * widen(k[at(b, sizes.source, j, h, e)]);
      p[j] = std::exp(0.6f * p[j]);
      total += p[j];
    }
    for (double& weight : p) weight /= total;
    log_sum = std::log(total);
    return p;
  }
  /// Zeros in the rows, something else between them.
  Doubles blank(int64_t length) const {
    Doubles result(rows(length), kUntouched);
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t t = 0; t < length; ++t)
        for (int64_t i = 0; i < width; ++i) result[at(b, length, t, 0, i)] = 0;
    return result;
  }

  Sizes sizes;
  int64_t width;
  int64_t target_lengths[kBatch], source_lengths[kBatch];
  std::vector<T> q, k, v;
};

template <typename T>
std::vector<T> untouched(size_t count) {
  return std::vector<T>(count, narrow<T>(kUntouched));
}

TEST(AttentionKernel, EqualsAPlainLoop) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const auto& sizes : kSizes) {
      const Problem<T> problem(sizes);
      const auto shape = problem.shape();
      const auto keep = problem.factors(set);
      const int64_t pairs = shape.batch * shape.heads;
      auto context = untouched<T>(problem.rows(sizes.target));
      std::vector<float> log_sums(pairs * sizes.target, kUntouched);
      for (const Range range : {Range{0, 1}, Range{1, pairs}})
        set.attention(type_of<T>(), shape, problem.q.data(), problem.k.data(), problem.v.data(), context.data(),
                      log_sums.data(), range.begin, range.end);
      Doubles expected = problem.blank(sizes.target), expected_sums(log_sums.size(), kUntouched);
      problem.for_each_row([&](int64_t b, int64_t h, int64_t t) {
        const int64_t row = (b * shape.heads + h) * sizes.target + t;
        const auto p = problem.weights(b, h, t, expected_sums[row]);
        for (size_t j = 0; j < p.size(); ++j)
          for (int64_t e = 0; e < sizes.head_dim; ++e)
            expected[problem.at(b, sizes.target, t, h, e)] +=
                p[j] * keep[row * sizes.source + j] * widen(problem.v[problem.at(b, sizes.source, j, h, e)]);
      });
      expect_close(context, expected, 1e-5);
      expect_close(log_sums, expected_sums, 1e-5);

      auto again = untouched<T>(context.size());
      set.attention(type_of<T>(), shape, problem.q.data(), problem.k.data(), problem.v.data(), again.data(), nullptr, 0,
                    pairs);
      EXPECT_EQ(again, context) << "however the work is split";
    }
  });
}

TEST(AttentionKernel, TakesAllRowsWithoutLengths) {
  for_each_set([&](const Kernels& set) {
    Problem<float> problem({5, 6, 3});
    auto shape = problem.shape();
    shape.target_lengths = shape.source_lengths = nullptr;
    std::vector<float> context = untouched<float>(problem.rows(5)), expected = context;
    set.attention(Type::kFloat, shape, problem.q.data(), problem.k.data(), problem.v.data(), context.data(), nullptr, 0,
                  4);
    for (int64_t b = 0; b < 2; ++b) problem.target_lengths[b] = 5, problem.source_lengths[b] = 6;
    const auto whole = problem.shape();
    set.attention(Type::kFloat, whole, problem.q.data(), problem.k.data(), problem.v.data(), expected.data(), nullptr,
                  0, 4);
    EXPECT_EQ(context, expected);
  });
}

TEST(AttentionKernel, HasTheGradientsOfAPlainLoop) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const auto& sizes : kSizes) {
      const Problem<T> problem(sizes);
      const auto shape = problem.shape();
      const auto keep = problem.factors(set);
      const int64_t pairs = shape.batch * shape.heads;
      auto context = untouched<T>(problem.rows(sizes.target));
      std::vector<float> log_sums(pairs * sizes.target);
      set.attention(type_of<T>(), shape, problem.q.data(), problem.k.data(), problem.v.data(), context.data(),
                    log_sums.data(), 0, pairs);
      const auto of_context = wave<T>(problem.rows(sizes.target), 4);
      auto of_q = untouched<T>(problem.rows(sizes.target));
      auto of_k = untouched<T>(problem.rows(sizes.source)), of_v = of_k;
      const AttentionGradients gradients{.context_gradient = of_context.data(),
                                         .query_gradient = of_q.data(),
                                         .key_gradient = of_k.data(),
                                         .value_gradient = of_v.data(),
                                         .query_gradient_stride = shape.query_stride,
                                         .key_gradient_stride = shape.key_stride};
      for (const Range range : {Range{0, 3}, Range{3, pairs}})
        set.attention_backward(type_of<T>(), shape, problem.q.data(), problem.k.data(), problem.v.data(),
                               context.data(), log_sums.data(), gradients, range.begin, range.end);
      Doubles q = problem.blank(sizes.target), k = problem.blank(sizes.source), v = k;
      problem.for_each_row([&](int64_t b, int64_t h, int64_t t) {
        double log_sum, inner = 0;
        const auto p = problem.weights(b, h, t, log_sum);
        const auto query = [&](int64_t e) { return problem.at(b, sizes.target, t, h, e); };
        for (int64_t e = 0; e < sizes.head_dim; ++e) inner += widen(of_context[query(e)]) * widen(context[query(e)]);
        for (size_t j = 0; j < p.size(); ++j) {
          const auto key = [&](int64_t e) { return problem.at(b, sizes.source, j, h, e); };
          const double factor = keep[((b * shape.heads + h) * sizes.target + t) * sizes.source + j];
          double of_weight = 0;
          for (int64_t e = 0; e < sizes.head_dim; ++e)
            of_weight += widen(of_context[query(e)]) * widen(problem.v[key(e)]);
          const double of_score = p[j] * (of_weight * factor - inner) * 0.6f;
          for (int64_t e = 0; e < sizes.head_dim; ++e) {
            q[query(e)] += of_score * widen(problem.k[key(e)]);
            k[key(e)] += of_score * widen(problem.q[query(e)]);
            v[key(e)] += p[j] * factor * widen(of_context[query(e)]);
          }
        }
      });
      expect_close(of_q, q, 3e-5);
      expect_close(of_k, k, 3e-5);
      expect_close(of_v, v, 3e-5);
    }
  });
}

// A decoding step: keys and values lie anywhere, values behind the keys of all heads.
TEST(AttentionStepKernel, EqualsAPlainLoop) {
  for_each_set_and_type([&]<typename T>(const Kernels& set, T) {
    for (const auto& [heads, key_heads, dim, widest] : {std::tuple<int64_t, int64_t, int64_t, int64_t>{1, 1, 1, 1},
                                                        {4, 2, 5, 17},
                                                        {2, 2, 16, 3},
                                                        {2, 1, 32, 20},
                                                        {2, 1, 64, 33},
                                                        {3, 3, 83, 16},
                                                        {1, 1, 130, 40}}) {
      constexpr int64_t kRows = 3;
      const int64_t stride = heads * dim + 2, width = key_heads * dim;
      const auto q = wave<float>((kRows - 1) * stride + heads * dim, 1);
      std::vector<std::vector<T>> stored;  // keys and values of each position of each row
      std::vector<const void*> keys;
      for (int64_t i = 0; i < kRows * widest; ++i) stored.push_back(wave<T>(2 * width, static_cast<int>(i % 7)));
      for (const auto& position : stored) keys.push_back(position.data());
      const std::vector<int64_t> lengths{1, widest, (widest + 1) / 2};
      for (int64_t row = 0; row < kRows; ++row)  // nobody may look there
        for (int64_t j = lengths[row]; j < widest; ++j) keys[row * widest + j] = nullptr;
      std::vector<float> context(kRows * heads * dim, kUntouched);
      const AttentionStep step{.type = type_of<T>(),
                               .heads = heads,
                               .key_value_heads = key_heads,
                               .head_dim = dim,
                               .q = q.data(),
                               .query_stride = stride,
                               .keys = keys.data(),
                               .widest = widest,
                               .lengths = lengths.data(),
                               .value_offset = width,
                               .context = context.data(),
                               .scale = 0.4f};
      set.attention_step(step, {0, heads});
      set.attention_step(step, {heads, kRows * heads});
      Doubles expected(context.size());
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t head = h / (heads / key_heads) * dim;
          Doubles p(lengths[row]);
          double total = 0;
          for (size_t j = 0; j < p.size(); ++j) {
            for (int64_t e = 0; e < dim; ++e)
              p[j] += q[row * stride + h * dim + e] * widen(stored[row * widest + j][head + e]);
            p[j] = std::exp(0.4f * p[j]);
            total += p[j];
          }
          for (size_t j = 0; j < p.size(); ++j)
            for (int64_t e = 0; e < dim; ++e)
              expected[(row * heads + h) * dim + e] += p[j] / total * widen(stored[row * widest + j][width + head + e]);
        }
      expect_close(context, expected, 2e-5);
    }
  });
}

}  // namespace
}  // namespace nmt::kernels::test::attention_test
