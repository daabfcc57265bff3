#include "base/files/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files/faked_file_system.h"
#include "base/files/file_descriptor.h"
#include "support.h"

namespace nmt::file_test {
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

TEST(ReadFile, WaitsForTheWriterOfANamedPipe) {
  const TemporaryDirectory folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ofstream(pipe) << "late";
  });
  EXPECT_EQ(read_file(pipe), "late");
  writer.join();
}

TEST(ReadRegularFile, RefusesPipesAndDevicesWithoutWaiting) {
  const TemporaryDirectory folder;
  const auto pipe = folder / "pipe", file = folder / "file";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(file) << "text";
  EXPECT_EQ(read_regular_file(file, 4), "text");
  const auto error = [](const std::filesystem::path& path) {
    return message_of<Error>([&] { read_regular_file(path, 4); });
  };
  EXPECT_THAT(error(pipe), testing::HasSubstr("pipe: is a pipe or device; put a regular file there"));
  EXPECT_THAT(error("/dev/zero"), testing::HasSubstr("/dev/zero: is a pipe or device"));
  EXPECT_THAT(error(folder.path()), testing::HasSubstr("is a folder; name a file"));
  EXPECT_THAT(error(folder / "none"), testing::HasSubstr("none: cannot read (No such file"));
  for (const auto& path : {pipe, std::filesystem::path("/dev/null")})
    EXPECT_THAT(message_of<Error>([&] { open_regular_file(path, O_WRONLY | O_APPEND); }),
                testing::HasSubstr("is a pipe or device"));
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

TEST(ReadFile, HoldsToALimit) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "12345");
  EXPECT_EQ(read_file(folder / "file", 5), "12345");
  EXPECT_EQ(message_of<Error>([&] { read_file(folder / "file", 4); }),
            (folder / "file").string() + ": holds more than 4 bytes");
  EXPECT_EQ(message_of<Error>([&] { read_file("/dev/zero", 100'000); }), "/dev/zero: holds more than 100000 bytes");
}

TEST(ReadFile, SaysThatPatternsAreNotExpanded) {
  const std::string hint =
      ": cannot read (No such file or directory); ~ and * are not expanded here, write the whole name";
  for (const std::string name : {"~/none.de", "none*.de"})
    EXPECT_EQ(message_of<Error>([&] { read_file(name); }), name + hint);
}

// Before the work, not at its end: 241 letters are a name, but not with the ending of a file in the making.
TEST(AtomicFile, RefusesNamesThatAreTooLongAtOnce) {
  const TemporaryDirectory folder;
  for (const size_t letters : {241, 300}) {
    const auto path = folder / std::string(letters, 'n');
    EXPECT_EQ(message_of<Error>([&] { check_writable(path); }), path.string() + ": cannot write (File name too long)");
  }
  EXPECT_EQ(files_in(folder), 0u);
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
    EXPECT_EQ(files_in(folder), 1u) << "the new one has no name";
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
}

TEST(AtomicFile, WritesWhereFilesNeedANameToo) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  system.refuse_nameless_files();
  write_file_atomically(folder / "file", "old");
  {
    AtomicFile file(folder / "file");
    file.write("half");
    EXPECT_EQ(files_in(folder), 2u);
  }
  EXPECT_EQ(files_in(folder), 1u);
  AtomicFile file(folder / "file");
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file(folder / "file"), "new");
  EXPECT_EQ(files_in(folder), 1u);
}

// What stands under a name that could be meant for a file in the making is somebody else's.
TEST(AtomicFile, FollowsAndTakesNothingThatStandsThere) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "mine", "mine");
  std::filesystem::create_symlink("mine", folder / "file.partial");
  write_file_atomically(folder / "file", "new");
  EXPECT_EQ(read_file(folder / "file"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "file"));
  EXPECT_EQ(read_file(folder / "mine"), "mine");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "file.partial"));
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotMix) {
  const TemporaryDirectory folder;
  AtomicFile first(folder / "file"), second(folder / "file");
  first.write("first");
  second.write("second writes more");
  first.commit();
  EXPECT_EQ(read_file(folder / "file"), "first");
  second.commit();
  EXPECT_EQ(read_file(folder / "file"), "second writes more");
}

