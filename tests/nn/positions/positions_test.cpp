#include "nn/positions/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/positions/sinusoid.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::positions_test {
namespace {

using test::expect_close;
using test::wave;

// Golden values: golden/make_positions.py.
TEST(Sinusoid, HasThePublishedValuesInEveryForm) {
  struct Case {
    const char* name;
    std::vector<double> first, second;  // positions 1 and 2, d = 8
  };
  const Case cases[] = {
      {"interleaved",
       {.841471, .540302, .099833, .995004, .010000, .999950, .001000, 1.000000},
       {.909297, -.416147, .198669, .980067, .019999, .999800, .002000, .999998}},
      {"half_split",
       {.841471, .099833, .010000, .001000, .540302, .995004, .999950, 1.000000},
       {.909297, .198669, .019999, .002000, -.416147, .980067, .999800, .999998}},
      {"half_split_t2t",
       {.841471, .046399, .002154, .000100, .540302, .998923, .999998, 1.000000},
       {.909297, .092699, .004309, .000200, -.416147, .995694, .999991, 1.000000}},
      {"doubled",
       {.841471, .540302, .010000, .999950, .000100, 1.000000, .000001, 1.000000},
       {.909297, -.416147, .019999, .999800, .000200, 1.000000, .000002, 1.000000}},
      {"legacy_raw",
       {.841471, .995004, .010000, 1.000000, .000100, 1.000000, .000001, 1.000000},
       {.909297, .980067, .019999, .999998, .000200, 1.000000, .000002, 1.000000}},
  };
  for (const auto& c : cases) {
    const auto table = sinusoid_table(1, 2, 8, Choice<Sinusoid>(c.name));
    expect_close(table[0], torch::tensor(c.first), 6e-7, c.name);
    expect_close(table[1], torch::tensor(c.second), 6e-7, c.name);
  }
}

// Two words of a published example, positions 2 and 10 of 512 features. It prints vectors of twice the paper's exponent
// (doubled); the paper's formula (interleaved) gives others.
TEST(Sinusoid, HasTheVectorsOfThePublishedExample) {
  struct Case {
    const char* name;
    int64_t position;
    std::vector<double> start, end;  // features 0-7 and 504-511
    double cosine;                   // of the vectors of positions 2 and 10
  };
  const Case cases[] = {
      {"interleaved",
       2,
       {9.09297427e-01, -4.16146837e-01, 9.36414739e-01, -3.50895194e-01, 9.58144376e-01, -2.86285442e-01,
        9.74888185e-01, -2.22694919e-01},
       {2.30956395e-04, 9.99999973e-01, 2.22794770e-04, 9.99999975e-01, 2.14921564e-04, 9.99999977e-01, 2.07326584e-04,
        9.99999979e-01},
       0.7225200832},
      {"interleaved",
       10,
       {-5.44021111e-01, -8.39071529e-01, -2.20023185e-01, -9.75494643e-01, 1.18776483e-01, -9.92921018e-01,
        4.33079619e-01, -9.01355670e-01},
       {1.15478173e-03, 9.99999333e-01, 1.11397363e-03, 9.99999380e-01, 1.07460762e-03, 9.99999423e-01, 1.03663274e-03,
        9.99999463e-01},
       0.7225200832},
      {"doubled",
       2,
       {9.09297427e-01, -4.16146837e-01, 9.58144376e-01, -2.86285442e-01, 9.87046251e-01, -1.60435961e-01,
        9.99164200e-01, -4.08766567e-02},
       {2.66704286e-08, 1, 2.48187552e-08, 1, 2.30956397e-08, 1, 2.14921566e-08, 1},
       0.8600013331},
      {"doubled",
       10,
       {-5.44021111e-01, -8.39071529e-01, 1.18776483e-01, -9.92921018e-01, 6.92634182e-01, -7.21289047e-01,
        9.79174779e-01, -2.03019092e-01},
       {1.33352143e-07, 1, 1.24093776e-07, 1, 1.15478198e-07, 1, 1.07460783e-07, 1},
       0.8600013331},
  };
  for (const auto& c : cases) {
    const auto table = sinusoid_table(0, 11, 512, Choice<Sinusoid>(c.name));
    expect_close(table[c.position].narrow(0, 0, 8), torch::tensor(c.start), 6e-8, c.name);
    const auto end = table[c.position].narrow(0, 504, 8);
    const auto expected = torch::tensor(c.end, torch::kFloat64);
    expect_close(end / expected, torch::ones(8), 2e-7, c.name);
    const auto a = table[2].to(torch::kFloat64), b = table[10].to(torch::kFloat64);
    EXPECT_NEAR((a.dot(b) / (a.norm() * b.norm())).item<double>(), c.cosine, 1e-7) << c.name;
  }
}

TEST(Sinusoid, RowsGrowBothWays) {
  SinusoidRows sinusoids(6, Sinusoid::kInterleaved);
  for (const int64_t first : {0, 3, 700, -5, -300, 2})
    EXPECT_TRUE(sinusoids.rows(first, 9).equal(sinusoid_table(first, 9, 6, Sinusoid::kInterleaved))) << first;
  EXPECT_TRUE(sinusoids.rows(0, 1).equal(torch::tensor({{0.f, 1.f, 0.f, 1.f, 0.f, 1.f}})));
}

PositionOptions small(const std::string& kind) {
  return {.kind = kind, .model = 6, .heads = 3, .max_positions = 12, .max_distance = 3, .buckets = 6};
}

std::shared_ptr<Positions> with_weights(const std::string& kind) {
  auto made = make_positions(small(kind));
  const torch::NoGradGuard no_grad;
  for (auto& parameter : made->parameters()) parameter.copy_(wave(parameter.sizes(), 0.7, 0.3));
  return made;
}

torch::Tensor placed(Positions& positions, const torch::Tensor& x) { return positions.forward(x, {}).detach(); }

class AbsolutePositions : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kinds, AbsolutePositions,
                         testing::Values("sinusoidal", "learned", "hierarchical", "product", "recurrent"),
                         [](const auto& info) { return info.param; });

