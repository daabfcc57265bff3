#include "training/optimizers/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "support.h"

namespace nmt::schedule_test {
namespace {

struct Value {
  int64_t update;
  double rate;
};

void expect_rates(const TrainingConfig& config, int64_t d_model, std::initializer_list<Value> values) {
  const auto schedule = make_schedule(config, d_model);
  for (const auto& [update, rate] : values)
    EXPECT_NEAR(schedule({.update = update}) / rate, 1, 1e-8) << "update " << update;
}

// Kyubyong's lr0 W^0.5 min(s W^-1.5, s^-0.5) at lr0 = 0.0003, W = 4000: the width plays no part.
TEST(LearningRate, HasKyubyongsValues) {
  const TrainingConfig config{.lr = 0.0003, .schedule = ScheduleKind::kInverseSqrt, .warmup_steps = 4000};
  for (const int64_t d_model : {128, 512})
    expect_rates(config, d_model,
                 {{1, 7.5e-08},
                  {100, 7.5e-06},
                  {2000, 1.5e-04},
                  {4000, 3e-04},
                  {8000, 2.121320344e-04},
                  {10000, 1.897366596e-04},
                  {29146, 1.111377932e-04},
                  {30680, 1.083237223e-04}});
}

// d^-0.5 min(s^-0.5, s W^-1.5), W = 4000.
TEST(LearningRate, HasThePapersValues) {
  const TrainingConfig config{.lr = 1, .schedule = ScheduleKind::kNoam, .warmup_steps = 4000};
  expect_rates(config, 512,
               {{1, 1.746928107e-07}, {4000, 6.987712430e-04}, {8000, 4.941058844e-04}, {100000, 1.397542486e-04}});
  expect_rates(config, 1024, {{4000, 4.941058844e-04}, {300000, 5.705443309e-05}});
  const TrainingConfig doubled{.lr = 2, .schedule = ScheduleKind::kNoam, .warmup_steps = 4000};
  expect_rates(doubled, 512, {{4000, 2 * 6.987712430e-04}});
}

TEST(LearningRate, StaysConstantAfterWarmUp) {
  const TrainingConfig config{.lr = 0.01, .schedule = ScheduleKind::kConstant, .warmup_steps = 4};
  expect_rates(config, 512, {{1, 0.0025}, {2, 0.005}, {4, 0.01}, {5, 0.01}, {1000000, 0.01}});
}

TEST(LearningRate, WithoutWarmUpStartsAtTheTop) {
  expect_rates({.lr = 0.01, .schedule = ScheduleKind::kConstant, .warmup_steps = 0}, 512, {{1, 0.01}, {100, 0.01}});
  expect_rates({.lr = 0.01, .schedule = ScheduleKind::kInverseSqrt, .warmup_steps = 0}, 512,
               {{1, 0.01}, {4, 0.005}, {100, 0.001}});
  expect_rates({.lr = 1, .schedule = ScheduleKind::kNoam, .warmup_steps = 0}, 16, {{1, 0.25}, {4, 0.125}});
}

// Computed by hand, with lr 0.01, warm-up 4, and from there to 0.002 at update 12: update 6 is a quarter of the way.
TEST(LearningRate, FallsToItsEnd) {
  TrainingConfig config{.lr = 0.01, .warmup_steps = 4};
  config.decay_updates = 12;
  config.final_lr = 0.002;
  config.schedule = ScheduleKind::kLinear;
  expect_rates(config, 512, {{1, 0.0025}, {4, 0.01}, {6, 0.008}, {8, 0.006}, {12, 0.002}, {1000, 0.002}});
  config.schedule = ScheduleKind::kCosine;
  expect_rates(config, 512, {{2, 0.005}, {4, 0.01}, {6, 0.00882842712475}, {8, 0.006}, {12, 0.002}, {50, 0.002}});
  config.schedule = ScheduleKind::kPolynomial;
  config.polynomial_power = 3;
  expect_rates(config, 512, {{3, 0.0075}, {4, 0.01}, {6, 0.005375}, {8, 0.003}, {12, 0.002}, {13, 0.002}});
}

TEST(LearningRate, FallsOnAPlateau) {
  TrainingConfig config{.lr = 0.01, .warmup_steps = 4};
  config.schedule = ScheduleKind::kPlateau;
  config.plateau_factor = 0.5;
  config.plateau_patience = 2;
  config.final_lr = 0.002;
  const auto schedule = make_schedule(config, 512);
  Plateau plateau;
  const auto rate_after = [&](bool new_best) {
    plateau.add(new_best, config);
    return schedule({.update = 100, .plateau = plateau});
  };
  const std::pair<bool, double> steps[] = {{true, 0.01},    {false, 0.01},  {true, 0.01},    {false, 0.01},
                                           {false, 0.005},  {false, 0.005}, {false, 0.0025}, {true, 0.0025},
                                           {false, 0.0025}, {false, 0.002}, {false, 0.002}};
  for (const auto& [new_best, rate] : steps) EXPECT_DOUBLE_EQ(rate_after(new_best), rate);
  EXPECT_DOUBLE_EQ(schedule({.update = 2}), 0.005) << "warm-up";
}

// Luong et al. 2015: rate 1, halved after 8 epochs and after each one then.
TEST(LearningRate, IsHalvedAfterEpochs) {
  TrainingConfig config{.lr = 1, .schedule = ScheduleKind::kHalving, .warmup_steps = 0};
  config.halving_start = 8;
  config.halving_every = 1;
  const auto rate = [&](double epochs) { return make_schedule(config, 512)({.update = 1000, .epochs = epochs}); };
  EXPECT_EQ(rate(0), 1);
  EXPECT_EQ(rate(7.999), 1);
  EXPECT_EQ(rate(8), 0.5);
  EXPECT_EQ(rate(8.999), 0.5);
  EXPECT_EQ(rate(9), 0.25);
  EXPECT_EQ(rate(11.5), 0.0625);
  // Sutskever et al. 2014: 0.7, halved after 5 epochs and every half epoch then.
  config.lr = 0.7;
  config.halving_start = 5;
  config.halving_every = 0.5;
  EXPECT_EQ(rate(4.9), 0.7);
  EXPECT_EQ(rate(5.2), 0.35);
  EXPECT_EQ(rate(5.5), 0.175);
  EXPECT_EQ(rate(7.49), 0.7 / 32);
  config.warmup_steps = 10;
  EXPECT_DOUBLE_EQ(make_schedule(config, 512)({.update = 5, .epochs = 6}), 0.35) << "warm-up";
  config = {.lr = 1, .schedule = ScheduleKind::kHalving, .warmup_steps = 0};
  config.halving_start = 8;
  config.halving_every = 0.1;
  EXPECT_DOUBLE_EQ(rate(8.7), std::exp2(-8)) << "(8.7 - 8) / 0.1 is a little below 7";
}

TEST(BatchesOfUpdate, RiseToTheirNumber) {
  TrainingConfig config{.accumulate = 5};
  EXPECT_EQ(batches_of_update(config, 1), 5);
  config.accumulate_warmup = 8;
  std::vector<int64_t> found;
  for (int64_t update = 1; update <= 10; ++update) found.push_back(batches_of_update(config, update));
  EXPECT_EQ(found, (std::vector<int64_t>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
}

TEST(WarmupWarning, HasBothNumbersAndTheRemedy) {
  const TrainingConfig config{.warmup_steps = 600};
  EXPECT_EQ(
      warmup_warning(config, 180),
      "training.warmup_steps: 600, and about 180 updates are planned: the learning rate hardly leaves its warm-up, "
      "so the model learns little; set training.warmup_steps: 18, or more updates by a smaller training.batch_size "
      "or more training.num_epochs");
  EXPECT_NE(warmup_warning(config, 1799), std::nullopt);
  EXPECT_EQ(warmup_warning(config, 1800), std::nullopt);
  EXPECT_EQ(warmup_warning(config, 0), std::nullopt) << "not known";
  EXPECT_EQ(warmup_warning({.warmup_steps = 0}, 2), std::nullopt);
}

}  // namespace
}  // namespace nmt::schedule_test
