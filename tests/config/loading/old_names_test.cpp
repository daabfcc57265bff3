#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/old_programs.h"
#include "config/loading/schema.h"
#include "support.h"

namespace nmt::old_names_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Every name of both programs with its own value.
const char* const kHis2019 =
    "vocab_size: 16000\n"
    "train1: t.de\n"
    "train2: t.en\n"
    "eval1: e.de\n"
    "eval2: e.en\n"
    "eval3: raw.en\n"
    "vocab: bpe.vocab\n"
    "batch_size: 64\n"
    "eval_batch_size: 65\n"
    "lr: 0.0004\n"
    "warmup_steps: 3000\n"
    "logdir: log/2\n"
    "num_epochs: 21\n"
    "evaldir: eval/2\n"
    "d_model: 256\n"
    "d_ff: 512\n"
    "num_blocks: 5\n"
    "num_heads: 4\n"
    "maxlen1: 90\n"
    "maxlen2: 80\n"
    "dropout_rate: 0.25\n"
    "smoothing: 0.2\n"
    "test1: s.de\n"
    "test2: s.en\n"
    "ckpt: log/1\n"
    "test_batch_size: 66\n"
    "testdir: test/2\n";
constexpr size_t kNamesOf2019 = 27;

const char* const kHis2017 =
    "source_train: corpora/train.tags.de-en.de\n"
    "target_train: corpora/train.tags.de-en.en\n"
    "source_test: corpora/t.de.xml\n"
    "target_test: corpora/t.en.xml\n"
    "batch_size: 33\n"
    "lr: 0.0001\n"
    "logdir: logdir\n"
    "maxlen: 11\n"
    "min_cnt: 19\n"
    "hidden_units: 256\n"
    "num_blocks: 6\n"
    "num_epochs: 20\n"
    "num_heads: 8\n"
    "dropout_rate: 0.1\n"
    "sinusoid: False\n";
constexpr size_t kNamesOf2017 = 15;

/// A preset without its paths, and with the settings of a file in his style.
Config preset(const std::string& name, const std::vector<std::string>& settings) {
  std::vector<std::string> all{"data.dir=prepared", "data.eval1=", "data.eval2="};
  all.insert(all.end(), settings.begin(), settings.end());
  return load_config(test::source_directory() / "configs" / (name + ".yaml"), all).config;
}

TEST(OldNames, BuildHisModelOf2019) {
  const auto [config, notices, files] = parse_config(kHis2019, "hparams.yaml");
  EXPECT_THAT(notices, SizeIs(1 + kNamesOf2019));
  const Config expected = preset("kyubyong2019_iwslt16", {"data.vocab_size=16000",   "data.train1=t.de",
                                                          "data.train2=t.en",        "data.eval1=e.de",
                                                          "data.eval2=e.en",         "data.test1=s.de",
                                                          "data.test2=s.en",         "data.maxlen1=90",
                                                          "data.maxlen2=80",         "decoding.max_length_offset=80",
                                                          "model.d_model=256",       "model.d_ff=512",
                                                          "model.num_blocks=5",      "model.num_heads=4",
                                                          "model.dropout_rate=0.25", "training.batch_size=64",
                                                          "training.lr=0.0004",      "training.warmup_steps=3000",
                                                          "training.num_epochs=21",  "training.smoothing=0.2",
                                                          "decoding.batch_size=66",  "run.dir=log/2",
                                                          "run.evaldir=eval/2",      "run.testdir=test/2"});
  EXPECT_EQ(to_yaml(config), to_yaml(expected));
  EXPECT_FALSE(config.model.attention_output_projection);
  EXPECT_EQ(notices[0],
            "hparams.yaml:1: vocab_size is a name of Kyubyong's program of 2019: what is not set is as in "
            "configs/kyubyong2019_iwslt16.yaml");
  EXPECT_EQ(notices[1], "hparams.yaml:1: vocab_size is read as data.vocab_size");
  EXPECT_EQ(notices[6], "hparams.yaml:6: eval3 has no effect: data.eval2 is the raw reference");
}

