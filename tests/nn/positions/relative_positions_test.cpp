#include "nn/positions/relative_positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "nn/attention/attention.h"
#include "nn/positions/positions.h"
#include "nn/positions/table_positions.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::relative_positions_test {
namespace {

using test::expect_close;
using test::wave;

constexpr int64_t kBatch = 2, kHeads = 2, kHeadDim = 4, kModel = kHeads * kHeadDim, kTime = 7, kReach = 2;

torch::Tensor double_wave(at::IntArrayRef sizes, double start) { return wave(sizes, 1, start).to(torch::kFloat64); }

// Positions in double, weights by formula; distances up to 6 meet clips at 2.
std::shared_ptr<HeadScores> relative(const std::string& kind, bool two_sided = true,
                                     const std::shared_ptr<HeadScores>& first_layer = nullptr) {
  auto made = make_relative_positions({.kind = kind,
                                       .model = kModel,
                                       .heads = kHeads,
                                       .max_distance = kind == "t5" ? 5 : kReach,
                                       .buckets = 8,
                                       .two_sided = two_sided,
                                       .first_layer = first_layer});
  made->to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  for (auto& parameter : made->parameters()) parameter.copy_(double_wave(parameter.sizes(), 0.4));
  return made;
}

// Heads of queries, keys and values: [batch, heads, time, head_dim].
torch::Tensor heads(double start, int64_t time = kTime) { return double_wave({kBatch, kHeads, time, kHeadDim}, start); }

// A score for each query and key by a function of (batch, head, i, j).
template <typename Score>
torch::Tensor by_loop(Score&& score) {
  auto all = torch::zeros({kBatch, kHeads, kTime, kTime}, torch::kFloat64);
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t i = 0; i < kTime; ++i)
        for (int64_t j = 0; j < kTime; ++j) all[b][h][i][j] = score(b, h, i, j);
  return all;
}
double product(const torch::Tensor& a, const torch::Tensor& b) { return a.dot(b).item<double>(); }

class RelativePositions : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RelativePositions,
                         testing::Values("shaw", "t5", "transformer_xl", "deberta", "rotary", "alibi"),
                         [](const auto& info) { return info.param; });

AttentionOptions options(HeadScores& scores, bool causal, int64_t first_query = 0) {
  return {.heads = kHeads, .causal = causal, .scores = &scores, .first_query = first_query};
}

// x [batch, time, model] three times -> context.
torch::Tensor attend(HeadScores& scores, const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                     bool causal, int64_t first_query = 0) {
  ForwardContext pass;
  return attention(scores.transform(q, first_query), scores.transform(k, 0), v, options(scores, causal, first_query),
                   pass);
}

TEST_P(RelativePositions, GiveTheLastQueryAloneWhatTheyGiveItAmongAll) {
  for (const bool two_sided : {true, false}) {
    const auto scores = relative(GetParam(), two_sided);
    const auto q = double_wave({kBatch, kTime, kModel}, 0), k = double_wave({kBatch, kTime, kModel}, 1),
               v = double_wave({kBatch, kTime, kModel}, 2);
    const auto all = attend(*scores, q, k, v, /*causal=*/true);
    for (int64_t i = 0; i < kTime; ++i) {
      const auto alone = attend(*scores, q.narrow(1, i, 1), k.narrow(1, 0, i + 1), v.narrow(1, 0, i + 1), false, i);
      // Sinusoids are float32.
      expect_close(alone, all.narrow(1, i, 1), 1e-6, GetParam());
    }
  }
}

TEST_P(RelativePositions, DependOnDifferencesOnly) {
  const auto scores = relative(GetParam());
  // One word everywhere: what differs between scores is places alone.
  const auto word = double_wave({1, 1, kModel}, 0.2).expand({1, kTime, kModel});
  const auto split = [](const torch::Tensor& x) { return x.unflatten(-1, {kHeads, -1}).transpose(1, 2); };
  const auto found = scores->scores(split(scores->transform(word, 0)), split(scores->transform(word, 0)), 0).detach();
  const auto top = kTime - 1;  // each row but the first is the one above, one key further
  expect_close(found.slice(2, 1, kTime).slice(3, 1, kTime), found.slice(2, 0, top).slice(3, 0, top), 1e-6);
  const auto row = found[0][0][3];  // differences -3 .. 3
  EXPECT_GT((row - row[3]).abs().max().item<double>(), 1e-3) << "places show";
}

