#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "config/schema.h"
#include "support.h"

namespace nmt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config preset(const std::string& name) {
  return load_config(test::source_directory() / "configs" / (name + ".yaml")).config;
}

TEST(Presets, LoadWithoutNoticesAndReadBack) {
  int count = 0;
  std::set<std::string> runs;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    const LoadedConfig loaded = load_config(entry.path());
    EXPECT_THAT(loaded.notices, IsEmpty()) << entry.path();
    EXPECT_THAT(differences(loaded.config, parse_config(to_yaml(loaded.config), "again").config), IsEmpty());
    EXPECT_TRUE(runs.insert(loaded.config.run.dir).second) << loaded.config.run.dir << " is of two presets";
    EXPECT_EQ(loaded.config.run.dir, "runs/" + entry.path().stem().string());
  }
  EXPECT_GE(count, 6);
}

TEST(Presets, QuickstartReadsTheBuiltInCorpus) {
  const Config config = preset("quickstart");
  EXPECT_THAT(config.data.train1, ElementsAre("data/builtin/train.de"));
  EXPECT_EQ(config.data.test2, "data/builtin/test.en");
  EXPECT_EQ(config.training.batch_type, "tokens");
}

TEST(Presets, Kyubyong2019HasHisValues) {
  const Config config = preset("kyubyong2019_iwslt16");
  EXPECT_EQ(config.data.vocab_size, 32000);
  EXPECT_EQ(config.data.spm_sentences, 0);
  EXPECT_EQ(config.data.maxlen1, 100);
  EXPECT_FALSE(config.data.drop_empty);
  EXPECT_EQ(config.model.d_model, 512);
  EXPECT_EQ(config.model.d_ff, 2048);
  EXPECT_EQ(config.model.num_blocks, 6);
  EXPECT_EQ(config.model.num_heads, 8);
  EXPECT_EQ(config.model.dropout_rate, 0.3);
  EXPECT_EQ(config.model.residual_dropout_rate, 0.0);
  EXPECT_EQ(config.model.ffn_dropout_rate, 0.0);
  EXPECT_EQ(config.model.norm, "post");
  EXPECT_EQ(config.model.norm_epsilon, 1e-8);
  EXPECT_EQ(config.model.sinusoid, "interleaved");
  EXPECT_TRUE(config.model.mask_padding_positions);
  EXPECT_FALSE(config.model.attention_output_projection);
  EXPECT_FALSE(config.model.output_bias);
  EXPECT_EQ(config.model.tie_embeddings, "all");
  EXPECT_EQ(config.training.batch_type, "sentences");
  EXPECT_EQ(config.training.batch_size, 128);
  EXPECT_EQ(config.training.num_epochs, 20);
  EXPECT_EQ(config.training.lr, 0.0003);
  EXPECT_EQ(config.training.schedule, "inverse_sqrt");
  EXPECT_EQ(config.training.warmup_steps, 4000);
  EXPECT_EQ(config.training.adam_beta2, 0.999);
  EXPECT_EQ(config.training.adam_epsilon, 1e-8);
  EXPECT_EQ(config.training.smoothing, 0.1);
  EXPECT_EQ(config.training.clip_norm, 0);
  EXPECT_EQ(config.decoding.beam_size, 1);
  EXPECT_EQ(config.decoding.max_length_ratio, 0);
  EXPECT_EQ(config.decoding.max_length_offset, 100);
}

TEST(Presets, VaswaniBigIsBaseButForItsSize) {
  std::vector<std::string> keys;
  for (const auto& difference : differences(preset("vaswani_base"), preset("vaswani_big"))) {
    keys.push_back(difference.key);
  }
  EXPECT_THAT(keys, ElementsAre("model.d_model", "model.d_ff", "model.num_heads", "model.dropout_rate",
                                "training.max_updates", "training.average_checkpoints", "validation.every", "run.dir"));
  const Config base = preset("vaswani_base");
  EXPECT_EQ(base.data.source_language, "en");
  EXPECT_EQ(base.training.schedule, "noam");
  EXPECT_EQ(base.training.lr, 1);
  EXPECT_EQ(base.training.adam_beta2, 0.98);
  EXPECT_EQ(base.training.adam_epsilon, 1e-9);
  EXPECT_EQ(base.decoding.length_penalty, 0.6);
}

}  // namespace
}  // namespace nmt
