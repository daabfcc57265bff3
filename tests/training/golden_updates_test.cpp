// Three updates against the independent program in tests/models/golden/make_golden.py.
#include <gtest/gtest.h>

#include "models/golden/golden_case.h"
#include "models/model_directory.h"
#include "training/optimizers/optimizer.h"
#include "training/optimizers/schedule.h"
#include "training/trained_update.h"

namespace nmt::golden_updates_test {
namespace {

using test::GoldenCase;

class GoldenUpdates : public testing::TestWithParam<const char*> {};

// Keys' biases have no gradient in theory: softmax does not see what is added to all scores of a row. What rounding
// leaves, about 1e-9, Adam divides by its own size, so their weights are the sign of noise; no output depends on them.
NamedTensors without_key_biases(const NamedTensors& tensors) {
  NamedTensors kept;
  for (const auto& item : tensors)
    if (!item.first.ends_with("key.bias")) kept.push_back(item);
  return kept;
}

nlohmann::json without_key_biases(nlohmann::json tensors) {
  for (auto item = tensors.begin(); item != tensors.end();)
    item = item.key().ends_with("key.bias") ? tensors.erase(item) : std::next(item);
  return tensors;
}

NamedTensors gradients_of(const NamedTensors& parameters) {
  NamedTensors gradients;
  for (const auto& [name, parameter] : parameters) gradients.emplace_back(name, parameter.grad());
  return gradients;
}

TEST_P(GoldenUpdates, GiveTheLossGradientsAndWeightsOfTheProgram) {
  const GoldenCase golden(GetParam());
  const auto& training = golden.config.training;
  for (const auto device : test::devices()) {
    const auto model = golden.model(device);
    const auto parameters = named_parameters(*model);
    const auto optimizer = make_optimizer(training, parameters);
    for (const int64_t number : {1, 2, 3}) {
      const auto& expected = golden.update(number);
      const std::string what = device.str() + ", update " + std::to_string(number);
      const double rate = make_schedule(training, golden.config.model.d_model)({.update = number});
      EXPECT_NEAR(rate, expected["learning_rate"].get<double>(), 1e-9 * rate) << what;
      const auto stats = test::update({*model, *optimizer, device}, {golden.batch(number)}, training, rate,
                                      {.seed = 1, .update = number});
      EXPECT_NEAR(stats.loss, expected["loss"].get<double>(), 1e-5 * stats.loss) << what;
      EXPECT_NEAR(stats.gradient_norm, expected["gradient_norm"].get<double>(), 1e-5 * stats.gradient_norm) << what;
      // Gradients are below one here, sums of some hundred products in float32.
      if (number == 1)
        golden.expect_tensors(expected["gradients"], gradients_of(parameters), 1e-6, what + ", gradient of");
    }
    // An element moves by about the learning rate, 0.01, an update, however small its gradient: what float32 leaves of
    // an exact gradient of 1e-5 is off by a thousandth, and so is its step.
    golden.expect_tensors(without_key_biases(golden.json["weights"]), without_key_biases(parameters), 2e-5,
                          device.str() + ", weight");
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, GoldenUpdates, testing::ValuesIn(test::kGoldenCases),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace nmt::golden_updates_test
