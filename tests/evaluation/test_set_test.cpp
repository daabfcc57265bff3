#include "evaluation/test_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"
#include "training/captured_log.h"

namespace nmt::test_set_test {
namespace {

using test::message_of;
using testing::ElementsAre;

class TestSetTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  /// Plain files or others, of German and English, and what the log is told.
  TestSet read(const std::filesystem::path& source, const std::vector<std::filesystem::path>& references) {
    test::CapturedLog log;
    auto set = read_test_set({source, references.front(), "--source", "--reference"},
                             {references.begin() + 1, references.end()},
                             {.source_language = "de", .target_language = "en"}, log.log());
    log_ = log.text();
    return set;
  }
  std::vector<TestSet> configured(const DataConfig& data, TestSplit split) {
    test::CapturedLog log;
    return configured_test_sets(data, split, "run.yaml", log.log());
  }
  test::TemporaryDirectory folder_;
  std::string log_;
};

TEST_F(TestSetTest, ReadsSentencesAsTheyStand) {
  const auto source = write("s.de", "Ein Haus .\r\n\n  zwei  \n");
  const auto first = write("r1.en", "A house .\n\n two\n"), second = write("r2.en", "One house .\n-\ntwo");
  const auto set = read(source, {first, second});
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus .", "", "  zwei  "));
  ASSERT_EQ(set.references.size(), 2u);
  EXPECT_THAT(set.references[0], ElementsAre("A house .", "", " two"));
  EXPECT_THAT(set.references[1], ElementsAre("One house .", "-", "two"));
}

TEST_F(TestSetTest, ReadsIwsltXml) {
  const auto source = write("t.xml", "<srcset>\n<doc>\n<seg id=\"1\"> Ein Haus </seg>\n</doc>\n</srcset>\n");
  const auto reference = write("r.xml", "<refset>\n<title>x</title>\n<seg id=\"1\"> A house </seg>\n</refset>\n");
  const auto set = read(source, {reference});
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus"));
  EXPECT_THAT(set.references[0], ElementsAre("A house"));
}

TEST_F(TestSetTest, ReadsFilesThatHoldBothSides) {
  const auto file = write("t.jsonl", "{\"source\": \"Ein Haus .\", \"target\": \"A house .\"}\n");
  const auto copy = write("copy.json", "{\"de\": \"Ein Haus .\", \"en\": \"One house .\"}\n");
  const auto set = read(file, {file, copy, write("r.en", "House\n")});
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus ."));
  ASSERT_EQ(set.references.size(), 3u);
  EXPECT_THAT(set.references[0], ElementsAre("A house ."));
  EXPECT_THAT(set.references[1], ElementsAre("One house ."));
  EXPECT_THAT(set.references[2], ElementsAre("House"));
  const auto other = write("other.jsonl", "{\"source\": \"x\", \"target\": \"y\"}\n");
  EXPECT_EQ(message_of<Error>([&] {
              read(file, {file, other});
            }),
            "--reference " + other.string() + ": holds both sides, but its source 1 is not that of " + file.string());
  const auto tmx = write("t.xml",
                         "<tmx><tu><tuv xml:lang='en'><seg>A house .</seg></tuv><tuv xml:lang='de'><seg>Ein Haus "
                         ".</seg></tuv></tu><tu><tuv xml:lang='en'><seg>dog</seg></tuv></tu></tmx>");
  EXPECT_THAT(read(tmx, {tmx}).references[0], ElementsAre("A house ."));
  EXPECT_THAT(log_, testing::HasSubstr("left out are 1 units"));
}

// What nmt-prepro repairs by a configuration, nmt-eval repairs by it, too.
TEST_F(TestSetTest, ReadsTheConfiguredSetsAsTheConfigurationSays) {
  DataConfig data;
  data.test1 = write("e.de", "a\xe4\n"), data.test2 = write("e.en", "A\n");
  EXPECT_THAT(message_of<Error>([&] { configured(data, TestSplit::kTest); }), testing::HasSubstr("data.test1 "));
  data.repair_utf8 = true;
  EXPECT_THAT(configured(data, TestSplit::kTest).front().sources, ElementsAre("a\uFFFD"));
  data.test1 = data.test2 = write("e.tsv", "1\tHund\tdog\n");
  data.tsv_columns = {2, 3};
  EXPECT_THAT(configured(data, TestSplit::kTest).front().references[0], ElementsAre("dog"));
  data.source_language = "fr";
  data.test1 = data.test2 = write("l.jsonl", "{\"fr\": \"chien\", \"source\": \"web\", \"en\": \"dog\"}\n");
  EXPECT_THAT(configured(data, TestSplit::kTest).front().sources, ElementsAre("chien"));
}

// What a shell's <(...) names can be read once.
TEST_F(TestSetTest, ReadsAPipe) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "<srcset>\n<seg>Ein Haus .</seg>\n<seg>zwei</seg>\n</srcset>"; });
  const auto set = read(pipe, {write("r.en", "A house .\ntwo\n")});
  writer.join();
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus .", "zwei"));
}

