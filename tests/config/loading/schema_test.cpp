#include "config/loading/schema.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "base/random.h"
#include "config/option_listing.h"
#include "config/option_table.h"
#include "config/value.h"
#include "support.h"

namespace nmt::schema_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> keys_of(const std::vector<ConfigDifference>& differences) {
  std::vector<std::string> keys;
  for (const auto& difference : differences) keys.push_back(difference.key);
  return keys;
}

bool are_equal(const Config& a, const Config& b) { return differences(a, b).empty(); }

TEST(ParseConfig, GivesTheDefaultsForNothing) {
  for (const auto* nothing : {"", "\n\n", "# a comment\n", "---\n", "{}", "data:\ntraining:\n  # lr: 1\n"}) {
    const LoadedConfig loaded = parse_config(nothing, "f.yaml");
    EXPECT_TRUE(are_equal(loaded.config, Config())) << nothing;
    EXPECT_TRUE(loaded.notices.empty());
  }
}

TEST(ParseConfig, ReadsEveryTypeOfValue) {
  const Config config = parse_config(
                            "data:\n"
                            "  train1: [a.de, 'b c.de', \"ü.de\"]\n"
                            "  train2:\n"
                            "    - a.en\n"
                            "    - no\n"
                            "    - 7\n"
                            "  train_tsv: one.tsv\n"
                            "  source_language: no\n"
                            "  byte_fallback: yes\n"
                            "model:\n"
                            "  encoder_blocks: 12\n"
                            "  decoder_blocks: null\n"
                            "  input_dropout_rate: 0\n"
                            "training: {lr: 1e-3, adam_epsilon: .5, max_updates: 9007199254740993}\n"
                            "run:\n"
                            "  tensorboard: Off\n"
                            "  device: cuda:1\n",
                            "f.yaml")
                            .config;
  EXPECT_THAT(config.data.train1, ElementsAre("a.de", "b c.de", "ü.de"));
  EXPECT_THAT(config.data.train2, ElementsAre("a.en", "no", "7"));
  EXPECT_THAT(config.data.train_tsv, ElementsAre("one.tsv"));
  EXPECT_EQ(config.data.source_language, "no");
  EXPECT_TRUE(config.data.byte_fallback);
  EXPECT_EQ(config.model.encoder_blocks, 12);
  EXPECT_EQ(config.model.decoder_blocks, std::nullopt);
  EXPECT_EQ(config.model.input_dropout_rate, 0.0);
  EXPECT_EQ(config.model.attention_dropout_rate, std::nullopt);
  EXPECT_EQ(config.training.lr, 0.001);
  EXPECT_EQ(config.training.adam_epsilon, 0.5);
  EXPECT_EQ(config.training.max_updates, 9007199254740993);
  EXPECT_FALSE(config.run.tensorboard);
  EXPECT_EQ(config.run.device, "cuda:1");
}

TEST(ParseConfig, TakesQuotesThatAreClosed) {
  for (const char* yaml : {"run:\n  dir: \"it's\"\n", "run:\n  dir: 'it''s'\n", "run:\n  dir: it's\n",
                           "run:\n  dir: !!str \"it's\"  # \"\n", "run: {dir: \"it's\"}",
                           "\xEF\xBB\xBFrun:\n  dir: \"it's\"", "run:\n  dir: |-\n    it's\n"})
    EXPECT_THAT(parse_config(yaml, "f.yaml").config.run.dir, testing::StartsWith("it's")) << yaml;
}

struct Mistake {
  const char* yaml;
  const char* message;
};

