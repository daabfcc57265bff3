#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "support.h"

namespace nmt::presets_test {
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
    const auto name = entry.path().stem().string();
    const std::map<std::string, std::string> of_originals{{"kyubyong2019_iwslt16", "log/1"},
                                                          {"kyubyong2017_iwslt16", "logdir"}};
    const auto found = of_originals.find(name);
    EXPECT_EQ(loaded.config.run.dir, found == of_originals.end() ? "runs/" + name : found->second);
  }
  EXPECT_GE(count, 6);
}

TEST(Presets, QuickstartReadsTheBuiltInCorpus) {
  const Config config = preset("quickstart");
  EXPECT_THAT(config.data.train1, ElementsAre("data/builtin/train.de"));
  EXPECT_EQ(config.data.test2, "data/builtin/test.en");
  EXPECT_EQ(config.training.batch_type.name(), "tokens");
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
  EXPECT_EQ(config.model.norm.name(), "post");
  EXPECT_EQ(config.model.norm_epsilon, 1e-8);
  EXPECT_EQ(config.model.sinusoid.name(), "interleaved");
  EXPECT_TRUE(config.model.mask_padding_positions);
  EXPECT_FALSE(config.model.attention_output_projection);
  EXPECT_FALSE(config.model.output_bias);
  EXPECT_EQ(config.model.tie_embeddings.name(), "all");
  EXPECT_EQ(config.training.batch_type.name(), "sentences");
  EXPECT_EQ(config.training.batch_size, 128);
  EXPECT_EQ(config.training.num_epochs, 20);
  EXPECT_EQ(config.training.lr, 0.0003);
  EXPECT_EQ(config.training.schedule.name(), "inverse_sqrt");
  EXPECT_EQ(config.training.warmup_steps, 4000);
  EXPECT_EQ(config.training.adam_beta2, 0.999);
  EXPECT_EQ(config.training.adam_epsilon, 1e-8);
  EXPECT_EQ(config.training.smoothing, 0.1);
  EXPECT_EQ(config.training.clip_norm, 0);
  EXPECT_EQ(config.decoding.beam_size, 1);
  EXPECT_EQ(config.decoding.max_length_ratio, 0);
  EXPECT_EQ(config.decoding.max_length_offset, 100);
  EXPECT_EQ(config.data.naming.name(), "kyubyong2019");
  EXPECT_EQ(config.run.naming.name(), "kyubyong2019");
  EXPECT_EQ(config.run.evaldir, "eval/1");
  EXPECT_EQ(config.run.testdir, "test/1");
  EXPECT_EQ(config.run.tensorboard_every, 1);
}

TEST(Presets, Kyubyong2017HasHisValues) {
  const Config config = preset("kyubyong2017_iwslt16");
  EXPECT_EQ(config.data.tokenizer.name(), "words");
  EXPECT_FALSE(config.data.joint_vocabulary);
  EXPECT_EQ(config.data.min_cnt, 20);
  EXPECT_EQ(config.data.maxlen1, 10);
  EXPECT_EQ(config.data.maxlen2, 10);
  EXPECT_TRUE(config.data.count_markup);
  EXPECT_EQ(config.data.characters.name(), "latin");
  EXPECT_EQ(config.model.d_model, 512);
  EXPECT_EQ(config.model.d_ff, 2048);
  EXPECT_EQ(config.model.num_blocks, 6);
  EXPECT_EQ(config.model.num_heads, 8);
  EXPECT_EQ(config.model.dropout_rate, 0.1);
  EXPECT_EQ(config.model.residual_dropout_rate, 0.0);
  EXPECT_EQ(config.model.positions.name(), "learned");
  EXPECT_EQ(config.model.max_positions, 10);
  EXPECT_EQ(config.model.position_init.name(), "xavier");
  EXPECT_EQ(config.model.qkv_activation.name(), "relu");
  EXPECT_FALSE(config.model.attention_output_projection);
  EXPECT_EQ(config.model.tie_embeddings.name(), "none");
  EXPECT_TRUE(config.model.output_bias);
  EXPECT_EQ(config.training.batch_type.name(), "sentences");
  EXPECT_EQ(config.training.batch_size, 32);
  EXPECT_EQ(config.training.last_batch.name(), "drop");
  EXPECT_EQ(config.training.num_epochs, 20);
  EXPECT_EQ(config.training.lr, 0.0001);
  EXPECT_EQ(config.training.schedule.name(), "constant");
  EXPECT_EQ(config.training.warmup_steps, 0);
  EXPECT_EQ(config.training.adam_beta2, 0.98);
  EXPECT_EQ(config.training.adam_epsilon, 1e-8);
  EXPECT_EQ(config.training.smoothing, 0.1);
  EXPECT_EQ(config.decoding.max_length_offset, 10);
  EXPECT_EQ(config.run.naming.name(), "kyubyong2017");
  EXPECT_EQ(config.run.tensorboard_tags.name(), "kyubyong2017");
  EXPECT_EQ(config.run.testdir, "results");
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
  EXPECT_EQ(base.training.schedule.name(), "noam");
  EXPECT_EQ(base.training.lr, 1);
  EXPECT_EQ(base.training.adam_beta2, 0.98);
  EXPECT_EQ(base.training.adam_epsilon, 1e-9);
  EXPECT_EQ(base.decoding.length_penalty, 0.6);
}