TEST_F(TestSetTest, SaysWhatIsWrongWithATestSet) {
  const auto good = write("good", "a\nb\n"), shorter = write("short", "a\n"), empty = write("empty", "");
  const auto latin = write("latin", "a\nb\xe4\n");
  const auto path = [&](const char* name) { return (folder_ / name).string(); };
  EXPECT_EQ(message_of<Error>([&] { read(good, {shorter}); }),
            "--reference " + path("short") + ": 1 sentences, " + path("good") + " has 2; align the files");
  EXPECT_EQ(message_of<Error>([&] {
              read(good, {good, shorter});
            }),
            "--reference " + path("short") + ": 1 sentences, " + path("good") + " has 2; align the files");
  EXPECT_EQ(message_of<Error>([&] { read(empty, {empty}); }),
            "--source " + path("empty") + ": has no sentence; check the file");
  EXPECT_EQ(message_of<Error>([&] { read(good, {latin}); }),
            "--reference " + path("latin") + ":2: byte 2 (0xE4) is not UTF-8; correct or convert the file (iconv)");
  EXPECT_THAT(message_of<Error>([&] { read(folder_ / "none", {good}); }), testing::HasSubstr(path("none")));
}

TEST_F(TestSetTest, TakesTheConfiguredSets) {
  DataConfig data;
  data.eval1 = write("e.de", "a\n"), data.eval2 = write("e.en", "A\n");
  const auto only = configured(data, TestSplit::kValid);
  ASSERT_EQ(only.size(), 1u);
  EXPECT_EQ(only[0].name, "");
  EXPECT_THAT(only[0].references[0], ElementsAre("A"));
  EXPECT_EQ(message_of<Error>([&] { configured(data, TestSplit::kTest); }),
            "run.yaml: data.test1 and data.test2 are not set; set them or give --source and --reference");
  data.test = {{"one", data.eval1, data.eval2}, {"two", data.eval2, data.eval1}};
  const auto both = configured(data, TestSplit::kTest);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].name, "two");
  EXPECT_THAT(both[1].sources, ElementsAre("A"));
  data.test.clear();
  data.test1 = data.eval1;
  EXPECT_THROW(configured(data, TestSplit::kTest), Error) << "no reference";
}

TEST(RobustnessSets, ChangeSourcesAndReferencesAlike) {
  const TestSet set{.sources = {"Ein Haus.", "Das ist gut.", "ja"},
                    .references = {{"A house.", "That is good.", "yes"}, {"One house.", "Fine!", "Yes."}}};
  const auto sets = robustness_sets({set});
  std::vector<std::string> names;
  for (const auto& changed : sets) names.push_back(changed.name);
  ASSERT_THAT(names, ElementsAre("plain", "upper", "title", "typos", "no_end_mark", "joined"));
  EXPECT_EQ(sets[0].sources, set.sources);
  EXPECT_EQ(sets[0].references, set.references);
  EXPECT_THAT(sets[1].sources, ElementsAre("EIN HAUS.", "DAS IST GUT.", "JA"));
  EXPECT_THAT(sets[1].references[1], ElementsAre("ONE HOUSE.", "FINE!", "YES."));
  EXPECT_THAT(sets[2].references[0], ElementsAre("A House.", "That Is Good.", "Yes"));
  EXPECT_NE(sets[3].sources, set.sources);
  EXPECT_EQ(sets[3].references, set.references) << "typos are of the source alone";
  EXPECT_THAT(sets[4].sources, ElementsAre("Ein Haus", "Das ist gut", "ja"));
  EXPECT_THAT(sets[4].references[1], ElementsAre("One house", "Fine", "Yes"));
  EXPECT_THAT(sets[5].sources, ElementsAre("Ein Haus. Das ist gut.", "ja"));
  EXPECT_THAT(sets[5].references[0], ElementsAre("A house. That is good.", "yes"));
  auto named = set;
  named.name = "dev";
  EXPECT_EQ(robustness_sets({named, set})[1].name, "dev.upper");
  EXPECT_EQ(robustness_sets({named, set})[9].sources, sets[3].sources) << "the same typos each time";
}

}  // namespace
}  // namespace nmt::test_set_test