TEST_P(AbsolutePositions, TellTheOrderOfWords) {
  const auto positions = with_weights(GetParam());
  const auto x = wave({1, 5, 6});
  const auto straight = placed(*positions, x), reversed = placed(*positions, x.flip(1)).flip(1);
  EXPECT_GT((straight - reversed).abs().max().item<double>(), 0.05);
}

TEST_P(AbsolutePositions, GiveStepByStepWhatTheyGiveAtOnce) {
  const torch::NoGradGuard no_grad;
  const auto positions = with_weights(GetParam());
  const auto x = wave({3, 7, 6});
  const auto expected = placed(*positions, x);
  const auto cache = positions->start({});
  // The rows change places on the way, as those of a search do: a row follows what it has seen.
  auto rows = torch::arange(3, torch::kInt64);
  for (int64_t t = 0; t < 7; ++t) {
    expect_close(positions->step(x.narrow(1, t, 1).index_select(0, rows), t, cache.get()),
                 expected.narrow(1, t, 1).index_select(0, rows), 1e-6);
    const auto selection = torch::tensor({2, 0, 1, 2}, torch::kInt64);
    rows = rows.index_select(0, selection);
    if (cache) cache->select(selection);
  }
}

TEST_P(AbsolutePositions, TakeSeveralTokensOfRowsAtDifferentPositions) {
  const torch::NoGradGuard no_grad;
  const auto positions = with_weights(GetParam());
  const auto x = wave({2, 7, 6});
  const auto expected = placed(*positions, x);
  const auto cache = positions->start({}), joining = positions->start({});
  positions->step(x.narrow(0, 0, 1).narrow(1, 0, 3), 0, cache.get());
  positions->step(x.narrow(0, 1, 1).narrow(1, 0, 1), 0, joining.get());
  if (cache) cache->join(*joining, 1, 1);
  const auto next = torch::cat({x.narrow(0, 0, 1).narrow(1, 3, 4), x.narrow(0, 1, 1).narrow(1, 1, 4)});
  const auto found = positions->step(next, RowPositions(std::vector<int64_t>{3, 1}), cache.get());
  expect_close(found[0], expected[0].narrow(0, 3, 4), 1e-6);
  expect_close(found[1], expected[1].narrow(0, 1, 4), 1e-6);
}

TEST_P(AbsolutePositions, LeavePaddingAsItIsWhereAsked) {
  const auto positions = with_weights(GetParam());
  const auto x = wave({2, 6, 6});
  const auto is_real = torch::tensor({{1, 1, 1, 1, 1, 1}, {1, 1, 0, 0, 0, 0}}).to(torch::kBool).unsqueeze(-1);
  const auto masked = positions->forward(x, is_real).detach(), all = placed(*positions, x);
  EXPECT_TRUE(masked[1].narrow(0, 2, 4).equal(x[1].narrow(0, 2, 4)));
  EXPECT_FALSE(all[1].narrow(0, 2, 4).equal(x[1].narrow(0, 2, 4)));
  EXPECT_TRUE(masked[0].equal(all[0]));
  EXPECT_TRUE(masked[1].narrow(0, 0, 2).equal(all[1].narrow(0, 0, 2)));
}