TEST_P(RelativePositions, HaveTheGradientOfTheirFunction) {
  const auto scores = relative(GetParam());
  auto q = double_wave({kBatch, kTime, kModel}, 0).requires_grad_(true);
  auto k = double_wave({kBatch, kTime, kModel}, 1).requires_grad_(true);
  auto v = double_wave({kBatch, kTime, kModel}, 2).requires_grad_(true);
  const auto mix = double_wave({kBatch, kTime, kModel}, 3);
  const auto loss = [&] { return (attend(*scores, q, k, v, /*causal=*/false) * mix).sum(); };
  loss().backward();
  std::vector<std::pair<std::string, torch::Tensor>> all = {{"q", q}, {"k", k}, {"v", v}};
  for (auto& item : scores->named_parameters()) all.emplace_back(item.key(), item.value());
  const torch::NoGradGuard no_grad;
  for (auto& [name, x] : all) {
    auto values = x.flatten();
    for (int64_t i = 0; i < values.numel(); i += 5) {
      constexpr double kStep = 1e-5;
      const double before = values[i].item<double>();
      values[i] = before + kStep;
      const double up = loss().item<double>();
      values[i] = before - kStep;
      const double down = loss().item<double>();
      values[i] = before;
      EXPECT_NEAR(x.grad().flatten()[i].item<double>(), (up - down) / (2 * kStep), 1e-7) << name << " element " << i;
    }
  }
}

TEST(ShawPositions, AddVectorsOfClippedDistancesToKeysAndValues) {
  const auto shaw = relative("shaw");
  const auto of_keys = shaw->named_parameters()["keys"].detach(),
             of_values = shaw->named_parameters()["values"].detach();
  ASSERT_EQ(of_keys.size(0), 2 * kReach + 1);
  const auto row = [](int64_t i, int64_t j) { return std::clamp(j - i, -kReach, kReach) + kReach; };
  const auto q = heads(0), k = heads(1), v = heads(2);
  const auto expected = by_loop([&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return product(q[b][h][i], k[b][h][j] + of_keys[row(i, j)]) / std::sqrt(kHeadDim);
  });
  expect_close(shaw->scores(q, k, 0), expected, 1e-12);
  const auto weights = torch::softmax(expected, -1);
  auto context = torch::zeros_like(v);
  for (int64_t i = 0; i < kTime; ++i)
    for (int64_t j = 0; j < kTime; ++j)
      context.select(2, i) += weights.select(2, i).select(2, j).unsqueeze(-1) * (v.select(2, j) + of_values[row(i, j)]);
  expect_close(shaw->context(weights, v, 0), context, 1e-12);
}

