// Logits and loss against the independent program in golden/make_golden.py; its three updates are compared in
// tests/training/golden_updates_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "models/golden/golden_case.h"
#include "models/interface/model.h"
#include "nn/ops/cross_entropy.h"

namespace nmt::golden_test {
namespace {

using test::expect_close;
using test::GoldenCase;

class GoldenModel : public testing::TestWithParam<const char*> {
 protected:
  Smoothing smoothing() const {
    const auto& training = golden_.config.training;
    return {training.smoothing, training.smoothing_form};
  }

  GoldenCase golden_{GetParam()};
};

TEST_P(GoldenModel, HasTheParametersAndInitialWeightsOfTheProgram) {
  const auto model = golden_.model(torch::kCPU);
  const auto& expected = golden_.json["initial_weights"];
  const auto parameters = model->named_parameters();
  ASSERT_EQ(parameters.size(), expected.size());
  for (const auto& item : parameters) {
    ASSERT_TRUE(expected.contains(item.key())) << item.key();
    const auto first = torch::tensor(expected[item.key()].get<std::vector<double>>(), torch::kFloat64);
    expect_close(item.value().detach().flatten().narrow(0, 0, 2).to(torch::kFloat64), first, 1e-7, item.key());
  }
}

// Float32 against double: logits are sums of some ten products of size one through four blocks.
TEST_P(GoldenModel, GivesTheLogitsAndLossOfTheProgram) {
  for (const auto device : test::devices()) {
    const auto model = golden_.model(device);
    const auto batch = to_tensors(golden_.batch(1), device);
    const torch::NoGradGuard no_grad;
    ForwardContext no_dropout;
    const auto hidden = model->forward(batch, no_dropout).flatten(0, 1);
    const auto labels = batch.target_out.flatten();
    const auto real = labels.nonzero().squeeze(-1);
    const auto rows = hidden.index_select(0, real);

    const auto expected = torch::tensor(golden_.update(1)["logits"].get<std::vector<double>>(), torch::kFloat64);
    expect_close(model->logits(rows).flatten().cpu().to(torch::kFloat64), expected, 1e-5, device.str());

    const auto sums = output_cross_entropy(rows, model->output_weight(), model->output_bias(),
                                           labels.index_select(0, real), smoothing());
    const double loss = golden_.update(1)["loss"];
    EXPECT_NEAR(sums.loss.item<double>(), loss, 1e-6 * loss) << device;
  }
}

std::filesystem::path preset_of(const std::string& name) {
  const std::map<std::string, std::string> others = {{"kyubyong2019", "kyubyong2019_iwslt16"},
                                                     {"kyubyong2017", "kyubyong2017_iwslt16"},
                                                     {"vaswani2017", "vaswani_base"}};
  const auto other = others.find(name);
  return test::source_directory() / "configs" / ((other == others.end() ? name : other->second) + ".yaml");
}

std::vector<const char*> cases_of_presets() {
  std::vector<const char*> names;
  for (const char* name : test::kGoldenCases)
    if (std::filesystem::exists(preset_of(name))) names.push_back(name);
  return names;
}

class GoldenPreset : public GoldenModel {};

// A case of a preset has its choices; sizes, dropout and rates are its own.
TEST_P(GoldenPreset, HasItsChoices) {
  const auto preset = preset_of(GetParam());
  const std::set<std::string> sizes = {"model.d_model",        "model.d_ff",           "model.num_heads",
                                       "model.num_blocks",     "model.encoder_blocks", "model.decoder_blocks",
                                       "model.embedding_size", "model.encoder_size",   "model.attention_size",
                                       "model.readout_size",   "model.local_window",   "model.max_positions"};
  const std::set<std::string> of_training = {
      "training.smoothing",    "training.smoothing_form",   "training.schedule",     "training.adam_beta1",
      "training.adam_beta2",   "training.adam_epsilon",     "training.optimizer",    "training.adadelta_rho",
      "training.sgd_momentum", "training.adadelta_epsilon", "training.weight_decay", "training.clip_norm",
      "training.loss_mean"};
  for (const auto& difference : differences(load_config(preset).config, golden_.config))
    EXPECT_TRUE((!difference.key.starts_with("model.") && !of_training.contains(difference.key)) ||
                sizes.contains(difference.key) || difference.key.ends_with("dropout_rate") ||
                difference.key.ends_with("init") || difference.key.starts_with("model.init_"))
        << difference.key << " is " << difference.after << " here, " << difference.before << " in the preset";
}

INSTANTIATE_TEST_SUITE_P(Programs, GoldenModel, testing::ValuesIn(test::kGoldenCases),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Presets, GoldenPreset, testing::ValuesIn(cases_of_presets()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace nmt::golden_test
