#include "config/suggestion.h"

#include "support.h"

namespace nmt::suggestion_test {
namespace {

struct Case {
  const char *section, *name, *nearest;
};

TEST(SuggestOption, NamesTheNearestKey) {
  const Case cases[] = {
      {"training", "lrr", "training.lr"},
      {"training", "Lr", "training.lr"},
      {"training", "warmup_step", "training.warmup_steps"},
      {"training", "wramup_steps", "training.warmup_steps"},
      {"training", "num-epochs", "training.num_epochs"},
      {"training", "smothing", "training.smoothing"},
      {"model", "num_head", "model.num_heads"},
      {"model", "dmodel", "model.d_model"},
      {"model", "attention_dropout", "model.attention_dropout_rate"},
      {"model", "vocab_size", "data.vocab_size"},
      {"training", "d_model", "model.d_model"},
      {"", "d_modle", "model.d_model"},
      {"", "patience", "validation.patience"},
      // of two of one name that of the own section, else the first
      {"validation", "beamsize", "validation.beam_size"},
      {"decoding", "beamsize", "decoding.beam_size"},
      // what other toolkits call it
      {"training", "learning_rate", "training.lr"},
      {"training", "max_epochs", "training.num_epochs"},
      {"training", "label_smoothing", "training.smoothing"},
      {"model", "layers", "model.num_blocks"},
      {"training", "seed", "run.seed"},
  };
  for (const auto& [section, name, nearest] : cases) {
    EXPECT_EQ(suggest_option(section, name), std::string("; did you mean ") + nearest + "?") << section << "." << name;
  }
}

TEST(SuggestOption, SaysWhereToLookWhenNothingIsNear) {
  for (const auto& name : {std::string("qqqqqqq"), std::string("x"), std::string(), std::string(100000, 'l')}) {
    EXPECT_EQ(suggest_option("training", name), "; docs/options.md and --print-config have every option")
        << name.substr(0, 20);
  }
}

TEST(SuggestSection, NamesTheNearestOrAll) {
  EXPECT_EQ(suggest_section("trainng"), "; did you mean training?");
  EXPECT_EQ(suggest_section("Model"), "; did you mean model?");
  EXPECT_EQ(suggest_section("valid"), "; did you mean validation?");
  EXPECT_EQ(suggest_section("optimizer"),
            "; the sections are data, model, training, validation, decoding, evaluation, run");
}

}  // namespace
}  // namespace nmt::suggestion_test