TEST(Presets, VaswaniEnFrHasPiecesAndDropoutOfItsOwn) {
  const auto changed = [](const std::string& before, const std::string& after) {
    std::vector<std::string> keys;
    for (const auto& difference : differences(preset(before), preset(after))) keys.push_back(difference.key);
    return keys;
  };
  EXPECT_THAT(changed("vaswani_base", "vaswani_base_en_fr"),
              ElementsAre("data.dir", "data.target_language", "data.train1", "data.train2", "data.eval1", "data.eval2",
                          "data.test1", "data.test2", "data.vocab_size", "evaluation.tokenized_bleu", "run.dir"));
  EXPECT_THAT(changed("vaswani_base_en_fr", "vaswani_big_en_fr"),
              ElementsAre("model.d_model", "model.d_ff", "model.num_heads", "training.max_updates",
                          "training.average_checkpoints", "validation.every", "run.dir"));
  const Config big = preset("vaswani_big_en_fr");
  EXPECT_EQ(big.data.vocab_size, 32000);
  EXPECT_EQ(big.model.dropout_rate, 0.1);
  EXPECT_THAT(big.evaluation.tokenized_bleu.chosen_names(), ElementsAre("cased"));
  for (const char* name : {"vaswani_base", "vaswani_big"})
    EXPECT_THAT(preset(name).evaluation.tokenized_bleu.chosen_names(), ElementsAre("compound_split")) << name;
}

TEST(Presets, PrenormSmallHasTheValuesOfItsProgram) {
  const Config config = preset("prenorm_small");
  EXPECT_EQ(config.data.vocab_size, 8000);
  EXPECT_EQ(config.data.source_markers.name(), "none");
  EXPECT_EQ(config.data.maxlen1, 50);
  EXPECT_EQ(config.data.maxlen2, 49);
  EXPECT_EQ(config.model.num_blocks, 4);
  EXPECT_EQ(config.model.d_model, 512);
  EXPECT_EQ(config.model.d_ff, 2048);
  EXPECT_EQ(config.model.norm.name(), "pre");
  EXPECT_TRUE(config.model.final_norm);
  EXPECT_EQ(config.model.norm_epsilon, 1e-6);
  EXPECT_FALSE(config.model.attention_bias);
  EXPECT_TRUE(config.model.attention_output_projection);
  EXPECT_EQ(config.model.tie_embeddings.name(), "none");
  EXPECT_FALSE(config.model.output_bias);
  EXPECT_EQ(config.model.embedding_init.name(), "normal");
  EXPECT_FALSE(config.model.mask_padding_positions);
  EXPECT_EQ(config.training.last_batch.name(), "drop");
  EXPECT_EQ(config.training.max_updates, 100000);
  EXPECT_EQ(config.training.lr, 0.0001);
  EXPECT_EQ(config.training.schedule.name(), "inverse_sqrt");
  EXPECT_EQ(config.training.adam_beta2, 0.98);
  EXPECT_EQ(config.training.adam_epsilon, 1e-8);
  EXPECT_EQ(config.training.smoothing, 0.05);
  EXPECT_EQ(config.training.smoothing_form.name(), "others_normalized");
  EXPECT_EQ(config.run.tensorboard_tags.name(), "prenorm");
}

TEST(Presets, LearnedPositionsSmallHasTheValuesOfItsProgram) {
  const Config config = preset("learned_positions_small");
  EXPECT_TRUE(config.data.joint_vocabulary);
  EXPECT_EQ(config.data.source_markers.name(), "both");
  EXPECT_EQ(config.model.num_blocks, 6);
  EXPECT_EQ(config.model.norm.name(), "pre");
  EXPECT_FALSE(config.model.final_norm);
  EXPECT_EQ(config.model.positions.name(), "learned");
  EXPECT_EQ(config.model.max_positions, 1000);
  EXPECT_EQ(config.model.tie_embeddings.name(), "none");
  EXPECT_TRUE(config.model.output_bias);
  EXPECT_EQ(config.model.embedding_init.name(), "standard_normal");
  EXPECT_EQ(config.model.position_init.name(), "standard_normal");
  EXPECT_EQ(config.training.lr, 0.0001);
  EXPECT_EQ(config.training.schedule.name(), "constant");
  EXPECT_EQ(config.training.pool_batches, 100);
  EXPECT_EQ(config.training.clip_norm, 1);
  EXPECT_EQ(config.training.smoothing, 0);
  EXPECT_EQ(config.validation.best_metric.name(), "loss");
  EXPECT_EQ(config.decoding.max_length_offset, 50);
}

