#include "base/files/mapped_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::mapped_file_test {
namespace {

using test::message_of;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsTheBytes) {
  const test::TemporaryDirectory folder;
  for (const auto& bytes : {std::string("a\0b\n", 4), std::string(4096, 'x'), std::string(10001, 'y')}) {
    write_file_atomically(folder / "bytes", bytes);
    EXPECT_EQ(text_of(MappedFile(folder / "bytes")), bytes);
  }
}

TEST(MappedFile, OfNothingIsEmpty) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(MappedFile, KeepsTheOldBytesWhenTheFileIsReplaced) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "bytes", "old");
  const MappedFile file(folder / "bytes");
  write_file_atomically(folder / "bytes", "new bytes");
  EXPECT_EQ(text_of(file), "old");
}

TEST(MappedFile, KeepsWhatIsWrittenToACopyToItself) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "bytes", "as it was");
  const MappedFile file(folder / "bytes", MappedFile::Access::kCopyOnWrite);
  const_cast<std::byte&>(file.bytes()[0]) = std::byte{'X'};
  EXPECT_EQ(text_of(file), "Xs it was");
  EXPECT_EQ(read_file(folder / "bytes"), "as it was");
  file.release_pages();
  EXPECT_EQ(text_of(file), "as it was") << "read again";
}

void read_first(const MappedFile& file) {
  const volatile std::byte* first = file.bytes().data();
  [[maybe_unused]] const std::byte read = *first;
}

/// A mapped file of three pages of 'a', guarded.
struct GuardedFile {
  test::TemporaryDirectory folder;
  std::filesystem::path path = folder / "bytes";
  size_t size = 3 * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  MappedFile file = made();
  MappedFileGuard guard{file, path};

  MappedFile made() const {
    write_file_atomically(path, std::string(size, 'a'));
    return MappedFile(path);
  }
};
const std::string kChanged =
    ": was changed while it was read; start again, and replace a model by renaming another "
    "folder into its place";

TEST(MappedFileGuard, KeepsWhoReadsAliveWhenTheFileIsCutShort) {
  const GuardedFile guarded;
  EXPECT_NO_THROW(guarded.guard.check());
  std::filesystem::resize_file(guarded.path, 10);
  EXPECT_EQ(guarded.file.bytes()[guarded.size - 1], std::byte{0}) << "without a guard the program would be killed here";
  EXPECT_EQ(message_of<Error>([&] { guarded.guard.check(); }), guarded.path.string() + kChanged);
}

TEST(MappedFileGuard, RemembersAPageThatWasGoneForAMoment) {
  const GuardedFile guarded;
  const auto time = std::filesystem::last_write_time(guarded.path);
  std::filesystem::resize_file(guarded.path, 10);
  EXPECT_EQ(guarded.file.bytes()[guarded.size - 1], std::byte{0});
  std::filesystem::resize_file(guarded.path, guarded.size);
  std::filesystem::last_write_time(guarded.path, time);
  EXPECT_THROW(guarded.guard.check(), Error);
}

TEST(MappedFileGuard, NoticesWhoWritesIntoTheFile) {
  const GuardedFile guarded;
  std::filesystem::last_write_time(guarded.path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(message_of<Error>([&] { guarded.guard.check(); }), guarded.path.string() + kChanged);
}

TEST(MappedFileGuard, LetsAFileBeReplaced) {
  const GuardedFile guarded;
  write_file_atomically(guarded.path, "another");
  EXPECT_NO_THROW(guarded.guard.check());
  EXPECT_EQ(guarded.file.bytes()[guarded.size - 1], std::byte{'a'});
  std::filesystem::remove(guarded.path);
  EXPECT_NO_THROW(guarded.guard.check());
}

TEST(MappedFileGuardDeathTest, LeavesOtherFilesAlone) {
  const GuardedFile guarded;
  const auto other = guarded.folder / "other";
  write_file_atomically(other, std::string(guarded.size, 'b'));
  const MappedFile unguarded(other);
  std::filesystem::resize_file(other, 0);
  EXPECT_DEATH(read_first(unguarded), "");
}

TEST(MappedFileGuardDeathTest, LeavesNothingBehind) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "bytes", std::string(10, 'b'));
  const MappedFile file(folder / "bytes");
  { const MappedFileGuard guard(file, folder / "bytes"); }
  std::filesystem::resize_file(folder / "bytes", 0);
  EXPECT_DEATH(read_first(file), "");
}

