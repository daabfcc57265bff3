#include "config/loading/initial_model.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/model_description.h"
#include "config/loading/schema.h"
#include "support.h"

namespace nmt::initial_model_test {
namespace {

using test::message_of;
using testing::HasSubstr;

/// A model directory's description beside a user's file.
class InitialModel : public testing::Test {
 protected:
  InitialModel() {
    std::filesystem::create_directory(model_);
    write("model/source.spm", "pieces");
    theirs_ = parse_config(
                  "{data: {source_language: de, joint_vocabulary: false, lowercase: true, vocab_size: 77, train1: a, "
                  "train2: b, spm_model1: x, spm_model2: y}, model: {d_model: 32, num_heads: 4, num_blocks: 3, "
                  "tie_embeddings: none, dropout_rate: 0.2, decoder_blocks: 1}, training: {lr: 0.5}, "
                  "decoding: {beam_size: 6, shortlist: 50}}",
                  "theirs")
                  .config;
    describe();
  }
  void describe() {
    write_model_description(model_, {.config = theirs_,
                                     .tokenizer = {{"files", {{"source.spm", sha256_of_bytes("pieces")}}}},
                                     .parameters = 1,
                                     .source_vocabulary = 9,
                                     .target_vocabulary = 9});
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  LoadedConfig load(const std::string& yaml, const std::vector<std::string>& settings = {}) const {
    write("mine.yaml", yaml);
    return load_run_config(mine_, settings, {{"--from-model", "training.init_from", model_.string()}});
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path model_ = folder_ / "model", mine_ = folder_ / "mine.yaml";
  Config theirs_;
};

TEST_F(InitialModel, DecidesWhatIsNotSet) {
  const auto config = load("training: {lr: 0.001}\ndata: {train1: c, train2: d}\n").config;
  EXPECT_EQ(config.model.d_model, 32);
  EXPECT_EQ(config.model.decoder_blocks, 1);
  EXPECT_EQ(config.model.tie_embeddings, TiedEmbeddings::kNone);
  EXPECT_EQ(config.model.dropout_rate, 0.2);
  EXPECT_FALSE(config.data.joint_vocabulary);
  EXPECT_TRUE(config.data.lowercase);
  EXPECT_EQ(config.decoding.beam_size, 6);
  EXPECT_EQ(config.training.init_from, model_.string());
  // Neither the text nor the training is the model's, nor what names files of its owner or a lexicon of its text.
  EXPECT_THAT(config.data.train1, testing::ElementsAre("c"));
  EXPECT_EQ(config.data.spm_model1, "");
  EXPECT_EQ(config.data.vocab_size, DataConfig().vocab_size);
  EXPECT_EQ(config.decoding.shortlist, 0);
  EXPECT_EQ(config.training.lr, 0.001);
}

TEST_F(InitialModel, LeavesWhatMayBeAnother) {
  const auto config = load(
                          "{model: {dropout_rate: 0.4, init_std: 0.5}, decoding: {beam_size: 2}, data: "
                          "{target_language: fr, source_prefix: 'p '}}")
                          .config;
  EXPECT_EQ(config.model.dropout_rate, 0.4);
  EXPECT_EQ(config.decoding.beam_size, 2);
  EXPECT_EQ(config.data.target_language, "fr");
  EXPECT_EQ(config.data.source_language, "de");
  EXPECT_EQ(config.data.source_prefix, "p ");
}

TEST_F(InitialModel, NamesAllThatAsksForAnotherModelAtOnce) {
  write("other.spm", "other");
  const auto file = mine_.string();
  EXPECT_EQ(message_of<Error>([&] {
              load(
                  "model:\n  d_model: 100\n  num_heads: 7\n  norm: post\ndata:\n  lowercase: false\n  vocab_size: 9\n"
                  "  spm_model1: " +
                      (folder_ / "other.spm").string() + "\n",
                  {"model.activation=gelu"});
            }),
            "training.init_from " + model_.string() +
                ": the configuration asks for another model: model.d_model is 32 there and 100 here (" + file +
                ":2), model.num_heads is 4 there and 7 here (" + file +
                ":3), model.activation is relu there and gelu here (--set model.activation=gelu), data.lowercase is "
                "true there and false here (" +
                file + ":6), data.vocab_size is for learning a vocabulary, and the model brings its own (" + file +
                ":7), data.spm_model1 names " + (folder_ / "other.spm").string() +
                ", which is none of the model's own files (" + file + ":8); leave them out");
  EXPECT_THAT(message_of<Error>([&] { load("model: {norm: pre}"); }), testing::EndsWith("mine.yaml:1); leave it out"));
}

// Normalisation and kind of pieces may be others then, not what stands around them.
TEST_F(InitialModel, MayBeMappedToAnotherVocabulary) {
  write("other.spm", "other");
  const auto yaml = "{data: {lowercase: false, vocab_size: 9000, spm_model1: " + (folder_ / "other.spm").string() +
                    ", spm_model2: " + (folder_ / "other.spm").string() + "}, training: {init_vocabulary: map}}";
  const auto config = load(yaml).config;
  EXPECT_FALSE(config.data.lowercase);
  EXPECT_FALSE(config.data.joint_vocabulary) << "the model's, where nothing is said";
  EXPECT_EQ(config.model.d_model, 32);
  EXPECT_THAT(message_of<Error>([&] {
                load(yaml, {"model.d_model=64", "data.reverse_source=true"});
              }),
              testing::AllOf(HasSubstr("model.d_model is 32 there and 64 here"),
                             HasSubstr("data.reverse_source is false there and true here")));
}

// What was printed for a run, and what was written before the model could say it.
TEST_F(InitialModel, TakesACompleteConfigurationThatSaysTheSame) {
  const auto config = load("run: {dir: r}").config;
  const auto again = load(to_yaml(config)).config;
  EXPECT_THAT(differences(config, again), testing::IsEmpty());
  EXPECT_NO_THROW(load("data: {vocab_size: 77, joint_vocabulary: false, spm_model1: " +
                       (model_ / "source.spm").string() + ", spm_model2: gone}"));
}

TEST_F(InitialModel, IsReadForTheUsersOwnConfigurationAlone) {
  const auto setting = "training.init_from=" + model_.string();
  EXPECT_EQ(load_run_config("", {setting}).config.model.d_model, 32) << "of settings";
  EXPECT_EQ(parse_config("", "model.json", {setting}).config.model.d_model, ModelConfig().d_model);
}

TEST_F(InitialModel, IsNotNeededByTheRunThatWasBegunFromIt) {
  const auto run = folder_ / "run";
  const auto yaml = "{model: {dropout_rate: 0.3}, run: {dir: " + run.string() + "}}";
  const auto begun = load(yaml).config;
  std::filesystem::create_directory(run);
  write("run/config.yaml", to_yaml(begun));
  std::filesystem::remove_all(model_);
  EXPECT_THAT(differences(load(yaml).config, begun), testing::IsEmpty());
  EXPECT_EQ(load(yaml, {"decoding.beam_size=2"}).config.decoding.beam_size, 2);
  const auto gone = "training.init_from " + model_.string() + ": no such model directory";
  EXPECT_EQ(message_of<Error>([&] { load(yaml, {"run.dir=other"}); }), gone) << "a new run";
  auto of_another = begun;
  of_another.training.init_from = "another";
  write("run/config.yaml", to_yaml(of_another));
  EXPECT_EQ(message_of<Error>([&] { load(yaml); }), gone);
}

TEST_F(InitialModel, MustBeAModelDirectory) {
  const auto from = [&](const std::filesystem::path& directory) {
    return message_of<Error>([&] { load_run_config("", {"training.init_from=" + directory.string()}); });
  };
  const auto none = folder_ / "none", hugging_face = folder_ / "hugging_face", run = folder_ / "run";
  EXPECT_EQ(from(none), "training.init_from " + none.string() + ": no such model directory");
  std::filesystem::create_directory(hugging_face);
  write("hugging_face/config.json", "{}");
  EXPECT_THAT(from(hugging_face), HasSubstr("nmt-export --from marian -i " + hugging_face.string() + " -o NEW"));
  std::filesystem::create_directories(run);
  std::filesystem::rename(model_, run / "best");
  EXPECT_THAT(from(run), HasSubstr("is the folder of a run; name its model, " + (run / "best").string()));
}

}  // namespace
}  // namespace nmt::initial_model_test