TEST(ParseConfig, NamesThePlaceAndTheMendingOfEveryMistake) {
  const Mistake mistakes[] = {
      // names
      {"training:\n  lrr: 1", "f.yaml:2: unknown option training.lrr; did you mean training.lr?"},
      {"model:\n  lr: 1", "f.yaml:2: unknown option model.lr; did you mean training.lr?"},
      {"training:\n  qqqqqq: 1",
       "f.yaml:2: unknown option training.qqqqqq; docs/options.md and --print-config have every option"},
      {"schedule: noam", "f.yaml:1: unknown option schedule; did you mean training.schedule?"},
      {"training.lr: 1", "f.yaml:1: unknown option training.lr; write lr below training:"},
      {"trianing:\n  lr: 1", "f.yaml:1: unknown section trianing; did you mean training?"},
      {"optimizer:\n  lr: 1",
       "f.yaml:1: unknown section optimizer; the sections are data, model, training, validation, decoding, evaluation, "
       "run"},
      {"\ntraining:\n  lr: 1\n  lr: 1", "f.yaml:4: training.lr is set twice, first in line 3"},
      {"run:\n  seed: 1\nrun:\n  threads: 1", "f.yaml:3: run is set twice, first in line 1"},
      {"lr: 1\ntraining:\n  lr: 1", "f.yaml:3: training.lr is set twice, first in line 1"},
      {"training:\n  ? [a]\n  : 1", "f.yaml:2: a name must be a plain word"},
      // structure
      {"just text", "f.yaml:1: not a map of sections such as 'training:'"},
      {"\n- a\n- b", "f.yaml:2: not a map of sections such as 'training:'"},
      {"run: 5", "f.yaml:1: run: needs options below it, such as 'name: value'"},
      {"run: [a]", "f.yaml:1: run: needs options below it, such as 'name: value'"},
      {"a: 1\n---\nb: 2", "f.yaml:3: a second YAML document; a configuration is one document"},
      {"run:\n  dir: [a", "f.yaml:2: not YAML: end of sequence flow not found"},
      {"run:\n\tdir: a", "f.yaml:2: not YAML: indented by a tab; YAML takes spaces only"},
      {"run:\n  seed: 1\n  \tdir: a\n", "f.yaml:3: not YAML: indented by a tab; YAML takes spaces only"},
      {"run:\n  dir: a: b", "f.yaml:2: not YAML: illegal map value"},
      {"run:\n  dir: \"abc\n  seed: 7\n", "f.yaml:2: not YAML: a quote that is never closed"},
      {"run:\n  dir: 'abc\ntraining:\n  lr: 1 # it''s\n\n", "f.yaml:2: not YAML: a quote that is never closed"},
      {"run:\n  dir: &a !!str \"a\\\"\n", "f.yaml:2: not YAML: a quote that is never closed"},
      {"\xEF\xBB\xBF# \xC3\xBC\nrun:\n  dir: \"\n", "f.yaml:3: not YAML: a quote that is never closed"},
      {"run:\n  dir: a\n  \"seed: 1\n", "f.yaml:3: not YAML: a quote that is never closed"},
      {"run:\n  dir: \"a\xFF\"", "f.yaml:2: not UTF-8 text; save the file as UTF-8"},
      // types
      {"training:\n  lr: fast", "f.yaml:2: training.lr: needs a number, not 'fast'"},
      {"training:\n  lr: '0.1'", "f.yaml:2: training.lr: needs a number, not '0.1'"},
      {"training:\n  lr: 0.1x", "f.yaml:2: training.lr: needs a number, not '0.1x'"},
      {"training:\n  lr:", "f.yaml:2: training.lr: needs a number; it has no value"},
      {"training:\n  lr: [1]", "f.yaml:2: training.lr: needs a number, not a list"},
      {"training:\n  lr:\n    a: 1", "f.yaml:2: training.lr: needs a number, not a map"},
      {"run:\n  seed: 1.5", "f.yaml:2: run.seed: needs a whole number, not '1.5'"},
      {"run:\n  seed: 1e3", "f.yaml:2: run.seed: needs a whole number, not '1e3'"},
      {"run:\n  tensorboard: 1", "f.yaml:2: run.tensorboard: needs true or false, not '1'"},
      {"run:\n  tensorboard: 'yes'", "f.yaml:2: run.tensorboard: needs true or false, not 'yes'"},
      {"run:\n  dir: ~", "f.yaml:2: run.dir: needs a text; it has no value"},
      {"run:\n  dir: [a]", "f.yaml:2: run.dir: needs a text, not a list"},
      {"training:\n  corpus_weights: [1, x]", "f.yaml:2: training.corpus_weights: needs a list of numbers, not 'x'"},
      {"validation:\n  attention_lines: [1, 2.5]",
       "f.yaml:2: validation.attention_lines: needs a list of whole numbers, not '2.5'"},
      {"validation:\n  attention_lines: [0]",
       "f.yaml:2: validation.attention_lines: 0 is out of range; it must be at least 1"},
      {"training:\n  corpus_weights: [1, -2]",
       "f.yaml:2: training.corpus_weights: -2 is out of range; it must be at least 0 and at most 1000"},
      {"data:\n  keep_best: best 0.5",
       "f.yaml:2: data.keep_best: 'best 0.5' is not allowed; it must be forward, backward, dual or aligner, and a "
       "share "
       "above 0 and at most 1: dual 0.7"},
      {"data:\n  train1: {a: b}", "f.yaml:2: data.train1: needs a list of texts, not a map"},
      {"data:\n  train1: [a, [b]]", "f.yaml:2: data.train1: each entry of the list must be a text"},
      {"data:\n  train1: [a, ~]", "f.yaml:2: data.train1: each entry of the list must be a text"},
      {"model:\n  encoder_blocks: two", "f.yaml:2: model.encoder_blocks: needs a whole number or null, not 'two'"},
      // ranges
      {"model:\n  dropout_rate: 1",
       "f.yaml:2: model.dropout_rate: 1 is out of range; it must be at least 0 and below 1"},
      {"model:\n  ffn_dropout_rate: -0.1",
       "f.yaml:2: model.ffn_dropout_rate: -0.1 is out of range; it must be at least 0 and below 1"},
      {"model:\n  num_heads: 0",
       "f.yaml:2: model.num_heads: 0 is out of range; it must be at least 1 and at most 1024"},
      {"run:\n  threads: 1025", "f.yaml:2: run.threads: 1025 is out of range; it must be at least 0 and at most 1024"},
      {"training:\n  lr: 0", "f.yaml:2: training.lr: 0 is out of range; it must be above 0"},
      {"training:\n  num_epochs: -1", "f.yaml:2: training.num_epochs: -1 is out of range; it must be at least 0"},
      {"training:\n  lr: .nan", "f.yaml:2: training.lr: .nan is not a finite number"},
      {"training:\n  lr: nan", "f.yaml:2: training.lr: nan is not a finite number"},
      {"training:\n  lr: -.inf", "f.yaml:2: training.lr: -.inf is not a finite number"},
      {"training:\n  lr: inf", "f.yaml:2: training.lr: inf is not a finite number"},
      {"training:\n  lr: 1e999", "f.yaml:2: training.lr: 1e999 is too large or too small a number"},
      {"run:\n  seed: 9223372036854775808", "f.yaml:2: run.seed: 9223372036854775808 is too large a number"},
      {"training:\n  schedule: step",
       "f.yaml:2: training.schedule: 'step' is not one of: inverse_sqrt, noam, linear, cosine, polynomial, plateau, "
       "halving, constant"},
      {"validation:\n  metrics: [loss, ter]", "f.yaml:2: validation.metrics: 'ter' is not one of: loss, bleu, chrf"},
      {"run:\n  device: gpu", "f.yaml:2: run.device: 'gpu' is not allowed; it must be auto, cpu, cuda or cuda:N"},
      {"run:\n  device: 'cuda:'", "f.yaml:2: run.device: 'cuda:' is not allowed; it must be auto, cpu, cuda or cuda:N"},
      {"data:\n  source_language: German, of course",
       "f.yaml:2: data.source_language: 'German, of course' is not allowed; it must be a language code such as de or "
       "zh-Hant"},
      {"run:\n  dir: ''", "f.yaml:2: run.dir: must not be empty"},
      {"data:\n  train1: [a, '']", "f.yaml:2: data.train1: must not be empty"},
      {"run:\n  dir: \"a\\nb\"", "f.yaml:2: run.dir: 'a?b' holds a control character"},
      // values of any length stay on one short line
      {"run:\n  seed: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
       "f.yaml:2: run.seed: needs a whole number, not "
       "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"},
  };
  for (const auto& [yaml, message] : mistakes) {
    EXPECT_EQ(message_of<Error>([&] { parse_config(yaml, "f.yaml"); }), message) << yaml;
  }
}

