#include "data/preparation/data_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::data_folder_test {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class DataFolderTest : public test::PrepareFixture {
 protected:
  std::string message() {
    return message_of<Error>([&] { prepare(); });
  }
  std::string message_of_overwrite() {
    return message_of<Error>([&] { overwrite(); });
  }
  /// A file in data.dir.
  fs::path place(const std::string& name) const { return fs::path(config_.data.dir) / name; }
  fs::path put(const std::string& name, const std::string& text) const {
    fs::create_directories(place(name).parent_path());
    std::ofstream(place(name), std::ios::binary) << text;
    return place(name);
  }
  static std::string lost(const std::string& input, const std::string& folder) {
    return input + ": lies in data.dir " + folder + ", which is replaced as a whole; move the file out of it, or set " +
           "another data.dir";
  }
};

TEST_F(DataFolderTest, FilesWithoutAManifestMayBeAnybodys) {
  for (const char* name : {"spm.model", "train.bin", "source.vocab", "shortlist.bin"}) {
    fs::remove_all(config_.data.dir);
    put(name, "mine");
    EXPECT_EQ(message(), "data.dir " + config_.data.dir + ": holds " + name +
                             " but no manifest.json, so nmt-prepro may not have made it; move it away, set another "
                             "data.dir, or replace it with --overwrite");
    EXPECT_EQ(read_file(place(name)), "mine");
  }
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  fs::remove_all(config_.data.dir);
  fs::create_directories(config_.data.dir);
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kWritten) << "an empty folder holds nothing to lose";
}

// With several validation sets the names of files are those of the configuration, where the manifest tells none.
TEST_F(DataFolderTest, ADamagedManifestOfSeveralSetsIsOverwritten) {
  config_.data.eval = {{"a", path("valid.de"), path("valid.en")}, {"b", path("test.de"), path("test.en")}};
  config_.data.eval1.clear(), config_.data.eval2.clear();
  config_.data.test = {{"c", path("test.de"), path("test.en")}, {"d", path("valid.de"), path("valid.en")}};
  config_.data.test1.clear(), config_.data.test2.clear();
  prepare();
  put("manifest.json", "{");
  EXPECT_THAT(message(), HasSubstr("damaged; run nmt-prepro again with --overwrite"));
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
}

TEST_F(DataFolderTest, SaysThatDataAreMadeAgainOnlyWhereTheyAre) {
  prepare();
  config_.data.vocab_size = 140;
  const auto notes = put("notes.txt", "mine");
  EXPECT_THAT(message_of_overwrite(), HasSubstr("holds notes.txt"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("is made again")));
  fs::remove(notes);
  overwrite();
  EXPECT_THAT(log_.str(), HasSubstr("is made again: data.vocab_size: 150 -> 140"));
}

TEST_F(DataFolderTest, WhatCameDuringTheRunIsKept) {
  for (const auto when : {Overwrite::kRefuse, Overwrite::kReplace}) {
    fs::remove_all(config_.data.dir);
    if (when == Overwrite::kReplace) {
      prepare();
      config_.data.vocab_size = 140;
    }
    int asked = 0;
    const auto come = [&] {
      if (++asked == 3) put("precious.txt", "mine");
      return false;
    };
    const fs::path kept = fs::weakly_canonical(path("out")) / "prepared.kept-1";
    fs::remove_all(kept);
    EXPECT_EQ(prepare({.overwrite = when, .should_stop = come}).outcome, PrepareOutcome::kWritten);
    EXPECT_THAT(log_.str(), HasSubstr(kept.string() + ": the folder that was replaced; it is kept"));
    EXPECT_EQ(read_file(kept / "precious.txt"), "mine");
    EXPECT_EQ(fs::exists(kept / "manifest.json"), when == Overwrite::kReplace);
    EXPECT_FALSE(fs::exists(place("precious.txt")));
  }
}

TEST_F(DataFolderTest, AManifestThatIsAPipeIsNotWaitedFor) {
  fs::create_directories(config_.data.dir);
  ASSERT_EQ(::mkfifo(place("manifest.json").c_str(), 0600), 0);
  const std::string refusal =
      place("manifest.json").string() + ": is not a regular file; move it, or set another data.dir";
  EXPECT_EQ(message(), refusal);
  EXPECT_THAT(message_of_overwrite(), HasSubstr("holds manifest.json, which nmt-prepro did not make"));
  EXPECT_EQ(message_of<Error>([&] { open_prepared_data(config_); }), refusal);
}

