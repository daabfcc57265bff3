#include <gtest/gtest.h>

#include <map>

#include "convert/plain/model_weights.h"
#include "convert/plain/plain_model.h"
#include "models/formula_weights.h"
#include "models/model_directory.h"
#include "models/transformer/transformer_forms.h"

namespace nmt::names_test {
namespace {

std::map<std::string, convert::Shape> parameters_of(const TranslationModel& model) {
  std::map<std::string, convert::Shape> shapes;
  for (const auto& parameter : model.named_parameters()) shapes[parameter.key()] = parameter.value().sizes().vec();
  return shapes;
}

// nmt-export knows the weights of a Transformer without LibTorch: by a list of its own, which must be the model's.
TEST(TransformerWeights, AreTheParametersOfTheModel) {
  auto forms = test::transformer_forms();
  forms["grouped_gated"] = test::model_config(
      "d_model: 24, d_ff: 24, num_blocks: 1, num_heads: 6, key_value_heads: 2, "
      "norm: pre, norm_form: rms, activation: swiglu, tie_embeddings: target");
  forms["no_bias"] = test::model_config(
      "d_model: 16, d_ff: 24, encoder_blocks: 2, decoder_blocks: 1, num_heads: 2, "
      "attention_bias: false, positions: none, tie_embeddings: none");
  int compared = 0;
  for (const auto& [name, config] : forms) {
    const bool is_t5 = config.positions == PositionKind::kT5;
    if (!is_t5 && !convert::plain_transformer_obstacle(config).empty()) continue;
    const int64_t target = config.tie_embeddings == TiedEmbeddings::kAll ? 11 : 13;
    EXPECT_EQ(convert::transformer_weights(config, 11, target), parameters_of(*make_model(config, 11, target))) << name;
    ++compared;
  }
  EXPECT_GE(compared, 7) << "forms that nmt-export takes";
}

}  // namespace
}  // namespace nmt::names_test