TEST(Presets, TrevettHasHisValues) {
  const Config config = preset("multi30k_trevett");
  EXPECT_TRUE(config.data.lowercase);
  EXPECT_EQ(config.data.tokenizer.name(), "words");
  EXPECT_EQ(config.data.min_cnt, 2);
  EXPECT_FALSE(config.data.joint_vocabulary);
  EXPECT_EQ(config.model.d_model, 256);
  EXPECT_EQ(config.model.d_ff, 512);
  EXPECT_EQ(config.model.num_blocks, 3);
  EXPECT_EQ(config.model.norm.name(), "post");
  EXPECT_EQ(config.model.max_positions, 100);
  EXPECT_EQ(config.training.lr, 0.0005);
  EXPECT_EQ(config.training.batch_size, 128);
  EXPECT_EQ(config.training.num_epochs, 10);
  EXPECT_EQ(config.training.clip_norm, 1);
  EXPECT_EQ(config.run.seed, 1234);
}

TEST(Presets, OfTokenisedTextScoreTheTokens) {
  for (const char* name : {"multi30k_trevett", "rnn_attention_small", "learned_positions_small", "bahdanau2015",
                           "luong2015_general", "iwslt14_de_en_20k"})
    EXPECT_THAT(preset(name).evaluation.tokenized_bleu.chosen_names(), ElementsAre("as_is")) << name;
}

TEST(Presets, OfTorchtextOrderWordsOfEqualCountsByTheAlphabet) {
  for (const char* name : {"multi30k_trevett", "rnn_attention_small", "learned_positions_small"})
    EXPECT_EQ(preset(name).data.word_ties.name(), "alphabetical") << name;
}

TEST(Presets, BahdanauHasTheUpdatesOfTheSystemWithItsFigure) {
  EXPECT_EQ(preset("bahdanau2015").training.max_updates, 288000);
}

TEST(Presets, RnnAttentionSmallLogsAsItsTutorial) {
  const Config config = preset("rnn_attention_small");
  EXPECT_EQ(config.validation.every, 0);  // the lines are of validations at the end of epochs
}

TEST(Presets, DeepEncodersAreMulti30kButForTheirBlocks) {
  const auto keys = [](const char* name) {
    std::vector<std::string> changed;
    for (const auto& difference : differences(preset("multi30k_de_en"), preset(name)))
      changed.push_back(difference.key);
    return changed;
  };
  EXPECT_THAT(keys("deep_encoder_6_2"), ElementsAre("model.encoder_blocks", "model.decoder_blocks", "run.dir"));
  EXPECT_THAT(keys("deep_encoder_12_1"),
              ElementsAre("model.encoder_blocks", "model.decoder_blocks", "model.decoder_mixer", "run.dir"));
}

TEST(Presets, RDropIsIwslt14ButForItsObjective) {
  std::vector<std::string> keys;
  for (const auto& difference : differences(preset("iwslt14_de_en"), preset("iwslt14_de_en_rdrop")))
    keys.push_back(difference.key);
  EXPECT_THAT(keys, ElementsAre("training.num_epochs", "training.max_updates", "training.objective", "run.dir"));
  const Config config = preset("iwslt14_de_en_rdrop");
  EXPECT_EQ(config.training.objective.name(), "rdrop");
  EXPECT_EQ(config.training.rdrop_alpha, 5);
  EXPECT_EQ(config.training.max_updates, 300000);
  EXPECT_THAT(config.evaluation.tokenized_bleu.chosen_names(), ElementsAre("lowercase"));
}

TEST(Presets, Multi30kTinyHasThePublishedValues) {
  const Config config = preset("multi30k_en_de_tiny");
  EXPECT_EQ(config.data.source_language, "en");
  EXPECT_EQ(config.model.num_blocks, 4);
  EXPECT_EQ(config.model.d_model, 128);
  EXPECT_EQ(config.model.d_ff, 256);
  EXPECT_EQ(config.model.num_heads, 4);
  EXPECT_EQ(config.model.dropout_rate, 0.3);
  EXPECT_EQ(config.model.tie_embeddings.name(), "all");
  EXPECT_EQ(config.training.lr, 0.005);
  EXPECT_EQ(config.training.warmup_steps, 2000);
  EXPECT_EQ(config.training.adam_beta2, 0.98);
  EXPECT_EQ(config.training.batch_size * config.training.accumulate, 2 * 4096);
  EXPECT_EQ(config.training.max_updates, 8000);
  EXPECT_THAT(config.evaluation.tokenized_bleu.chosen_names(), ElementsAre("cased", "lowercase"));
  EXPECT_EQ(config.training.average_checkpoints, 10);
  EXPECT_EQ(config.validation.patience, 10);
  EXPECT_EQ(config.validation.best_metric.name(), "loss");
  EXPECT_EQ(config.decoding.beam_size, 5);
}

// Presets that write the same folder of prepared data must prepare the same.
TEST(Presets, ShareAFolderOfDataOnlyWhereItsOptionsAreEqual) {
  std::map<std::string, Config> of_folder;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    const Config config = load_config(entry.path()).config;
    const auto [other, first] = of_folder.emplace(config.data.dir, config);
    for (const auto& difference : differences(other->second, config))
      EXPECT_FALSE(difference.key.starts_with("data.")) << entry.path() << ": " << difference.key;
  }
}

}  // namespace
}  // namespace nmt::presets_test
