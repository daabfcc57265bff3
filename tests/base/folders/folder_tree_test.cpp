#include "base/folders/folder_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "base/folders/as_nobody.h"
#include "support.h"

namespace fs = std::filesystem;

namespace nmt::folder_tree_test {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

class HandOver : public testing::Test {
 protected:
  HandOver() {
    fs::create_directory(old_);
    fs::create_directory(heir_);
    write(old_ / "model", "old");
    write(heir_ / "model", "new");
  }
  fs::path hand_over() { return nmt::hand_over(old_, heir_, {"model", "sums"}); }

  TemporaryDirectory folder_;
  fs::path old_ = folder_ / "old", heir_ = folder_ / "best";
};

TEST_F(HandOver, MovesWhatIsNotOfTheseNames) {
  write(old_ / "notes", "mine");
  fs::create_directories(old_ / "export" / "tokens");
  write(old_ / "export" / "tokens" / "model", "mine too");
  fs::create_symlink("nowhere", old_ / "link");
  ASSERT_EQ(::mkfifo((old_ / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(::chmod((old_ / "export").c_str(), 02775), 0);
  EXPECT_EQ(hand_over(), "");
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("best"));
  EXPECT_THAT(names_in(heir_), ElementsAre("export", "link", "model", "notes", "pipe"));
  EXPECT_EQ(read_file(heir_ / "model"), "new");
  EXPECT_EQ(read_file(heir_ / "export" / "tokens" / "model"), "mine too");
  struct stat about;
  ASSERT_EQ(::stat((heir_ / "export").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 02775u);
}

TEST_F(HandOver, KeepsWhatCannotBeMoved) {
  write(heir_ / "notes", "newer");
  write(old_ / "notes", "mine");
  write(old_ / "more", "mine");
  fs::create_directory(folder_ / "best.kept-1");
  EXPECT_EQ(hand_over(), folder_ / "best.kept-2");
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("best", "best.kept-1", "best.kept-2"));
  EXPECT_THAT(names_in(folder_ / "best.kept-2"), ElementsAre("notes"));
  EXPECT_EQ(read_file(folder_ / "best.kept-2" / "notes"), "mine");
  EXPECT_EQ(read_file(heir_ / "notes"), "newer");
  EXPECT_EQ(read_file(heir_ / "more"), "mine");
}

TEST_F(HandOver, KeepsAFolderThatHasTheNameOfAFile) {
  fs::remove(old_ / "model");
  fs::create_directory(old_ / "model");
  write(old_ / "model" / "notes", "mine");
  EXPECT_EQ(hand_over(), folder_ / "best.kept-1");
  EXPECT_EQ(read_file(folder_ / "best.kept-1" / "model" / "notes"), "mine");
}

TEST_F(HandOver, LosesNothingThatComesMeanwhile) {
  const int descriptor = ::open(old_.c_str(), O_DIRECTORY | O_RDONLY);  // as a program has whose folder it is
  std::atomic<bool> ended = false;
  int made = 0;
  std::thread writer([&] {
    while (!ended) {
      const int file = ::openat(descriptor, std::to_string(made).c_str(), O_CREAT | O_WRONLY, 0600);
      if (file < 0) break;  // the folder is gone
      ::close(file);
      ++made;
    }
  });
  while (made == 0) std::this_thread::yield();
  const auto kept = hand_over();
  ended = true;
  writer.join();
  ::close(descriptor);
  EXPECT_EQ(kept, "");
  EXPECT_EQ(std::ssize(names_in(heir_)), made + 1);
}

TEST(HandOverOfNobody, PassesThroughItsOwnPermissions) {
  const test::AsNobody nobody;
  const TemporaryDirectory folder;
  const auto old = folder / "old", heir = folder / "best";
  fs::create_directories(old / "mine");
  fs::create_directory(heir);
  write(old / "mine" / "notes", "mine");
  for (const auto& path : {old / "mine", old, heir}) ASSERT_EQ(::chmod(path.c_str(), 0555), 0);
  EXPECT_EQ(hand_over(old, heir, {}), "");
  for (const auto& path : {heir / "mine", heir}) {
    struct stat about;
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0555u) << path;
  }
  EXPECT_EQ(read_file(heir / "mine" / "notes"), "mine");
  remove_tree(heir);
  EXPECT_FALSE(fs::exists(heir));
}

/// In a process of its own, with mounts that nobody else sees; 77: the system allows none.
int status_with_mount(const fs::path& from, const fs::path& to, const std::function<bool()>& holds) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool mounted = ::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0;
    ::_exit(!mounted ? 77 : holds() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// A volume in best/ was emptied.
TEST(Mounts, StayAsTheyAre) {
  const TemporaryDirectory folder;
  const auto volume = folder / "volume", old = folder / "old", heir = folder / "best";
  for (const auto& path : {volume, old / "inner" / "mounted", heir}) fs::create_directories(path);
  write(volume / "precious", "theirs");
  const int status = status_with_mount(volume, old / "inner" / "mounted", [&] {
    remove_tree(old);
    const bool stands = fs::exists(old / "inner" / "mounted" / "precious");
    fs::rename(old / "inner", heir / "inner");  // the folder around it can be moved
    return stands && has_mount_point(heir) && !has_mount_point(old);
  });
  if (status == 77) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(volume / "precious"), "theirs");
}

TEST(Mounts, AreNotHandedOver) {
  const TemporaryDirectory folder;
  const auto volume = folder / "volume", old = folder / "old", heir = folder / "best";
  for (const auto& path : {volume, old / "mounted", heir}) fs::create_directories(path);
  write(volume / "precious", "theirs");
  const int status = status_with_mount(volume, old / "mounted", [&] {
    return hand_over(old, heir, {}) == folder / "best.kept-1" &&
           fs::exists(folder / "best.kept-1" / "mounted" / "precious");
  });
  if (status == 77) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(volume / "precious"), "theirs");
}

}  // namespace
}  // namespace nmt::folder_tree_test
