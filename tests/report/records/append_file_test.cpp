#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/files/file.h"
#include "report/records/metrics_writer.h"
#include "support.h"

namespace nmt::append_file_test {
namespace {

using testing::HasSubstr;

/// Files may not grow beyond so many bytes while this lives: a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST(AppendFile, GoesOnBehindWhatStandsThere) {
  const test::TemporaryDirectory folder;
  const auto path = folder.path() / "logs" / "a.txt";
  AppendFile(path).write("one\n");
  AppendFile file(path);
  EXPECT_EQ(file.size(), 4);
  file.write("two\n");
  EXPECT_EQ(file.size(), 8);
  EXPECT_EQ(read_file(path), "one\ntwo\n");
  file.truncate(4);
  file.write("three\n");
  EXPECT_EQ(read_file(path), "one\nthree\n");
}

TEST(AppendFile, LeavesNoHalfRecordWhereTheDiskIsFull) {
  const test::TemporaryDirectory folder;
  AppendFile file(folder / "a.txt");
  file.write("0123456789\n");
  {
    const FileSizeLimit limit(15);
    const auto message = test::message_of<MachineError>([&] { file.write("abcdefghij\n"); });
    EXPECT_THAT(message, HasSubstr("a.txt: cannot write (File too large)"));
  }
  EXPECT_EQ(read_file(folder / "a.txt"), "0123456789\n");
  file.write("more\n");
  EXPECT_EQ(read_file(folder / "a.txt"), "0123456789\nmore\n");
}

TEST(AppendFile, NamesTheFileThatCannotBeOpened) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "sub");
  EXPECT_THAT(test::message_of<MachineError>([&] { AppendFile(folder / "sub"); }),
              HasSubstr("sub: cannot write (Is a directory)"));
}

}  // namespace
}  // namespace nmt::append_file_test