// First distance of each bucket, from golden/make_positions.py.
TEST(T5Positions, PutDistancesIntoThePublishedBuckets) {
  struct Case {
    int64_t buckets, max_distance;
    bool two_sided;
    std::vector<std::pair<int64_t, int64_t>> starts;  // (distance, bucket), until the next
  };
  const Case cases[] = {
      {32, 128, true, {{-140, 15}, {-90, 14}, {-63, 13}, {-45, 12}, {-31, 11}, {-22, 10}, {-15, 9}, {-11, 8},
                       {-7, 7},    {-6, 6},   {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},   {-1, 1},  {0, 0},
                       {1, 17},    {2, 18},   {3, 19},   {4, 20},   {5, 21},   {6, 22},   {7, 23},  {8, 24},
                       {12, 25},   {16, 26},  {23, 27},  {32, 28},  {46, 29},  {64, 30},  {91, 31}}},
      {8, 20, true, {{-140, 3}, {-6, 2}, {-1, 1}, {0, 0}, {1, 5}, {2, 6}, {7, 7}}},
      {32, 128, false, {{-140, 31}, {-112, 30}, {-98, 29}, {-86, 28}, {-76, 27}, {-66, 26}, {-58, 25}, {-51, 24},
                        {-45, 23},  {-39, 22},  {-34, 21}, {-30, 20}, {-26, 19}, {-23, 18}, {-20, 17}, {-18, 16},
                        {-15, 15},  {-14, 14},  {-13, 13}, {-12, 12}, {-11, 11}, {-10, 10}, {-9, 9},   {-8, 8},
                        {-7, 7},    {-6, 6},    {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},   {-1, 1},   {0, 0}}},
      {8, 20, false, {{-140, 7}, {-13, 6}, {-8, 5}, {-5, 4}, {-3, 3}, {-2, 2}, {-1, 1}, {0, 0}}},
      // The last exact bucket lies beyond the largest distance: all behind it share the last.
      {32,
       10,
       false,
       {{-140, 31},
        {-15, 15},
        {-14, 14},
        {-13, 13},
        {-12, 12},
        {-11, 11},
        {-10, 10},
        {-9, 9},
        {-8, 8},
        {-7, 7},
        {-6, 6},
        {-5, 5},
        {-4, 4},
        {-3, 3},
        {-2, 2},
        {-1, 1},
        {0, 0}}},
  };
  for (const auto& c : cases) {
    int64_t expected = -1;
    for (int64_t distance = -140; distance <= 140; ++distance) {
      for (const auto& [first, bucket] : c.starts)
        if (first == distance) expected = bucket;
      EXPECT_EQ(t5_bucket(distance, c.buckets, c.max_distance, c.two_sided), expected)
          << c.buckets << " buckets, distance " << distance;
    }
  }
}

TEST(T5Positions, AddABiasToUnscaledProducts) {
  for (const bool two_sided : {true, false}) {
    const auto t5 = relative("t5", two_sided);
    const auto table = t5->named_parameters()["weight"].detach();  // [buckets, heads]
    const auto q = heads(0), k = heads(1);
    expect_close(t5->scores(q, k, 0), by_loop([&](int64_t b, int64_t h, int64_t i, int64_t j) {
                   return product(q[b][h][i], k[b][h][j]) + table[t5_bucket(j - i, 8, 5, two_sided)][h].item<double>();
                 }),
                 1e-12);
  }
}

TEST(TransformerXlPositions, HaveTheFourTermsOfTheirEquation) {
  const auto xl = relative("transformer_xl");
  const auto parameters = xl->named_parameters();
  const auto u = parameters["u"].detach(), v = parameters["v"].detach(),
             projection = parameters["projection.weight"].detach();
  const auto q = heads(0), k = heads(1);
  const auto table = sinusoid_table(-kTime, 2 * kTime, kModel, Sinusoid::kInterleaved).to(torch::kFloat64);
  expect_close(xl->scores(q, k, 0), by_loop([&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 const auto place = torch::mv(projection, table[i - j + kTime]).view({kHeads, kHeadDim})[h];
                 const double sum = product(q[b][h][i], k[b][h][j]) + product(q[b][h][i], place) +
                                    product(u[h], k[b][h][j]) + product(v[h], place);
                 return sum / std::sqrt(kHeadDim);
               }),
               1e-12);
}

TEST(DebertaPositions, AreDisentangled) {
  const auto deberta = relative("deberta");
  const auto parameters = deberta->named_parameters();
  const auto through = [&](const char* matrix) {
    return torch::matmul(parameters["weight"].detach(), parameters[matrix].detach().t()).view({-1, kHeads, kHeadDim});
  };
  const auto of_keys = through("key.weight"), of_queries = through("query.weight");
  ASSERT_EQ(of_keys.size(0), 2 * kReach);
  const auto row = [](int64_t i, int64_t j) {  // delta of the paper
    return i - j <= -kReach ? 0 : i - j >= kReach ? 2 * kReach - 1 : i - j + kReach;
  };
  EXPECT_EQ(row(0, 5), 0);
  EXPECT_EQ(row(5, 0), 3);
  const auto q = heads(0), k = heads(1);
  expect_close(deberta->scores(q, k, 0), by_loop([&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 const double sum = product(q[b][h][i], k[b][h][j]) + product(q[b][h][i], of_keys[row(i, j)][h]) +
                                    product(k[b][h][j], of_queries[row(j, i)][h]);
                 return sum / std::sqrt(3.0 * kHeadDim);
               }),
               1e-12);
}