TEST_F(DataFolderTest, AnInputInTheFolderIsNeverReplaced) {
  const std::string text = lines("de", 0, 300);
  config_.data.train1 = {put("train.bin", text).string()};
  const std::string expected = lost("data.train1 " + config_.data.train1[0], config_.data.dir);
  EXPECT_EQ(message(), expected);
  EXPECT_EQ(message_of_overwrite(), expected);
  fs::create_directory_symlink(config_.data.dir, path("link"));
  config_.data.train1 = {path("link/train.bin")};
  EXPECT_EQ(message_of_overwrite(), lost("data.train1 " + path("link/train.bin"), config_.data.dir));
  EXPECT_EQ(read_file(place("train.bin")), text);
}

TEST_F(DataFolderTest, EachKindOfInputIsLookedAt) {
  prepare();
  const auto before = output();
  config_.data.vocab_size = 140;  // the data is to be made again
  const auto expect_refusal = [&](const std::string& option, std::string& value, const std::string& name) {
    const std::string old = std::exchange(value, place(name).string());
    EXPECT_EQ(message_of_overwrite(), lost(option + " " + value, config_.data.dir));
    EXPECT_EQ(output(), before);
    value = old;
  };
  expect_refusal("data.eval2", config_.data.eval2, "spm.vocab");
  expect_refusal("data.test1", config_.data.test1, "spm.vocab");
  expect_refusal("model.word_vectors2", config_.model.word_vectors2, "spm.vocab");
  expect_refusal("data.spm_model1", config_.data.spm_model1, "valid.bin");
  EXPECT_EQ(
      message_of<Error>([&] { prepare({.overwrite = Overwrite::kReplace, .config_files = {place("spm.vocab")}}); }),
      lost("--config " + place("spm.vocab").string(), config_.data.dir));
}

TEST_F(DataFolderTest, AReadyModelMayBeTheFileThatIsWrittenAgain) {
  prepare();
  const auto model = read_file(place("spm.model"));
  config_.data.spm_model1 = place("spm.model").string();
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_EQ(read_file(place("spm.model")), model);
  config_.data.joint_vocabulary = false;
  config_.data.spm_model2 = config_.data.spm_model1;
  EXPECT_EQ(message_of_overwrite(), lost("data.spm_model1 " + config_.data.spm_model1, config_.data.dir));
}

TEST_F(DataFolderTest, AReadyVocabularyMayBeTheFileThatIsWrittenAgain) {
  config_.data.tokenizer = TokenizerKind::kWords;
  config_.data.joint_vocabulary = false;
  config_.data.source_language = "de", config_.data.target_language = "en";
  prepare();
  const auto words = read_file(place("en.vocab.tsv"));
  config_.data.vocabulary1 = place("de.vocab.tsv").string();
  config_.data.vocabulary2 = place("en.vocab.tsv").string();
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_EQ(read_file(place("en.vocab.tsv")), words);
  put("manifest.json", "{");
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten) << "the names of the vocabularies are known without it";
  std::swap(config_.data.vocabulary1, config_.data.vocabulary2);
  EXPECT_THAT(message_of_overwrite(), StartsWith("data.vocabulary1 " + place("en.vocab.tsv").string() + ": lies in"));
}

TEST_F(DataFolderTest, AManifestThatLacksSomethingIsDamaged) {
  prepare();
  const auto whole = nlohmann::json::parse(read_file(place("manifest.json")));
  const std::string damaged = place("manifest.json").string() + ": damaged; run nmt-prepro again with --overwrite";
  for (const std::string list : {"inputs", "splits", "cleaning"})
    for (const bool all : {false, true}) {
      auto record = whole;
      all ? record[list].clear() : record[list].erase(record[list].size() - 1);
      put("manifest.json", record.dump());
      EXPECT_EQ(message(), damaged) << list << all;
      if (list == "inputs") {
        EXPECT_NO_THROW(open_prepared_data(config_)) << "training does not read them";
      } else {
        EXPECT_EQ(message_of<Error>([&] { open_prepared_data(config_); }), damaged) << list << all;
      }
      EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten) << list << all;
      EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate) << list << all;
    }
}

}  // namespace
}  // namespace nmt::data_folder_test