struct sigaction handler_now() {
  struct sigaction now = {};
  ::sigaction(SIGBUS, nullptr, &now);
  return now;
}

struct sigaction before_theirs;  // what another part of the program found
void theirs(int signal, siginfo_t* info, void* context) {
  if ((before_theirs.sa_flags & SA_SIGINFO) != 0) return before_theirs.sa_sigaction(signal, info, context);
  ::_exit(3);
}
void install_theirs() {
  struct sigaction action = {};
  action.sa_sigaction = theirs;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, &before_theirs);
}
struct HandlerKept {  // for the tests that follow
  struct sigaction before = handler_now();
  ~HandlerKept() { ::sigaction(SIGBUS, &before, nullptr); }
};

TEST(MappedFileGuard, LeavesAHandlerThatWasInstalledMeanwhile) {
  const HandlerKept kept;
  {
    const GuardedFile guarded;
    install_theirs();
  }
  EXPECT_EQ(handler_now().sa_sigaction, &theirs);
}

TEST(MappedFileGuard, PutsBackTheHandlerThatItFound) {
  const HandlerKept kept;
  install_theirs();
  { const GuardedFile guarded; }
  EXPECT_EQ(handler_now().sa_sigaction, &theirs);
}

void read_soon(const MappedFile& file) {
  ::alarm(20);
  read_first(file);
}
/// Whether it ended by the signal, or by the handler of a sanitizer that stood there before; not by the alarm.
bool ends_as_without_guard(int status) {
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) != 0;
}

TEST(MappedFileGuardDeathTest, EndsWhereHandlersCallEachOther) {
  const HandlerKept kept;
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "other", "b");
  const MappedFile unguarded(folder / "other");
  {
    const GuardedFile first;
    install_theirs();  // it calls the guard's, and stays
  }
  const GuardedFile second;
  std::filesystem::resize_file(folder / "other", 0);
  EXPECT_EXIT(read_soon(unguarded), ends_as_without_guard, "");
}

TEST(MappedFileGuardDeathTest, LeavesNothingBehindWhereItsHandlerWasPutBack) {
  const HandlerKept kept;
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "other", "b");
  const MappedFile unguarded(folder / "other");
  {
    const GuardedFile first;
    install_theirs();
  }
  ::sigaction(SIGBUS, &before_theirs, nullptr);  // the guard's
  { const GuardedFile second; }
  std::filesystem::resize_file(folder / "other", 0);
  EXPECT_EXIT(read_soon(unguarded), ends_as_without_guard, "");
}

TEST(MappedFileDeathTest, ThatIsDetachedIsNotRead) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "bytes", "bytes");
  const MappedFile file(folder / "bytes");
  file.detach();
  std::filesystem::resize_file(folder / "bytes", 0);
  EXPECT_DEATH(read_first(file), "");
}

TEST(MappedFile, SaysWhatItCannotOpen) {
  const test::TemporaryDirectory folder;
  EXPECT_EQ(message_of<Error>([&] { MappedFile(folder / "none"); }),
            (folder / "none").string() + ": cannot read (No such file or directory)");
  EXPECT_EQ(message_of<Error>([&] { MappedFile{folder.path()}; }),
            folder.path().string() + ": is a folder; name a file");
  EXPECT_EQ(message_of<Error>([] { MappedFile("/dev/null"); }),
            "/dev/null: is a pipe or device; put a regular file there");
}

}  // namespace
}  // namespace nmt::mapped_file_test