TEST_P(AbsolutePositions, HaveTheGradientOfTheirFunction) {
  const auto positions = with_weights(GetParam());
  const auto mix = wave({2, 5, 6}, 1, 2), at = wave({2, 5, 6});
  const auto loss = [&](const torch::Tensor& x) { return (positions->forward(x, {}) * mix).sum(); };
  test::expect_gradient(loss, at, 1e-2, 5e-3, 3);
  positions->zero_grad();
  loss(at.clone().requires_grad_(true)).backward();
  for (auto& item : positions->named_parameters()) {
    const auto gradient = item.value().grad().clone();
    const auto direction = wave(item.value().sizes(), 1, 5);
    const torch::NoGradGuard no_grad;
    const auto moved = [&](double step) {
      item.value().add_(direction, step);
      const double value = loss(at).item<double>();
      item.value().sub_(direction, step);
      return value;
    };
    const double expected = (moved(5e-3) - moved(-5e-3)) / 1e-2;
    EXPECT_NEAR((gradient * direction).sum().item<double>(), expected, 1e-2 * std::max(1.0, std::abs(expected)))
        << item.key();
  }
}

TEST(LearnedPositions, RefuseMoreThanTheyHave) {
  const auto x = wave({1, 13, 6});
  for (const char* kind : {"learned", "product"}) {
    const auto positions = with_weights(kind);
    EXPECT_EQ(placed(*positions, x.narrow(1, 0, 12)).size(1), 12);
    const auto expected =
        "model.max_positions: a sentence of 13 tokens does not fit the 12 learned positions; raise it or shorten the "
        "input (data.maxlen1, data.maxlen2)";
    EXPECT_EQ(test::message_of<Error>([&] { placed(*positions, x); }), expected);
    EXPECT_EQ(test::message_of<Error>([&] { positions->step(x.narrow(1, 0, 1), 12, nullptr); }), expected);
  }
}

TEST(HierarchicalPositions, StretchTheTableToItsSquare) {
  const auto positions = with_weights("hierarchical"), learned = with_weights("learned");
  const auto table = learned->parameters()[0].detach();  // the same formula: [12, 6]
  const auto rows = placed(*positions, torch::zeros({1, 144, 6}))[0];
  expect_close(rows.narrow(0, 0, 12), table, 1e-6);  // the first are the trained ones
  const auto base = [&](int64_t i) { return (table[i] - 0.4 * table[0]) / 0.6; };
  expect_close(rows[5 * 12 + 7], 0.4 * base(5) + 0.6 * base(7), 1e-6);
  expect_close(rows[143], 0.4 * base(11) + 0.6 * base(11), 1e-6);
  EXPECT_THAT(test::message_of<Error>([&] {
                placed(*positions, torch::zeros({1, 145, 6}));
              }),
              testing::HasSubstr("a sentence of 145 tokens does not fit the 144 hierarchical positions"));
}

TEST(ProductPositions, ScaleFeatureByFeature) {
  const auto positions = with_weights("product");
  const auto x = wave({2, 4, 6});
  expect_close(placed(*positions, x), x * (1 + positions->parameters()[0].detach().narrow(0, 0, 4)), 1e-6);
}

TEST(RecurrentPositions, AreAGatedRecurrentUnit) {
  const auto positions = with_weights("recurrent");
  const auto parameters = positions->named_parameters();
  // PyTorch's has the gates in another order: reset, update, new.
  const auto reorder = [](const torch::Tensor& x) {
    const auto parts = x.detach().chunk(3, 0);
    return torch::cat({parts[1], parts[0], parts[2]});
  };
  const auto x = wave({2, 5, 6});
  const auto expected = std::get<0>(
      torch::gru(x, torch::zeros({1, 2, 6}),
                 {reorder(parameters["input.weight"]), reorder(parameters["hidden.weight"]),
                  reorder(parameters["input.bias"]), torch::zeros({18})},
                 /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0, /*train=*/false, /*bidirectional=*/false,
                 /*batch_first=*/true));
  expect_close(placed(*positions, x), expected, 1e-5);
}

TEST(Positions, AreAbsoluteOrRelativeByTheirKind) {
  for (const char* kind : {"sinusoidal", "learned", "hierarchical", "product", "recurrent"}) {
    EXPECT_NE(make_positions(small(kind)), nullptr) << kind;
    EXPECT_EQ(make_relative_positions(small(kind)), nullptr) << kind;
  }
  for (const char* kind : {"shaw", "t5", "transformer_xl", "deberta", "rotary", "alibi"}) {
    EXPECT_EQ(make_positions(small(kind)), nullptr) << kind;
    EXPECT_NE(make_relative_positions(small(kind)), nullptr) << kind;
  }
  EXPECT_EQ(make_positions(small("none")), nullptr);
  EXPECT_EQ(make_relative_positions(small("none")), nullptr);
}

}  // namespace
}  // namespace nmt::positions_test
