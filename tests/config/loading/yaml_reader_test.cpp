#include "config/loading/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/schema.h"
#include "support.h"

namespace nmt::yaml_reader_test {
namespace {

using test::message_of;
using testing::ElementsAre;

TEST(BaseOfText, IsRefusedWhateverItNames) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "base.yaml", "run:\n  seed: 5\n");
  const std::string why = "base: stands in a configuration file only; what is stored is complete, leave it out";
  for (const auto& base :
       {(folder / "base.yaml").string(), std::string("/dev/zero"), std::string("none"), std::string("")})
    EXPECT_EQ(message_of<Error>([&] { parse_config("{run: {seed: 1}, \"base\": \"" + base + "\"}", "model.json"); }),
              "model.json:1: " + why);
  EXPECT_EQ(message_of<Error>([&] { parse_config("\nbase: [x]\n", (folder / "x.yaml").string()); }),
            (folder / "x.yaml").string() + ":2: " + why);
}

TEST(BaseOfFile, IsARegularFile) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "a.yaml";
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& base : {folder / "pipe", std::filesystem::path("/dev/zero"), folder / "."}) {
    write_file_atomically(file, "base: " + base.string() + "\n");
    EXPECT_EQ(message_of<Error>([&] { load_config(file); }),
              file.string() + ":1: base: " + base.lexically_normal().string() + " is no regular file; name one");
  }
  // A name that the system does not take at all.
  const std::string endless(5000, 'x');
  write_file_atomically(file, "base: " + endless + "\n");
  EXPECT_EQ(message_of<Error>([&] { load_config(file); }),
            file.string() + ":1: base: no such file " + (folder / endless).string() +
                "; presets are student, small_text, medium_text, large_text");
}

TEST(LoadedConfig, NamesTheFilesThatWereRead) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "grand.yaml", "run:\n  seed: 5\n");
  write_file_atomically(folder / "parent.yaml", "base: grand.yaml\n");
  write_file_atomically(folder / "child.yaml", "base: parent.yaml\n");
  EXPECT_THAT(load_config(folder / "child.yaml").files,
              ElementsAre(folder / "child.yaml", folder / "parent.yaml", folder / "grand.yaml"));
  EXPECT_TRUE(parse_config("{}", "f.yaml").files.empty());
}

TEST(SettingValues, AreOneEach) {
  const std::string more = ": more than one value; put all of a text in quotes, all of a list in [ ]";
  const std::pair<std::string, std::string> mistakes[] = {
      {"data.train1=[a, b], c", more},
      {"data.train1=[a, b] c", more},
      {"run.dir='x'y", more},
      {"run.dir=\"x\" y", more},
      {"training.corpus_weights=[1], 2", more},
      {"run.dir='x", ": not YAML: illegal EOF in scalar"},
      {"data.train1=" + std::string(2000, '['), ": not YAML for a configuration: nested too deep"},
  };
  for (const auto& [setting, why] : mistakes)
    EXPECT_THAT(message_of<Error>([&] { parse_config("", "f", {setting}); }), testing::EndsWith(why)) << setting;
  const auto data =
      parse_config("", "f", {"data.train1=[a, b] # two", "data.train2=[x, y]", "data.train_tsv=a, b], c"}).config.data;
  EXPECT_THAT(data.train1, ElementsAre("a", "b"));
  EXPECT_THAT(data.train_tsv, ElementsAre("a, b], c"));
}

TEST(PlainSettings, AreTakenAsTheyStand) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "a.yaml";
  write_file_atomically(file, "run:\n  dir: file\n");
  for (const std::string name : {"yes", "~", "1", "[x]", "a: b", "'x'y", "\"", "# no", "&a", "!t u", "null"}) {
    const auto run = load_config(file, {"run.dir=set"}, {{"--run-dir", "run.dir", name}}).config;
    EXPECT_EQ(run.run.dir, name);
    EXPECT_EQ(parse_config(to_yaml(run), "again").config.run.dir, name) << "and in the run's own configuration";
  }
  const std::pair<PlainSetting, std::string> mistakes[] = {
      {{"--run-dir", "run.dir", ""}, "--run-dir : run.dir: must not be empty"},
      {{"--run-dir", "run.dir", "a\nb"}, "--run-dir a?b: run.dir: 'a?b' holds a control character"},
      {{"--run-dir", "run.dir", "\xFF"}, "--run-dir: not UTF-8 text; name another one"},
      {{"--device", "run.device", "gpu"},
       "--device gpu: run.device: 'gpu' is not allowed; it must be auto, cpu, cuda or cuda:N"},
  };
  for (const auto& [setting, message] : mistakes)
    EXPECT_EQ(message_of<Error>([&] { load_config(file, {}, {setting}); }), message);
}

TEST(Yaml, HasLineEndsAndABearableDepth) {
  const std::string ends = "a line ends with CR alone; save the file with line ends LF";
  const std::pair<std::string, std::string> mistakes[] = {
      {"training:\r  lr: 0.1\r", "f:1: " + ends},
      {"# a comment\r\ntraining:\r  lr: 0.1", "f:2: " + ends},
      {"# a comment\rtraining:\r  lr: 0.1\n", "f:1: " + ends},
      {"run: {dir: " + std::string(200000, '['), "f:1: not YAML for a configuration: nested too deep"},
  };
  for (const auto& [yaml, message] : mistakes) EXPECT_EQ(message_of<Error>([&] { parse_config(yaml, "f"); }), message);
  EXPECT_EQ(parse_config("training:\r\n  lr: 0.5\r\n", "f").config.training.lr, 0.5);
}

}  // namespace
}  // namespace nmt::yaml_reader_test
