#include "compat/result_files.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "config/loading/schema.h"
#include "support.h"
#include "training/captured_log.h"

namespace nmt::compat::result_files_test {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using Models = EvaluationObserver::Models;

// 1-grams 9/10, 2-grams 6/7, 3-grams 3/4, 4-grams 1/2. His scorer takes the "a" off both last lines: 1-grams 8/9,
// 2-grams 5/6.
const TranslatedText kText{.sources = {"x y z", "u", "v"},
                           .references = {"a b c d", "b b c d", "a a"},
                           .hypotheses = {"a b c a", "b b c d", "a a"}};

TEST(ResultFiles, Of2019AreTranslationsAndTheLineOfTheScorer) {
  const test::TemporaryDirectory folder;
  const double bleu = 100 * std::pow(8.0 / 9 * 5 / 6 * 3 / 4 * 1 / 2, 0.25);
  const auto file = write_kyubyong2019_results(folder.path(), "iwslt2016_E19L2.64", kText);
  EXPECT_NEAR(bleu, 72.60, 0.005);
  EXPECT_EQ(file, folder / "iwslt2016_E19L2.64B72.60");
  EXPECT_EQ(read_file(file), "a b c a\nb b c d\na a\nBLEU = 72.60, 88.9/83.3/75.0/50.0 (BP=1.000, ration=1.000)");
}

TEST(ResultFiles, Of2017AreTripletsAndBleuOfLongerSentences) {
  const test::TemporaryDirectory folder;
  const auto file = write_kyubyong2017_results(folder.path(), "model_epoch_18_gs_30654", kText);
  EXPECT_EQ(file, folder / "model_epoch_18_gs_30654");
  const auto text = read_file(file);
  EXPECT_THAT(text, testing::StartsWith("- source: x y z\n- expected: a b c d\n- got: a b c a\n\n- source: u\n"));
  // The first two pairs: 7/8, 5/6, 3/4, 1/2.
  const auto place = text.rfind("\n\nBleu Score = ");
  ASSERT_NE(place, std::string::npos);
  const auto figure = text.substr(place + 15);
  EXPECT_NEAR(std::stod(figure), 100 * std::pow(7.0 / 8 * 5 / 6 * 3 / 4 * 1 / 2, 0.25), 1e-9);
  EXPECT_GT(figure.size(), 12u) << "in full precision";
}

TEST(ResultFiles, Of2017WithoutALongSentenceAreZero) {
  const test::TemporaryDirectory folder;
  const auto file = write_kyubyong2017_results(folder.path(), "x", {{"s"}, {"a b c"}, {"a b c d"}});
  EXPECT_THAT(read_file(file), testing::EndsWith("Bleu Score = 0"));
}

class ResultFilesOfRuns : public testing::Test {
 protected:
  std::unique_ptr<EvaluationObserver> observer(const std::string& options) {
    run_ = parse_config("{run: {dir: " + (folder_ / "run").string() + ", " + options + "}}", "test").config;
    return make_result_files(run_, log_.log());
  }
  void write(const std::string& options, Models models = {"m"}) {
    for (auto& model : models) model = folder_ / model.string();
    observer(options)->on_result(models, "", kText);
  }
  void check(const std::string& options, const std::vector<Models>& systems) {
    observer(options)->on_start(systems, {""});
  }
  test::TemporaryDirectory folder_;
  test::CapturedLog log_;
  Config run_;
};

TEST_F(ResultFilesOfRuns, StandInTheRunOrInTheirOwnFolder) {
  const auto files_in = [](const fs::path& folder) { return std::distance(fs::directory_iterator(folder), {}); };
  write("naming: kyubyong2019");
  EXPECT_EQ(files_in(folder_ / "run" / "test"), 1);
  write("naming: kyubyong2019, testdir: " + (folder_ / "test" / "1").string());
  EXPECT_EQ(files_in(folder_ / "test" / "1"), 1);
  write("naming: kyubyong2017, testdir: " + (folder_ / "results").string());
  EXPECT_TRUE(fs::exists(folder_ / "results" / "m"));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "results"));
  EXPECT_EQ(observer("naming: plain"), nullptr);
}

TEST_F(ResultFilesOfRuns, OfASetWithANameHaveAFolderOfTheirOwn) {
  observer("naming: kyubyong2017")->on_result({folder_ / "m"}, "tst2014", kText);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "results" / "tst2014" / "m"));
}

TEST_F(ResultFilesOfRuns, DoNotReplaceEachOther) {
  for (const std::string naming : {"naming: kyubyong2019", "naming: kyubyong2017"}) {
    EXPECT_THAT(message_of<Error>([&] {
                  check(naming, {{"a/best"}, {"b/best"}});
                }),
                testing::MatchesRegex("--model b/best: its result file .* would be that of a/best; .*"));
    EXPECT_FALSE(fs::exists(folder_ / "run"));
    EXPECT_NO_THROW(check(naming, {{"a/one"}, {"b/two"}}));
    fs::remove_all(folder_ / "run");
  }
  EXPECT_EQ(log_.text(), "");
}

TEST_F(ResultFilesOfRuns, AreNoneOfAnEnsemble) {
  check("naming: kyubyong2017", {{"a/best", "b/best"}});
  EXPECT_THAT(log_.text(), testing::HasSubstr("an ensemble has no result file"));
  write("naming: kyubyong2017", {"a", "b"});
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(ResultFilesOfRuns, AreRefusedBeforeTheWorkWhereTheyCannotBeWritten) {
  const std::vector<Models> one = {{"a/best"}};
  write_file_atomically(folder_ / "file", "");
  const auto inside = (folder_ / "file" / "x").string();
  EXPECT_THAT(message_of<Error>([&] { check("naming: kyubyong2019, testdir: " + inside, one); }),
              testing::StartsWith("run.testdir " + inside + ": cannot make the folder"));
  fs::create_directories(folder_ / "results" / "best");
  const std::string folder = ", testdir: " + (folder_ / "results").string();
  EXPECT_THAT(message_of<Error>([&] { check("naming: kyubyong2017" + folder, one); }),
              testing::HasSubstr("is a folder"));
  EXPECT_NO_THROW(check("naming: kyubyong2019" + folder, one)) << "its name has a score behind it";
}

}  // namespace
}  // namespace nmt::compat::result_files_test
