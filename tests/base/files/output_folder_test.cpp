#include "base/files/output_folder.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using testing::EndsWith;
using testing::HasSubstr;

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST(OutputFolder, AppearsAtCommitOnly) {
  const TemporaryDirectory folder;
  const auto path = folder / "a/b";
  {
    OutputFolder output(path);
    write(output.path() / "x", "new");
    EXPECT_FALSE(std::filesystem::exists(path));
    output.commit();
    EXPECT_EQ(read_file(path / "x"), "new");
  }
  EXPECT_EQ(read_file(path / "x"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "a/b.partial"));
  { OutputFolder abandoned(folder / "c/"); }
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
  EXPECT_FALSE(std::filesystem::exists(folder / "c.partial"));
}

TEST(OutputFolder, ReplacesTheOldOne) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "a");
  write(folder / "a/old", "old");
  OutputFolder output(folder / "a");
  write(output.path() / "new", "new");
  EXPECT_TRUE(std::filesystem::exists(folder / "a/old"));
  output.commit();
  EXPECT_FALSE(std::filesystem::exists(folder / "a/old"));
  EXPECT_EQ(read_file(folder / "a/new"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(OutputFolder, KeepsASymbolicLink) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "disk");
  std::filesystem::create_directory_symlink(folder / "disk", folder / "link");
  OutputFolder output(folder / "link");
  write(output.path() / "x", "new");
  output.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "disk/x"), "new");
}

TEST(OutputFolder, IsForOneProgramAtATime) {
  const TemporaryDirectory folder;
  OutputFolder first(folder / "a");
  write(first.path() / "x", "first");
  EXPECT_THAT(message_of<Error>([&] { OutputFolder second(folder / "a"); }),
              EndsWith("a: another program is writing there; wait for its end"));
  EXPECT_EQ(read_file(first.path() / "x"), "first");
  first.commit();
  OutputFolder third(folder / "a");
}

TEST(OutputFolder, RefusesPlacesThatCannotBe) {
  const TemporaryDirectory folder;
  write(folder / "file", "x");
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / "file"); }),
              EndsWith("file: is a file; name a folder"));
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / "file/below"); }),
              HasSubstr("cannot make the folder"));
  EXPECT_EQ(read_file(folder / "file"), "x");
}

}  // namespace
}  // namespace nmt