TEST(AtomicFile, ContinuesWhatWasKeptUnderItsKey) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  const auto path = folder / "file", kept = folder / "file.ab12.partial";
  for (const bool nameless : {true, false}) {
    if (!nameless) system.refuse_nameless_files();
    {
      AtomicFile file(path, "ab12");
      EXPECT_EQ(file.cut_to_lines(9), 0);
      file.write("one\ntwo\nthree\n");
      EXPECT_EQ(file.kept(), "");
      file.keep();
      EXPECT_EQ(file.kept(), kept);
      file.write("fo");
    }
    EXPECT_EQ(read_file(kept), "one\ntwo\nthree\nfo");
    EXPECT_EQ(files_in(folder), 1u);
    EXPECT_EQ(AtomicFile(path, "ffff").cut_to_lines(9), 0) << "of another work";
    {
      AtomicFile file(path, "ab12"), other(path, "ab12");
      EXPECT_EQ(other.cut_to_lines(9), 0) << "at the same time";
      other.write("other");
      other.keep();
      EXPECT_EQ(file.cut_to_lines(9), 3) << "no half line";
      EXPECT_EQ(file.cut_to_lines(2), 2);
      file.write("3\n");
      file.keep();
    }
    AtomicFile file(path, "ab12");
    EXPECT_EQ(file.position(), 10);
    file.write("4\n");
    file.commit();
    EXPECT_EQ(read_file(path), "one\ntwo\n3\n4\n");
    EXPECT_EQ(files_in(folder), 1u);
    std::filesystem::remove(path);
  }
}

// A name that can be foretold may be somebody's trap.
TEST(AtomicFile, ContinuesNoLinkAndNoFileOfTwoNames) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "mine", "mine\n");
  const auto kept = folder / "file.ab12.partial";
  const auto expect_left_alone = [&] {
    AtomicFile file(folder / "file", "ab12");
    EXPECT_EQ(file.cut_to_lines(9), 0);
    file.write("new\n");
    file.keep();
    file.commit();
    EXPECT_EQ(read_file(folder / "mine"), "mine\n");
    EXPECT_EQ(read_file(folder / "file"), "new\n");
  };
  std::filesystem::create_symlink("mine", kept);
  expect_left_alone();
  std::filesystem::remove(kept);
  std::filesystem::create_hard_link(folder / "mine", kept);
  expect_left_alone();
}

TEST(AtomicFile, AReplacedFileHandsItsModeOn) {
  const TemporaryDirectory folder;
  const auto mode_of = [&] { return static_cast<int>(std::filesystem::status(folder / "file").permissions()); };
  for (const int mode : {0600, 0666, 0640}) {
    write_file_atomically(folder / "file", "old");
    std::filesystem::permissions(folder / "file", static_cast<std::filesystem::perms>(mode));
    write_file_atomically(folder / "file", "new");
    EXPECT_EQ(mode_of(), mode);
  }
}

// On a file system of a few pages, in a process and a name space of its own. Exit code 77: the system allows neither.
void fill_a_disk(const std::filesystem::path& folder) {
  if (::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") != 0)
    std::exit(77);
  write_file_atomically(folder / "file", "old");
  const auto message =
      message_of<MachineError>([&] { write_file_atomically(folder / "file", std::string(200'000, 'x')); });
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++files;
  const bool is_right = message == (folder / "file").string() + ": cannot write (No space left on device)" &&
                        read_file(folder / "file") == "old" && files == 1;
  std::exit(is_right ? 0 : 1);
}

TEST(AtomicFile, AFullDiskIsAMachineErrorAndTheOldFileStays) {
  const TemporaryDirectory folder;
  const auto ended_well = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  };
  EXPECT_EXIT(fill_a_disk(folder.path()), ended_well, "");
}

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
}  // namespace nmt::file_test
