#include "base/process/user_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::user_files_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class CheckOutputsTest : public testing::Test {
 protected:
  CheckOutputsTest() { write_file_atomically(there_, "text\n"); }

  test::TemporaryDirectory folder_;
  fs::path there_ = folder_ / "there", missing_ = folder_ / "missing";
};

TEST_F(CheckOutputsTest, ANameEndsAtNoZeroByte) {
  const fs::path cut(std::string("a\0b", 3));
  EXPECT_THAT(
      [&] {
        check_outputs({}, {{"--output", cut}});
      },
      ThrowsMessage<Error>(HasSubstr("--output: a zero byte")));
  EXPECT_THAT([&] { check_outputs({{"--input", cut}}, {}); }, ThrowsMessage<Error>(HasSubstr("--input: a zero byte")));
}

TEST_F(CheckOutputsTest, AFolderIsMadeOrTheOptionIsNamed) {
  for (int times = 0; times < 2; ++times) make_folder("--attention-out", folder_ / "new" / "inner");
  EXPECT_TRUE(fs::is_directory(folder_ / "new" / "inner"));
  EXPECT_THAT([&] { make_folder("--attention-out", there_); },
              ThrowsMessage<Error>(HasSubstr("--attention-out " + there_.string() + ": cannot make the folder (")));
}

TEST_F(CheckOutputsTest, AnInputIsNoOutputWhateverItsName) {
  fs::create_symlink(there_, folder_ / "link");
  fs::create_hard_link(there_, folder_ / "other_name");
  fs::create_directory(folder_ / "inner");
  for (const auto& output :
       {there_, folder_ / "link", folder_ / "other_name", folder_ / "inner" / ".." / "there", fs::relative(there_)}) {
    EXPECT_THAT(
        [&] {
          check_outputs({{"--input", there_}}, {{"--output", output}});
        },
        ThrowsMessage<Error>("--output " + output.string() + ": is the same file as --input " + there_.string() +
                             "; name another one"));
  }
}

TEST_F(CheckOutputsTest, TwoOutputsAreNotOneFile) {
  fs::create_directory_symlink(folder_ / ".", folder_ / "here");
  for (const auto& other : {missing_, folder_ / "." / "missing", folder_ / "here" / "missing", fs::relative(missing_)})
    EXPECT_THAT(
        [&] {
          check_outputs({}, {{"--output", missing_}, {"--report", other}});
        },
        ThrowsMessage<Error>(HasSubstr("--report " + other.string() + ": is the same file as --output")));
}

TEST_F(CheckOutputsTest, AFileOfAModelIsNoOutput) {
  std::vector<UserFile> files;
  append_files_of_folder("--model", folder_.path(), files);
  EXPECT_THAT(
      [&] {
        check_outputs(files, {{"--output", there_}});
      },
      ThrowsMessage<Error>("--output " + there_.string() + ": is the same file as --model " + there_.string() +
                           "; name another one"));
  EXPECT_NO_THROW(check_outputs(files, {{"--output", missing_}}));
  const size_t before = files.size();
  append_files_of_folder("--model", missing_, files);
  append_files_of_folder("--model", there_, files);
  EXPECT_EQ(files.size(), before);
}

TEST_F(CheckOutputsTest, OtherFilesAndDevicesAndPipesAreNobodysLoss) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NO_THROW(check_outputs(
      {{"--input", there_}, {"--score", there_}, {"--glossary", ""}, {"", pipe}, {"", "/dev/null"}},
      {{"--output", missing_}, {"--report", folder_ / "more"}, {"", ""}, {"", ""}, {"", pipe}, {"", "/dev/null"}}));
}

TEST(LiesIn, KnowsAFolderByAnyName) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "a/b");
  std::ofstream(folder / "a/b/file") << "x";
  std::filesystem::create_directory_symlink(folder / "a", folder / "link");
  for (const char* outer : {"a", "a/", "link", "a/b/.."}) {
    for (const char* inner : {"a", "a/b", "link/b/file", "a/b/not there"})
      EXPECT_TRUE(lies_in(folder / inner, folder / outer)) << inner << " in " << outer;
    EXPECT_FALSE(lies_in(folder.path(), folder / outer)) << outer;
    EXPECT_FALSE(lies_in(folder / "ab", folder / outer)) << outer;
  }
  EXPECT_FALSE(lies_in(folder / "a", folder / "not there"));
}

}  // namespace
}  // namespace nmt::user_files_test