TEST(ParseConfig, FailsOnlyWithOneLineForDamagedText) {
  // Every way of damaging a good file: refused in one line or read, never anything else.
  const std::string good = to_yaml(Config(), YamlComments::kNone);
  const std::string_view parts =
      "{}[]:,#&*!|>'\"%@`-?~\n\t \x01\xFF"
      "0aé";
  uint64_t state = 1;
  const auto below = [&state](size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % limit;
  };
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = good.substr(0, below(3) == 0 ? below(good.size()) : good.size());
    for (size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits)
      text[below(text.size())] = parts[below(parts.size())];
    try {
      parse_config(text, "f.yaml");
    } catch (const Error& error) {
      ++refused;
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_TRUE(message.starts_with("f.yaml:")) << message;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Settings, OverrideTheFileInTheirOrder) {
  const LoadedConfig loaded =
      parse_config("training:\n  lr: 0.1\n", "f.yaml",
                   {"training.lr=0.2", "training.lr=0.3", "data.train1=[a b, \"c\"]", "data.train2=[x, y]",
                    "data.train_tsv=one: #1.tsv", "run.dir=a: b #c", "model.encoder_blocks=null", "run.tensorboard=no",
                    "data.test1=", "data.eval1='q'", "data.eval2=q=r", "validation.metrics=bleu"});
  EXPECT_EQ(loaded.config.training.lr, 0.3);
  EXPECT_THAT(loaded.config.data.train1, ElementsAre("a b", "c"));
  EXPECT_THAT(loaded.config.data.train_tsv, ElementsAre("one: #1.tsv"));
  EXPECT_EQ(loaded.config.run.dir, "a: b #c");
  EXPECT_FALSE(loaded.config.run.tensorboard);
  EXPECT_EQ(loaded.config.data.test1, "");
  EXPECT_EQ(loaded.config.data.eval1, "q");
  EXPECT_EQ(loaded.config.data.eval2, "q=r");
  EXPECT_THAT(loaded.config.validation.metrics.chosen_names(), ElementsAre("bleu"));
}

TEST(Settings, AreNamedInTheirMistakes) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"training.lrr=1", "--set training.lrr=1: unknown option training.lrr; did you mean training.lr?"},
      {"trainin.lr=1", "--set trainin.lr=1: unknown section trainin; did you mean training?"},
      {"training.lr=fast", "--set training.lr=fast: training.lr: needs a number, not 'fast'"},
      {"training.lr", "--set training.lr: write section.key=value, for example --set training.lr=0.001"},
      {"=1", "--set =1: write section.key=value, for example --set training.lr=0.001"},
      {"training.lr=[1", "--set training.lr=[1: not YAML: end of sequence flow not found"},
      {"data.train1=[a", "--set data.train1=[a: not YAML: end of sequence flow not found"},
      {"training.lr=", "--set training.lr=: training.lr: needs a number; it has no value"},
      {"schedule=noam", "--set schedule=noam: unknown option schedule; did you mean training.schedule?"},
      {"base=x.yaml", "--set base=x.yaml: unknown option base; it stands in a file only"},
      {"training=1", "--set training=1: unknown option training; write training.key=value"},
      {"run.dir=\xFF", "--set: a setting that is not UTF-8 text"},
      {"model.num_heads=7", "--set model.num_heads=7: model.num_heads: 7 does not divide model.d_model 512"},
  };
  for (const auto& [setting, message] : mistakes) {
    EXPECT_EQ(message_of<Error>([&] { parse_config("", "f.yaml", {setting}); }), message);
  }
}

class BaseFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  TemporaryDirectory folder_;
};

TEST_F(BaseFiles, GiveWhatTheFileDoesNotSet) {
  write("grand.yaml", "training:\n  lr: 0.1\n  batch_size: 7\nrun:\n  seed: 5\n");
  write("sub/parent.yaml", "base: ../grand.yaml\ntraining:\n  lr: 0.2\n  clip_norm: 1\n");
  const auto child = write("child.yaml", "training:\n  lr: 0.3\nbase: sub/parent.yaml\n");
  const Config config = load_config(child).config;
  EXPECT_EQ(config.training.lr, 0.3);
  EXPECT_EQ(config.training.clip_norm, 1);
  EXPECT_EQ(config.training.batch_size, 7);
  EXPECT_EQ(config.run.seed, 5);
  EXPECT_EQ(load_config(child, {"run.seed=6"}).config.run.seed, 6);
}

TEST_F(BaseFiles, AreNamedInMistakes) {
  write("parent.yaml", "model:\n\n  num_heads: 7\n");
  const auto child = write("child.yaml", "base: parent.yaml\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(child); }),
            path("parent.yaml") + ":3: model.num_heads: 7 does not divide model.d_model 512");
  write("parent.yaml", "model:\n  heads: 8\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(child); }),
            path("parent.yaml") + ":2: unknown option model.heads; did you mean model.num_heads?");
}