TEST(RotaryPositions, TurnPairsOfFeatures) {
  const auto rotary = relative("rotary");
  // The first pair of each head turns by one a position, the second by 10000^(-2/4) = 1/100.
  const auto rotated =
      rotary->transform(torch::tensor({1.0, 0.0, 0.0, 1.0, 0.0, 2.0, 3.0, 0.0}).view({1, 1, 8}), 5)[0][0];
  const double c = std::cos(5.0), s = std::sin(5.0), c2 = std::cos(0.05), s2 = std::sin(0.05);
  expect_close(rotated, torch::tensor({c, s, -s2, c2, -2 * s, 2 * c, 3 * c2, 3 * s2}), 1e-6);
  EXPECT_TRUE(rotary->fits_kernel());
  EXPECT_EQ(test::message_of<Error>([] { make_relative_positions({.kind = "rotary", .model = 9, .heads = 3}); }),
            "model.positions: rotary turns pairs of features; d_model 9 / num_heads 3 is odd, choose other sizes");
}

// Float32 and bfloat16 go through one pass over a slice of the projections, float64 through tensor operations.
TEST(RotaryPositions, OnePassEqualsTensorOperations) {
  const auto rotary = relative("rotary");
  const auto mix = double_wave({3, 70, 8}, 2);
  const auto transform = [&](at::ScalarType type) {
    auto projected = double_wave({3, 70, 24}, 0).to(type).requires_grad_(true);
    const auto rotated = rotary->transform(projected.narrow(2, 8, 8), 4);
    EXPECT_EQ(rotated.scalar_type(), type);
    (rotated * mix.to(type)).sum().backward();
    return std::pair(rotated.detach(), projected.grad());
  };
  const auto [expected, gradient] = transform(torch::kFloat64);
  for (const auto& [type, tolerance] : {std::pair(torch::kFloat32, 1e-6), std::pair(torch::kBFloat16, 2e-2)}) {
    const auto [rotated, its_gradient] = transform(type);
    expect_close(rotated, expected, tolerance);
    expect_close(its_gradient, gradient, tolerance);
  }
}

TEST(AlibiPositions, HaveThePublishedSlopes) {
  expect_close(alibi_slopes(8), 1 / torch::tensor({2., 4., 8., 16., 32., 64., 128., 256.}), 0);
  // Heads beyond a power of two take every other slope of the next one.
  expect_close(alibi_slopes(6), torch::tensor({.25, .0625, .015625, .00390625, .5, .125}), 1e-7);
  const auto alibi = relative("alibi");  // two heads: 1/16 and 1/256
  const auto q = heads(0), k = heads(1);
  expect_close(alibi->scores(q, k, 0), by_loop([&](int64_t b, int64_t h, int64_t i, int64_t j) {
                 return product(q[b][h][i], k[b][h][j]) / std::sqrt(kHeadDim) -
                        static_cast<double>(std::abs(i - j)) / (h == 0 ? 16 : 256);
               }),
               1e-12);
}

TEST(RelativeTables, AreSharedByLayersWhereTheirPapersDo) {
  for (const char* kind : {"t5", "rotary", "alibi"}) {
    const auto first = relative(kind);
    EXPECT_EQ(relative(kind, true, first), first) << kind;
  }
  for (const char* kind : {"shaw", "transformer_xl"}) {
    const auto first = relative(kind), second = relative(kind, true, first);
    EXPECT_NE(second, first) << kind;
    EXPECT_EQ(second->parameters().size(), first->parameters().size()) << kind;
  }
  const auto first = relative("deberta"), second = relative("deberta", true, first);
  EXPECT_TRUE(first->named_parameters().contains("weight"));
  EXPECT_FALSE(second->named_parameters().contains("weight"));
  const auto q = heads(0), k = heads(1);
  expect_close(second->scores(q, k, 0), first->scores(q, k, 0), 1e-12);
}

}  // namespace
}  // namespace nmt::relative_positions_test