TEST(OldNames, BuildHisModelOf2017) {
  const auto [config, notices, files] = parse_config(kHis2017, "h.yaml");
  EXPECT_THAT(notices, SizeIs(1 + kNamesOf2017));
  const Config expected =
      preset("kyubyong2017_iwslt16",
             {"data.train1=corpora/train.tags.de-en.de", "data.train2=corpora/train.tags.de-en.en",
              "data.test1=corpora/t.de.xml", "data.test2=corpora/t.en.xml", "data.maxlen1=11", "data.maxlen2=11",
              "model.max_positions=11", "decoding.max_length_offset=11", "data.min_cnt=19", "model.d_model=256",
              "model.d_ff=1024", "training.batch_size=33", "decoding.batch_size=33", "run.dir=logdir"});
  EXPECT_EQ(to_yaml(config), to_yaml(expected));
  EXPECT_THAT(notices, testing::Contains("h.yaml:8: maxlen is read as data.maxlen1 and data.maxlen2"));
  EXPECT_THAT(notices, testing::Contains("h.yaml:9: min_cnt is read as data.min_cnt"));
  EXPECT_THAT(notices,
              testing::Contains("h.yaml:10: hidden_units is read as model.d_model, with model.d_ff 1024 unless "
                                "that is set"));
  EXPECT_THAT(notices, testing::Contains("h.yaml:15: sinusoid is read as model.positions: learned"));
}

TEST(OldNames, HaveHisFoldersWhereTheFileNamesNone) {
  const Config of_2019 = parse_config("maxlen1: 90\n", "f").config, of_2017 = parse_config("maxlen: 10\n", "f").config;
  EXPECT_EQ(of_2019.run.dir, "log/1");
  EXPECT_EQ(of_2019.run.evaldir, "eval/1");
  EXPECT_EQ(of_2019.run.testdir, "test/1");
  EXPECT_EQ(of_2017.run.dir, "logdir");
  EXPECT_EQ(of_2017.run.testdir, "results");
  for (const auto& config : {of_2019, of_2017}) {
    EXPECT_EQ(config.data.dir, Config().data.dir) << "the paths of text are the user's own";
    EXPECT_TRUE(config.data.train1.empty() && config.data.eval1.empty() && config.data.test2.empty());
  }
}

TEST(OldNames, HisSinusoidsOf2017AreThoseOfHisProgram) {
  const Config config = parse_config("maxlen: 10\nsinusoid: True\n", "h.yaml").config;
  EXPECT_EQ(config.model.positions.name(), "sinusoidal");
  EXPECT_EQ(config.model.sinusoid.name(), "legacy_raw");
}

TEST(OldNames, ThatBothProgramsHaveImplyNeither) {
  for (const char* yaml : {"num_blocks: 2\nlr: 0.001\nlogdir: x\n", "model:\n  hidden_units: 512\n"}) {
    EXPECT_TRUE(parse_config(yaml, "f").config.model.attention_output_projection) << yaml;
  }
  EXPECT_TRUE(parse_config("{}", "f", {"d_model=256", "maxlen1=50"}).config.model.attention_output_projection);
  const auto [config, notices, files] = parse_config("d_ff: 300\nhidden_units: 128\n", "f");
  EXPECT_TRUE(config.model.attention_output_projection);
  EXPECT_EQ(notices[0],
            "f:2: hidden_units is a name of Kyubyong's program of 2017 and d_ff of that of 2019: neither's model is "
            "implied");
}

TEST(OldNames, WhatTheyImplyGivesWayToWhatIsSet) {
  const Config config =
      parse_config("model:\n  norm_epsilon: 1.0e-5\nd_model: 64\n", "f", {"decoding.beam_size=4"}).config;
  EXPECT_EQ(config.model.norm_epsilon, 1e-5);
  EXPECT_EQ(config.decoding.beam_size, 4);
  EXPECT_EQ(config.decoding.length_penalty, 0);
}

TEST(OldNames, AreTakenInSectionsAndSettingsToo) {
  const auto [config, notices, files] =
      parse_config("model:\n  hidden_units: 128\n  sinusoid: True\nrun:\n  logdir: x\n", "f.yaml", {"maxlen=50"});
  EXPECT_EQ(config.model.d_model, 128);
  EXPECT_EQ(config.model.d_ff, 512);
  EXPECT_EQ(config.model.positions.name(), "sinusoidal");
  EXPECT_EQ(config.model.sinusoid.name(), "interleaved");
  EXPECT_EQ(config.run.dir, "x");
  EXPECT_EQ(config.data.maxlen2, 50);
  EXPECT_THAT(notices, ElementsAre("f.yaml:2: model.hidden_units is read as model.d_model, with model.d_ff 512 unless "
                                   "that is set",
                                   "f.yaml:3: model.sinusoid is read as model.positions: sinusoidal",
                                   "f.yaml:5: run.logdir is read as run.dir",
                                   "--set maxlen=50: maxlen is read as data.maxlen1 and data.maxlen2"));
}

