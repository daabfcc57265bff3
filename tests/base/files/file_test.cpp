#include "base/files/file.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/error.h"
#include "support.h"

namespace nmt {
namespace {

using test::message_of;
using test::TemporaryDirectory;

size_t files_in(const TemporaryDirectory& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++count;
  return count;
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryDirectory folder;
  for (const auto& bytes : {std::string(), std::string("\0\xFF\r\n", 4), std::string(3000000, 'x')}) {
    write_file_atomically(folder / "bytes", bytes);
    EXPECT_EQ(read_file(folder / "bytes"), bytes);
  }
}

TEST(ReadFile, ReadsFilesWithoutASize) {
  // The kernel gives 0 as the size of this one.
  std::ifstream status("/proc/self/cmdline", std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(status), {}};
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(read_file("/proc/self/cmdline"), expected);
}

TEST(ReadFile, SaysWhatItCannotRead) {
  const TemporaryDirectory folder;
  EXPECT_EQ(message_of<Error>([&] { read_file(folder / "none"); }),
            (folder / "none").string() + ": cannot read (No such file or directory)");
  EXPECT_EQ(message_of<Error>([&] { read_file(folder.path()); }),
            folder.path().string() + ": is a folder; name a file");
}

TEST(AtomicFile, ShowsTheNewFileAtCommitOnly) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "old");
  AtomicFile file(folder / "file");
  EXPECT_EQ(file.position(), 0);
  file.write("new ");
  file.write(std::string_view("by\0tes", 6));
  EXPECT_EQ(file.position(), 10);
  EXPECT_EQ(read_file(folder / "file"), "old");
  file.commit();
  EXPECT_EQ(read_file(folder / "file"), std::string("new by\0tes", 10));
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "old");
  {
    AtomicFile file(folder / "file");
    file.write(std::string(1000000, 'x'));
    EXPECT_EQ(files_in(folder), 2u);
  }
  EXPECT_EQ(read_file(folder / "file"), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, WritesLargeFilesInSmallPieces) {
  const TemporaryDirectory folder;
  AtomicFile file(folder / "file");
  std::string expected;
  for (int i = 0; i < 100000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    file.write(line);
    expected += line;
  }
  file.commit();
  EXPECT_EQ(read_file(folder / "file"), expected);
}

TEST(AtomicFile, TakesANameWithoutAFolder) {
  const TemporaryDirectory folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_file_atomically("file", "text");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder / "file"), "text");
}

TEST(AtomicFile, ReplacesTheFileBehindASymbolicLink) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "old");
  std::filesystem::create_symlink("file", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "file"), "new");
}

TEST(AtomicFile, SaysWhereItCannotWrite) {
  const TemporaryDirectory folder;
  const std::string missing = (folder / "no").string();
  EXPECT_EQ(message_of<Error>([&] { AtomicFile(folder / "no/file"); }),
            missing + "/file: the folder " + missing + " does not exist; make it first");
  EXPECT_EQ(message_of<Error>([&] { AtomicFile file(folder.path()); }),
            folder.path().string() + ": is a folder; name a file");
  EXPECT_EQ(message_of<Error>([&] { AtomicFile(folder.path() / ""); }),
            folder.path().string() + "/: is a folder; name a file");
  EXPECT_EQ(message_of<Error>([] { AtomicFile("/dev/null"); }), "/dev/null: is a device or pipe; name a regular file");
  EXPECT_FALSE(std::filesystem::exists("/dev/null.partial"));
}

// The partial file is a link to /dev/full here, the device that answers every write with "no space left".
class FullDisk : public testing::TestWithParam<size_t> {};

TEST_P(FullDisk, IsAMachineErrorAndTheOldFileStays) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "the system has no /dev/full";
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "old");
  std::filesystem::create_symlink("/dev/full", folder / "file.partial");
  EXPECT_EQ(message_of<MachineError>([&] { write_file_atomically(folder / "file", std::string(GetParam(), 'x')); }),
            (folder / "file").string() + ": cannot write (No space left on device)");
  EXPECT_EQ(read_file(folder / "file"), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

// Shown by the flush of commit(), and by write() itself.
INSTANTIATE_TEST_SUITE_P(SmallAndLarge, FullDisk, testing::Values(1, 10 << 20));

TEST(AtomicFile, AFileOverTheLimitIsAMachineError) {
  const TemporaryDirectory folder;
  const auto overrun = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto message =
        message_of<MachineError>([&] { write_file_atomically(folder / "file", std::string(10000, 'x')); });
    std::exit(message == (folder / "file").string() + ": cannot write (File too large)" ? 0 : 1);
  };
  EXPECT_EXIT(overrun(), testing::ExitedWithCode(0), "");  // in a process of its own, which the limit dies with
}

TEST(SyncDirectory, NamesTheFolderItCannotSync) {
  const TemporaryDirectory folder;
  EXPECT_NO_THROW(sync_directory(folder.path()));
  EXPECT_EQ(message_of<MachineError>([&] { sync_directory(folder / "no"); }),
            (folder / "no").string() + ": cannot sync the folder (No such file or directory)");
}

}  // namespace
}  // namespace nmt
