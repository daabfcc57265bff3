// A validation whose sentences are longer than all that were trained on, between two updates: whatever a layer keeps
// for later (tables of positions, masks, packed weights) must serve a backward pass, too.
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "config/option_table.h"
#include "config/value.h"
#include "models/formula_weights.h"
#include "models/loss.h"
#include "models/model_directory.h"
#include "models/tiny_batch.h"
#include "search/list_search.h"
#include "text/tokenizer.h"
#include "training/optimizers/optimizer.h"
#include "training/trained_update.h"

namespace nmt::longer_validation_test {
namespace {

using test::batch_of;
using test::Pair;

constexpr int64_t kVocabulary = 24;
constexpr int64_t kSmall = 5, kLong = 300;  // the tables of sinusoids begin with 256 rows

Pair pair_of(int64_t length) {
  Pair pair;
  for (int64_t i = 0; i < length; ++i) {
    pair.first.push_back(4 + i * 7 % (kVocabulary - 4));
    pair.second.push_back(4 + i * 11 % (kVocabulary - 4));
  }
  return pair;
}

std::vector<std::string> names_of(const char* option) {
  const auto choices = choices_of(*find_option("model", option));
  return {choices.begin(), choices.end()};
}

// Every kind of positions, score and mixer that the table of options has; the recurrent architecture with each cell.
std::vector<std::string> all_forms() {
  std::vector<std::string> forms;
  const std::string transformer = "num_blocks: 2, d_ff: 24, num_heads: 2, max_positions: 400, ";
  for (const auto& kind : names_of("positions")) forms.push_back(transformer + "positions: " + kind);
  for (const auto& kind : names_of("sinusoid")) forms.push_back(transformer + "sinusoid: " + kind);
  for (const auto& kind : names_of("decoder_mixer")) forms.push_back(transformer + "decoder_mixer: " + kind);
  for (const auto& kind : names_of("attention_score")) {
    const std::string score = ", max_positions: 400, tie_embeddings: none, attention_score: " + kind;
    forms.push_back("architecture: recurrent, num_blocks: 1, encoder_size: 8" + score);
    if (kind != "location" && kind != "local" && kind != "none")
      forms.push_back(transformer + "attention_score: " + kind);
  }
  for (const auto& cell : names_of("cell"))
    forms.push_back("architecture: recurrent, num_blocks: 1, encoder_size: 8, tie_embeddings: none, cell: " + cell);
  return forms;
}

class LongerValidation : public testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, LongerValidation, testing::Values(torch::kFloat32, torch::kBFloat16),
                         [](const auto& info) { return std::string(c10::toString(info.param)); });

TEST_P(LongerValidation, LeavesNothingThatAnUpdateCannotUse) {
  for (const auto& form : all_forms()) {
    SCOPED_TRACE(form);
    if (std::getenv("NMT_SHOW_FORMS")) std::cerr << form << std::endl;
    const auto model =
        test::formula_model(test::model_config("d_model: 16, dropout_rate: 0, " + form), kVocabulary, kVocabulary);
    model->set_compute_type(GetParam());
    Adam adam(named_parameters(*model), {});
    const TrainingConfig config;
    const auto update = [&](int64_t length) {
      model->train();
      const auto stats = test::update({*model, adam}, {batch_of({pair_of(length)})}, config, 1e-4);
      EXPECT_FALSE(stats.skipped);
    };
    try {
      update(kSmall);
      model->eval();
      const std::vector<Batch> validation = {batch_of({pair_of(kLong)})};
      evaluate(*model, validation, {}, torch::kCPU);
      {
        const c10::NoGradGuard no_gradients;
        model->set_compute_type(torch::kFloat32);  // as validation translates
        SearchOptions greedy;
        greedy.beam_size = 1;
        greedy.max_length = kLong + 20;
        greedy.min_length = kLong + 10;
        std::vector<int32_t> source;
        for (const auto id : pair_of(kLong + 10).first) source.push_back(static_cast<int32_t>(id));
        source.push_back(SpecialIds::kEnd);
        search(*model, {source}, greedy);
        model->set_compute_type(GetParam());
      }
      update(kSmall);      // from the tables that the validation made
      update(kLong + 15);  // and beyond
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace nmt::longer_validation_test