TEST(OldNames, GiveWayToAWidthThatIsSet) {
  EXPECT_EQ(parse_config("hidden_units: 128\nmodel:\n  d_ff: 300\n", "f").config.model.d_ff, 300);
  EXPECT_EQ(parse_config("model:\n  d_ff: 300\nhidden_units: 128\n", "f").config.model.d_ff, 300);
}

TEST(OldNames, AreCheckedAsTheOptionsTheyStandFor) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"hidden_units: wide", "f:1: model.d_model: needs a whole number, not 'wide'"},
      {"hidden_units: 100", "f:1: model.num_heads: 8 does not divide model.d_model 100"},
      {"maxlen: 1", "f:1: data.maxlen1: 1 is out of range; it must be at least 2 and at most 100000"},
      {"logdir: a\nrun:\n  dir: b",
       "f:3: run.dir is set twice, first in line 1: logdir and dir are names of it; leave one out"},
      {"maxlen: 10\nmaxlen2: 10",
       "f:2: data.maxlen2 is set twice, first in line 1: maxlen and maxlen2 are names of it; leave one out (f:1: "
       "maxlen is "
       "a name of Kyubyong's program of 2017 and maxlen2 of that of 2019: neither's model is implied)"},
      {"sinusoid: both", "f:1: unknown option sinusoid; did you mean model.sinusoid?"},
      {"model:\n  lr: 1", "f:2: unknown option model.lr; did you mean training.lr?"},
  };
  for (const auto& [yaml, message] : mistakes) {
    EXPECT_EQ(message_of<Error>([&] { parse_config(yaml, "f"); }), message) << yaml;
  }
}

TEST(OldNames, OfBothProgramsAreToldWithTheMistake) {
  EXPECT_THAT(
      message_of<Error>([&] { parse_config("d_ff: 32\nmin_cnt: 3", "f"); }),
      AllOf(HasSubstr("f:2: data.min_cnt: is for word vocabularies"), HasSubstr("neither's model is implied)")));
}

TEST(OldValues, NamesOfTutorialsArePlain) {
  for (const std::string naming : {"trevett", "prenorm"}) {
    const auto [config, notices, files] = parse_config("run:\n  naming: " + naming, "f");
    EXPECT_EQ(config.run.naming, RunNaming::kPlain);
    EXPECT_THAT(notices,
                ElementsAre("f:2: run.naming " + naming + " is read as plain: its file names and log lines are gone"));
    EXPECT_THAT(parse_config("", "f", {"run.naming=" + naming}).notices, SizeIs(1));
  }
  EXPECT_THAT(parse_config("run:\n  naming: kyubyong2017", "f").notices, SizeIs(0));
  EXPECT_THAT(message_of<Error>([] { parse_config("run:\n  naming: tutorial", "f"); }),
              HasSubstr("'tutorial' is not one of: plain, kyubyong2019, kyubyong2017"));
}

TEST(OldNames, StandInTheGuide) {
  const std::string guide = read_file(test::source_directory() / "docs" / "kyubyong.md");
  for (const char* names : {kHis2019, kHis2017}) {
    std::istringstream lines(names);
    for (std::string line; std::getline(lines, line);) {
      const std::string name = line.substr(0, line.find(':'));
      const auto old =
          read_old_name({.section = "", .name = name, .value = YAML::Node("True"), .source = "", .line = 1});
      ASSERT_TRUE(old) << name;
      const std::string row_start = "| `" + name + "` |";
      ASSERT_THAT(guide, HasSubstr(row_start));
      const size_t start = guide.find(row_start);
      const std::string row = guide.substr(start, guide.find('\n', start) - start);
      for (const auto& setting : old->settings) EXPECT_THAT(row, HasSubstr("`" + setting.key() + "`"));
    }
  }
}

}  // namespace
}  // namespace nmt::old_names_test
