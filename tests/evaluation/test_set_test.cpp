#include "evaluation/test_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

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
  test::TemporaryDirectory folder_;
};

TEST_F(TestSetTest, ReadsSentencesAsTheyStand) {
  const auto source = write("s.de", "Ein Haus .\r\n\n  zwei  \n");
  const auto first = write("r1.en", "A house .\n\n two\n"), second = write("r2.en", "One house .\n-\ntwo");
  const auto set = read_test_set(source, {first, second});
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus .", "", "  zwei  "));
  ASSERT_EQ(set.references.size(), 2u);
  EXPECT_THAT(set.references[0], ElementsAre("A house .", "", " two"));
  EXPECT_THAT(set.references[1], ElementsAre("One house .", "-", "two"));
}

TEST_F(TestSetTest, ReadsIwsltXml) {
  const auto source = write("t.xml", "<srcset>\n<doc>\n<seg id=\"1\"> Ein Haus </seg>\n</doc>\n</srcset>\n");
  const auto reference = write("r.xml", "<refset>\n<title>x</title>\n<seg id=\"1\"> A house </seg>\n</refset>\n");
  const auto set = read_test_set(source, {reference});
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus"));
  EXPECT_THAT(set.references[0], ElementsAre("A house"));
}

// As of a shell's <(...): looking for its format took its lines.
TEST_F(TestSetTest, ReadsAPipe) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "Ein Haus .\nzwei\n"; });
  const auto set = read_test_set(pipe, {write("r.en", "A house .\ntwo\n")});
  writer.join();
  EXPECT_THAT(set.sources, ElementsAre("Ein Haus .", "zwei"));
}

TEST_F(TestSetTest, SaysWhatIsWrongWithATestSet) {
  const auto good = write("good", "a\nb\n"), shorter = write("short", "a\n"), empty = write("empty", "");
  const auto latin = write("latin", "a\nb\xe4\n");
  const auto path = [&](const char* name) { return (folder_ / name).string(); };
  EXPECT_EQ(message_of<Error>([&] { read_test_set(good, {}); }), path("good") + ": has no reference; give one");
  EXPECT_EQ(
      message_of<Error>([&] { read_test_set(good, {shorter}); }),
      path("short") + ": 1 sentences, " + path("good") + " has 2; sentence i must be the translation of sentence i");
  EXPECT_EQ(message_of<Error>([&] { read_test_set(empty, {empty}); }),
            path("empty") + ": has no sentence; check the file");
  EXPECT_EQ(message_of<Error>([&] { read_test_set(good, {latin}); }),
            path("latin") + ":2: byte 2 of the sentence is not UTF-8; convert the file (iconv -t UTF-8)");
  EXPECT_THAT(message_of<Error>([&] { read_test_set(folder_ / "none", {good}); }), testing::HasSubstr(path("none")));
}

TEST_F(TestSetTest, TakesTheConfiguredSets) {
  DataConfig data;
  data.eval1 = write("e.de", "a\n"), data.eval2 = write("e.en", "A\n");
  const auto only = configured_test_sets(data, TestSplit::kValid, "run.yaml");
  ASSERT_EQ(only.size(), 1u);
  EXPECT_EQ(only[0].name, "");
  EXPECT_THAT(only[0].references[0], ElementsAre("A"));
  EXPECT_EQ(message_of<Error>([&] { configured_test_sets(data, TestSplit::kTest, "run.yaml"); }),
            "run.yaml: data.test1 and data.test2 are not set; set them or give --source and --reference");
  data.test = {{"one", data.eval1, data.eval2}, {"two", data.eval2, data.eval1}};
  const auto both = configured_test_sets(data, TestSplit::kTest, "run.yaml");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].name, "two");
  EXPECT_THAT(both[1].sources, ElementsAre("A"));
  data.test.clear();
  data.test1 = data.eval1;
  EXPECT_THROW(configured_test_sets(data, TestSplit::kTest, "run.yaml"), Error) << "no reference";
}

}  // namespace
}  // namespace nmt::test_set_test