TEST_F(BaseFiles, MayNotBeEachOthersBase) {
  const auto a = write("a.yaml", "base: b.yaml\n");
  write("b.yaml", "\nbase: ../" + folder_.path().filename().string() + "/a.yaml\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(a); }),
            path("b.yaml") + ":2: base: the files are each other's base: " + path("a.yaml") + " -> " + path("b.yaml") +
                " -> " + path("a.yaml"));
  const auto itself = write("itself.yaml", "base: itself.yaml\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(itself); }),
            itself + ":1: base: the files are each other's base: " + itself + " -> " + itself);
}

TEST_F(BaseFiles, AreSoughtBesideTheFile) {
  const auto file = write("a.yaml", "base: none.yaml\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(file); }),
            file + ":1: base: no such file " + path("none.yaml") +
                "; presets are student, small_text, medium_text, large_text");
  write("a.yaml", "base: [x]\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(file); }), file + ":1: base: needs the name of a file or a preset");
}

TEST_F(BaseFiles, MayBeAPreset) {
  const Config config = load_config(write("a.yaml", "base: small_text\nmodel:\n  num_blocks: 1\n")).config;
  EXPECT_EQ(config.run.dir, "runs/small_text");
  EXPECT_EQ(config.model.num_blocks, 1);
  write("small_text", "run:\n  dir: mine\n");
  EXPECT_EQ(load_config(path("a.yaml")).config.run.dir, "mine") << "a file of that name goes before it";
}

TEST(ChangedYaml, SaysWhatDiffersAndReadsBack) {
  EXPECT_EQ(changed_yaml(Config()), "");
  const Config config = parse_config("data:\n  train1: [a, b c]\n  train2: [x, y]\ntraining:\n  lr: 0.5\n", "f").config;
  const std::string yaml = changed_yaml(config);
  EXPECT_EQ(yaml, "data:\n  train1: [a, \"b c\"]\n  train2: [x, \"y\"]\ntraining:\n  lr: 0.5\n");
  EXPECT_EQ(to_yaml(parse_config(yaml, "again").config), to_yaml(config));
  EXPECT_EQ(changed_yaml(config, parse_config("training:\n  lr: 0.5\n", "f").config),
            yaml.substr(0, yaml.find("training")));
}

TEST_F(BaseFiles, MayBeSharedByTwoBranches) {
  write("grand.yaml", "run:\n  seed: 5\n");
  write("parent.yaml", "base: grand.yaml\n");
  EXPECT_EQ(load_config(write("one.yaml", "base: parent.yaml\n")).config.run.seed, 5);
}

TEST(LoadConfig, SaysWhichFileIsMissing) {
  EXPECT_EQ(message_of<Error>([] { load_config("no/such.yaml"); }),
            "no/such.yaml: cannot read (No such file or directory)");
}

/// A configuration in which every option differs from its default; contradictory, so it is written and compared only.
Config all_different() {
  Config config;
  for (const Option& option : options()) {
    std::visit(
        [&](auto* field) {
          using T = std::remove_pointer_t<decltype(field)>;
          if constexpr (std::is_same_v<T, bool>) *field = !*field;
          if constexpr (std::is_same_v<T, int64_t>) *field += 1;
          if constexpr (std::is_same_v<T, double>) *field = std::nextafter(*field, 0.123);
          if constexpr (std::is_same_v<T, std::string>) *field += "x";
          if constexpr (std::is_same_v<T, std::vector<std::string>>) *field = {"x, y", "[z]"};
          if constexpr (std::is_same_v<T, std::vector<TextSet>>) *field = {{"a", "x y", "b"}, {"c-1.2", "d", "#e"}};
          if constexpr (std::is_same_v<T, std::vector<TrainingStage>>)
            *field = {TrainingStage{.shares = {{"a b", 0.1}, {"c", 2}}, .end = StageEnd::kUpdate, .limit = 7},
                      TrainingStage{.shares = {{"#d", 1}}}};
          if constexpr (std::is_same_v<T, NamedChoice>) field->assign(field->names().back());
          if constexpr (std::is_same_v<T, NamedChoices>) field->clear(), field->append(field->names().back());
          if constexpr (std::is_same_v<T, std::vector<int64_t>>) *field = {3, 1};
          if constexpr (std::is_same_v<T, std::vector<double>>) *field = {0.1, 2};
          if constexpr (std::is_same_v<T, std::optional<int64_t>>) *field = 3;
          if constexpr (std::is_same_v<T, std::optional<double>>) *field = 0.1;
        },
        option.of(config));
  }
  return config;
}

TEST(ToYaml, ReadsBackTheSame) {
  Config config;
  config.data.train1 = {"plain.de", "with space", "quote\"d", "back\\slash", "ünï",
                        "#hash",    "a: b",       "- x",      "null",        "~"};
  config.data.train2 = {
      "true", "1.5", "'", "[a]", "{b}", "a,b", "*x", "&y", "!z", "%",
  };
  config.data.eval1 = config.data.eval2 = " leading and trailing ";
  config.data.user_symbols = {"\u00A0", "\u2028", "😀", "<sep>"};
  config.training.corpus_weights = {0, 0.1, 2.5, 1000, 1, 1, 1, 1, 1, 1};
  config.validation.attention_lines = {1, 9007199254740993};
  config.model.encoder_blocks = 2;
  config.model.residual_dropout_rate = 0.0;
  config.training.lr = std::nextafter(0.0003, 1);
  config.training.adam_epsilon = 5e-324;
  config.training.max_minutes = 1.7976931348623157e308;
  config.run.seed = INT64_MAX;
  config.run.tensorboard = false;
  for (const auto comments : {YamlComments::kNone, YamlComments::kHelp}) {
    const std::string yaml = to_yaml(config, comments);
    const LoadedConfig loaded = parse_config(yaml, "again");
    EXPECT_TRUE(loaded.notices.empty());
    EXPECT_THAT(keys_of(differences(config, loaded.config)), ElementsAre());
    EXPECT_EQ(loaded.config.data.train1, config.data.train1);
    EXPECT_EQ(loaded.config.data.train2, config.data.train2);
    EXPECT_EQ(loaded.config.data.user_symbols, config.data.user_symbols);
    EXPECT_EQ(loaded.config.training.corpus_weights, config.training.corpus_weights);
    EXPECT_EQ(loaded.config.validation.attention_lines, config.validation.attention_lines);
    EXPECT_EQ(loaded.config.training.lr, config.training.lr);
    EXPECT_EQ(loaded.config.training.adam_epsilon, config.training.adam_epsilon);
    EXPECT_EQ(to_yaml(loaded.config, comments), yaml);
  }
}

TEST(ToYaml, WritesEveryOptionOnceBelowItsSection) {
  const std::string yaml = to_yaml(Config(), YamlComments::kNone);
  EXPECT_TRUE(yaml.starts_with("data:\n  dir: prepared\n  source_language: de\n")) << yaml;
  EXPECT_THAT(yaml, HasSubstr("\n\nmodel:\n  architecture: transformer\n"));
  EXPECT_THAT(yaml, HasSubstr("  encoder_blocks: null\n"));
  EXPECT_THAT(yaml, HasSubstr("  lr: 0.0003\n"));
  EXPECT_THAT(yaml, HasSubstr("  adam_epsilon: 1.0e-08\n"));
  EXPECT_THAT(yaml, HasSubstr("  metrics: [loss, bleu, chrf]\n"));
  EXPECT_THAT(yaml, HasSubstr("  eval1: \"\"\n"));
  EXPECT_THAT(to_yaml(Config(), YamlComments::kHelp),
              HasSubstr("  # decay of Adam's mean of gradients (at least 0 and below 1)\n  adam_beta1: 0.9\n"));
}

TEST(Differences, NameEveryOptionThatDiffers) {
  EXPECT_TRUE(differences(Config(), Config()).empty());
  std::vector<std::string> all;
  for (const Option& option : options()) all.push_back(option.key());
  EXPECT_EQ(keys_of(differences(Config(), all_different())), all);
}

TEST(Differences, SayWhatMayChangeOnResume) {
  Config before, after;
  after.model.dropout_rate = 0.25;
  after.model.decoder_blocks = 2;
  after.training.num_epochs = 30;
  after.validation.patience = 4;
  after.decoding.beam_size = 5;
  after.run.log_every = 7;
  after.run.seed = 2;
  const auto found = differences(before, after);
  ASSERT_THAT(keys_of(found), ElementsAre("model.decoder_blocks", "model.dropout_rate", "training.num_epochs",
                                          "validation.patience", "decoding.beam_size", "run.seed", "run.log_every"));
  EXPECT_EQ(found[0].before, "null");
  EXPECT_EQ(found[0].after, "2");
  EXPECT_EQ(found[1].before, "0.3");
  EXPECT_EQ(found[1].after, "0.25");
  const bool expected[] = {false, false, true, true, true, false, true};
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].may_change_on_resume, expected[i]) << found[i].key;
}

}  // namespace
}  // namespace nmt::schema_test
