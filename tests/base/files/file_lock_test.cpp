#include "base/files/file_lock.h"

#include <fcntl.h>

#include <cerrno>

#include "base/files/faked_file_system.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::file_lock_test {
namespace {

FileDescriptor opened(const std::filesystem::path& path) { return FileDescriptor(::open(path.c_str(), O_RDWR)); }

TEST(FileLock, IsHeldByOne) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "lock", "");
  {
    const FileLock first(opened(folder / "lock"));
    EXPECT_FALSE(first.is_busy());
    const FileLock second(opened(folder / "lock"));
    EXPECT_TRUE(second.is_busy());
    EXPECT_EQ(first.problem() + second.problem(), "");
  }
  EXPECT_FALSE(FileLock(opened(folder / "lock")).is_busy());
}

TEST(FileLock, NamesWhatKeepsAFileSystemFromLocking) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "lock", "");
  test::FakedFileSystem system;
  for (const auto& [reason, message] :
       {std::pair(ENOLCK, "No locks available"), std::pair(ENOSYS, "Function not implemented")}) {
    system.refuse_locks(reason);
    const FileLock lock(opened(folder / "lock"));
    EXPECT_FALSE(lock.is_busy()) << message;
    EXPECT_EQ(lock.problem(), message);
  }
}

}  // namespace
}  // namespace nmt::file_lock_test
