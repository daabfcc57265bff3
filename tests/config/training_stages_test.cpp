#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/config.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "support.h"

namespace nmt::training_stages_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::Pair;

const std::string kData =
    "data: {train1: [x/old.de.gz, y/new.v1.de], train2: [x/old.en.gz, y/new.en], train_tsv: [z/new.v2.tsv], eval1: "
    "v.de, eval2: v.en}\n";

Config config_of(const std::string& stages, const std::string& more = "") {
  return parse_config(kData + "training: {stages: " + stages + "}\n" + more, "f").config;
}

TEST(TrainingStages, HaveSharesAndAnEnd) {
  const auto config = config_of(
      "[{shares: {old: 0.6, y/new.v1.de: 0.4}, until_epochs: 2}, {until_update: 300, shares: {old: 1}}, {shares: "
      "{z/new.v2.tsv: 1}, until_stalled: 3}, {shares: {old: 2, z/new.v2.tsv: 3}}]");
  const auto& stages = config.training.stages;
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_THAT(stages[0].shares, ElementsAre(Pair("old", 0.6), Pair("y/new.v1.de", 0.4)));
  EXPECT_EQ(stages[0].end, StageEnd::kEpochs);
  EXPECT_EQ(stages[0].limit, 2);
  EXPECT_EQ(stages[1].end, StageEnd::kUpdate);
  EXPECT_EQ(stages[1].limit, 300);
  EXPECT_EQ(stages[2].end, StageEnd::kStalled);
  EXPECT_EQ(stages[3].end, StageEnd::kRun);
  const auto yaml = to_yaml(config);
  EXPECT_EQ(to_yaml(parse_config(yaml, "f").config), yaml);
  EXPECT_EQ(to_yaml(parse_config(to_json(config).dump(), "f").config), yaml);
  EXPECT_EQ(parse_config(kData, "f", {"training.stages=[{shares: {old: 1}}]"}).config.training.stages.size(), 1u);
  EXPECT_TRUE(config_of("[]").training.stages.empty());
}

TEST(TrainingStages, NameTheirCorpora) {
  const auto data = config_of("[]").data;
  EXPECT_THAT(corpora_named(data, "old"), ElementsAre(0));
  EXPECT_THAT(corpora_named(data, "new"), ElementsAre(1, 2));
  EXPECT_THAT(corpora_named(data, "z/new.v2.tsv"), ElementsAre(2));
  EXPECT_THAT(corpora_named(data, "old.de.gz"), ElementsAre());
}

TEST(TrainingStages, SayWhatIsWrong) {
  const std::string form = "{shares: {NAME: SHARE, ...}, until_epochs: N}";
  const std::pair<const char*, std::string> cases[] = {
      {"old", "needs a list of stages, not 'old'"},
      {"[old]", "each entry of the list must be " + form},
      {"[{until_epochs: 2}]", "a stage has no shares; write " + form},
      {"[{shares: old}]", "'shares' must be names and numbers; write " + form},
      {"[{shares: {old: 0}}]", "the share of old must be above 0"},
      {"[{shares: {old: much}}]", "needs a list of stages, not 'much'"},
      {"[{shares: {old: 1}, until_end: 2}]",
       "'until_end' is not one of: shares, until_epochs, until_update, until_stalled"},
      {"[{shares: {old: 1}, epochs: 2}]", "'epochs' is not one of: shares, until_epochs, until_update, until_stalled"},
      {"[{shares: {old: 1}, until_epochs: 0}]", "'until_epochs' must be at least 1"},
      {"[{shares: {old: 1}, until_epochs: 1, until_update: 2}]",
       "a stage has one end: until_epochs, until_update or until_stalled"},
      {"[{shares: {new: 1}}]",
       "new is the name of 2 training corpora; a name is that of a file of data.train1 or train_tsv up to its first "
       "dot, or as it stands there"},
      {"[{shares: {old: 1}, until_epochs: 1}]", "stage 1 is the last and ends with the run; leave until_epochs out"},
      {"[{shares: {old: 1}}, {shares: {old: 1}}]",
       "stage 1 has no end; add until_epochs, until_update or until_stalled"},
      {"[{shares: {old: 1}, until_update: 9}, {shares: {old: 1}, until_update: 9}, {shares: {old: 1}}]",
       "stage 2 ends at update 9, not behind the stage before it"},
      {"[{shares: {old: 1}}], corpus_weights: [1, 1, 1]",
       "stands beside training.corpus_weights; each stage says how the corpora are mixed, leave those out"},
  };
  for (const auto& [stages, message] : cases)
    EXPECT_EQ(message_of<Error>([&, stages = stages] { config_of(stages); }), "f:2: training.stages: " + message);
  const std::string stalled = "[{shares: {old: 1}, until_stalled: 3}, {shares: {old: 1}}]";
  EXPECT_EQ(message_of<Error>([&] { config_of(stalled, "validation: {patience: 3}"); }),
            "f:2: training.stages: stage 1 ends after 3 validations without a new best, the run after 3 "
            "(validation.patience); raise that");
  EXPECT_EQ(config_of(stalled, "validation: {patience: 4}").training.stages.size(), 2u);
  EXPECT_EQ(
      message_of<Error>([&] { parse_config("data: {train_tsv: old}\ntraining: {stages: " + stalled + "}", "f"); }),
      "f:2: training.stages: until_stalled looks at validations, but data.eval1 and eval2 are not set");
}

}  // namespace
}  // namespace nmt::training_stages_test
