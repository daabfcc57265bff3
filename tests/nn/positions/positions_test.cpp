#include "nn/positions/positions.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::positions_test {
namespace {

using test::expect_close;
using test::wave;

// "product_plain" is a form of product.
PositionOptions small(const std::string& kind) {
  const bool plain = kind == "product_plain";
  return {.kind = plain ? "product" : kind,
          .model = 6,
          .heads = 3,
          .max_positions = 12,
          .max_distance = 3,
          .buckets = 6,
          .product_form = plain ? ProductForm::kPlain : ProductForm::kShifted,
          .convolution_width = 3};
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
                         testing::Values("sinusoidal", "learned", "hierarchical", "product", "product_plain",
                                         "recurrent", "convolution", "complex"),
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
  for (const char* kind : {"learned", "product", "product_plain"}) {
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
  const auto w = positions->parameters()[0].detach().narrow(0, 0, 4);
  expect_close(placed(*positions, x), x * (1 + w), 1e-6);
  const auto plain = with_weights("product_plain");
  EXPECT_TRUE(plain->parameters()[0].equal(positions->parameters()[0]));
  expect_close(placed(*plain, x), x * w, 1e-6);
}

TEST(ConvolutionPositions, AddWeightedWordsBefore) {
  const auto positions = with_weights("convolution");
  const auto kernel = positions->parameters()[0].detach();  // [3, 6]
  const auto x = wave({2, 5, 6});
  const auto found = placed(*positions, x);
  for (int64_t t = 0; t < 5; ++t) {
    auto expected = x.select(1, t).clone();
    for (int64_t j = 0; j <= std::min<int64_t>(t, 2); ++j) expected += kernel[j] * x.select(1, t - j);
    expect_close(found.select(1, t), expected, 1e-6);
  }
}

TEST(ComplexPositions, AreTheRealPartOfTurningAmplitudes) {
  const auto positions = with_weights("complex");
  const auto omega = positions->named_parameters()["frequencies"].detach()[0];
  const auto theta = positions->named_parameters()["phases"].detach()[0];
  const auto x = wave({2, 5, 6});
  const auto found = placed(*positions, x);
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t k = 0; k < 6; ++k) {
      const double angle = omega[k].item<double>() * static_cast<double>(t) + theta[k].item<double>();
      EXPECT_NEAR(found[1][t][k].item<double>(), x[1][t][k].item<double>() * std::cos(angle), 1e-6) << t << " " << k;
    }
  auto generator = at::detail::createCPUGenerator(7);
  InitialValues values;
  values.positions.kind = InitialDistribution::Kind::kNormal;  // with deviation 0
  positions->reset_parameters(values, generator);
  const auto start = positions->named_parameters()["frequencies"].detach()[0];
  for (int64_t k = 0; k < 6; ++k)
    EXPECT_NEAR(start[k].item<double>(), std::pow(10000.0, -static_cast<double>(k / 2) / 3), 1e-7) << k;
  EXPECT_EQ(positions->named_parameters()["phases"].abs().sum().item<double>(), 0);
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
  for (const char* kind : {"sinusoidal", "learned", "hierarchical", "product", "recurrent", "convolution", "complex"}) {
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
