#include "base/folders/output_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/faked_file_system.h"
#include "base/files/file.h"
#include "base/files/partial_name.h"
#include "base/folders/as_nobody.h"
#include "support.h"

namespace fs = std::filesystem;

namespace nmt::output_folder_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// The files of the folders of these tests.
std::vector<std::string> own(const fs::path&) { return {"x", "inner/y"}; }

fs::path make(const fs::path& path, const std::string& text) {
  OutputFolder output(path, own);
  write(output.path() / "x", text);
  return output.commit();
}

TEST(OutputFolder, AppearsAtCommitOnly) {
  const TemporaryDirectory folder;
  const auto path = folder / "a/b";
  {
    OutputFolder output(path, own);
    write(output.path() / "x", "new");
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(output.commit(), "");
    EXPECT_THAT(names_in(folder / "a"), ElementsAre("b"));
  }
  EXPECT_EQ(read_file(path / "x"), "new");
  { OutputFolder abandoned(folder / "c/", own); }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

TEST(OutputFolder, ReplacesTheOldOne) {
  for (const bool exchanges : {true, false}) {
    const TemporaryDirectory folder;
    test::FakedFileSystem system;
    if (!exchanges) system.refuse_exchange();
    make(folder / "a", "old");
    fs::create_directory(folder / "a/inner");
    write(folder / "a/inner/y", "old");
    fs::permissions(folder / "a", fs::perms::owner_all);
    EXPECT_EQ(make(folder / "a", "new"), "");
    EXPECT_THAT(names_in(folder / "a"), ElementsAre("x"));
    EXPECT_EQ(read_file(folder / "a/x"), "new");
    EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_all);
    EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
  }
}

TEST(OutputFolder, KeepsASymbolicLink) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "disk");
  fs::create_directory_symlink(folder / "disk", folder / "link");
  make(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "disk/x"), "new");
}

TEST(OutputFolder, IsForOneProgramAtATime) {
  const TemporaryDirectory folder;
  OutputFolder first(folder / "a", own);
  write(first.path() / "x", "first");
  EXPECT_THAT(message_of<Error>([&] { OutputFolder second(folder / "a", own); }),
              EndsWith("a: another program is writing there; wait for its end"));
  make(folder / "b", "beside it");
  EXPECT_EQ(read_file(first.path() / "x"), "first");
  first.commit();
  OutputFolder third(folder / "a", own);
}

TEST(OutputFolder, RefusesPlacesThatCannotBe) {
  const TemporaryDirectory folder;
  const auto refusal = [&](const fs::path& place) { return message_of<Error>([&] { OutputFolder(place, own); }); };
  write(folder / "file", "x");
  EXPECT_THAT(refusal(folder / "file"), EndsWith("file: is a file; name a folder"));
  EXPECT_THAT(refusal(folder / "file/below"), HasSubstr("cannot make the folder"));
  EXPECT_EQ(read_file(folder / "file"), "x");
  fs::create_directory_symlink("gone/disk", folder / "link");
  EXPECT_THAT(refusal(folder / "link/"),
              EndsWith("link: is a symbolic link to nothing (gone/disk); make that folder, or name another"));
  EXPECT_THAT(refusal(folder / "link/below/it"), HasSubstr("cannot make the folder"));
  fs::create_directory_symlink("loop", folder / "loop");
  EXPECT_THAT(refusal(folder / "loop"), HasSubstr("loop: is a symbolic link to nothing (loop)"));
  EXPECT_THAT(refusal(folder / std::string(250, 'n')), HasSubstr("cannot make the folder (File name too long)"));
  EXPECT_THAT(refusal("/proc/none/below"), HasSubstr("cannot make the folder"));
  EXPECT_THAT(refusal("/proc"),
              EndsWith("/proc: is a mount point, which nothing can take the place of; name a folder in it"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("file", "link", "loop"));
}

TEST(OutputFolder, RefusesAFolderThatIsClosedToThisUser) {
  const test::AsNobody nobody;
  const TemporaryDirectory folder;
  make(folder / "a", "old");
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0555), 0);
  EXPECT_THAT(message_of<Error>([&] { OutputFolder(folder / "a", own); }),
              EndsWith("a: cannot be replaced (Permission denied); give this user the right to write to it, or name "
                       "another"));
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms(0555));
}

// Files, folders, links and pipes of others stay where they are, beside the files of the old folder.
TEST(OutputFolder, KeepsTheWholeFolderThatHasSomethingElse) {
  const std::vector<std::function<void(const fs::path&)>> kinds = {
      [](const fs::path& path) { write(path, "mine"); },
      [](const fs::path& path) { fs::create_directory(path); },
      [](const fs::path& path) { fs::create_symlink("nowhere", path); },
      [](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); },
  };
  for (const bool exchanges : {true, false})
    for (size_t i = 0; i < kinds.size(); ++i)
      for (const char* name : {"precious", "inner/precious"}) {
        SCOPED_TRACE(testing::Message() << exchanges << i << name);
        const TemporaryDirectory folder;
        test::FakedFileSystem system;
        if (!exchanges) system.refuse_exchange();
        make(folder / "a", "old");
        fs::create_directory(folder / "a.kept-1");
        fs::create_directory(folder / "a/inner");
        kinds[i](folder / "a" / name);
        EXPECT_EQ(make(folder / "a", "new"), folder / "a.kept-2");
        EXPECT_EQ(read_file(folder / "a/x"), "new");
        EXPECT_EQ(read_file(folder / "a.kept-2/x"), "old");
        EXPECT_TRUE(fs::exists(fs::symlink_status(folder / "a.kept-2" / name)));
        EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "a.kept-1", "a.kept-2"));
        EXPECT_EQ(make(folder / "a", "newer"), "");
      }
}

TEST(OutputFolder, KeepsWhatCameInAnEmptyPlace) {
  const TemporaryDirectory folder;
  for (const bool is_file : {true, false}) {
    OutputFolder output(folder / "a", [](const auto&) { return std::vector<std::string>(); });
    write(output.path() / "x", "new");
    if (!is_file) fs::create_directory(folder / "a");
    write(is_file ? folder / "a" : folder / "a/x", "mine");
    const auto kept = output.commit();
    EXPECT_EQ(read_file(is_file ? kept : kept / "x"), "mine");
    EXPECT_EQ(read_file(folder / "a/x"), "new");
    fs::remove_all(folder / "a");
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a.kept-1", "a.kept-2"));
}

// A program that works in the old folder may write there at any moment.
TEST(OutputFolder, DeletesNothingThatComesAtTheLastMoment) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  make(folder / "a", "old");
  const int descriptor = ::open((folder / "a").c_str(), O_DIRECTORY | O_RDONLY);
  system.before_unlink([&](int number, const std::string&) {
    if (number == 0) ::close(::openat(descriptor, "precious", O_CREAT | O_WRONLY, 0600));
  });
  EXPECT_EQ(make(folder / "a", "new"), "");
  ::close(descriptor);
  EXPECT_THAT(recover_output_folders(folder.path(), own), ElementsAre(folder / "a.kept-1"));
  EXPECT_THAT(names_in(folder / "a.kept-1"), ElementsAre("precious"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "a.kept-1"));
}

// Another program makes a folder in the place in the moment in which the old one is out of it.
TEST(OutputFolder, LosesNothingWhereThePlaceIsTaken) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  system.refuse_exchange();
  make(folder / "a", "old");
  OutputFolder output(folder / "a", own);
  system.before_rename([&](int number, const std::string&) {
    if (number != 3) return;
    fs::create_directory(folder / "a");
    write(folder / "a/theirs", "theirs");
  });
  EXPECT_THAT(message_of<MachineError>([&] { output.commit(); }),
              EndsWith("a: cannot be put in place (Directory not empty)"));
  EXPECT_EQ(read_file(folder / "a/theirs"), "theirs");
  EXPECT_EQ(read_file(folder / "a.kept-1/x"), "old");
}

/// What a process that ends before one of its renames, or while it deletes files, leaves of making `path`.
void make_and_end(const fs::path& path, const std::string& text, int rename, bool exchanges, int unlink = -1) {
  const pid_t child = ::fork();
  if (child == 0) {
    test::FakedFileSystem system;
    if (!exchanges) system.refuse_exchange();
    const auto end_before = [](int wanted) {
      return [wanted](int number, const std::string&) {
        if (number == wanted) ::_exit(0);
      };
    };
    system.before_rename(end_before(rename));
    system.before_unlink(end_before(unlink));
    make(path, text);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

// The renames of a commit: the new folder goes to where it is exchanged; where that cannot be, it goes back, the old
// folder goes aside, the new one comes, the old one goes to where it is deleted. After each there is the old folder or
// the new one, and no trace of the rest but for what is another's.
TEST(OutputFolder, FinishesOrUndoesWhatAKillCutOff) {
  for (const bool locks : {true, false})
    for (const bool exchanges : {false, true})
      for (const bool has_foreign : {false, true})
        for (int rename = 0; rename < 6 && (locks || !has_foreign); ++rename) {
          SCOPED_TRACE(testing::Message() << locks << exchanges << has_foreign << rename);
          const TemporaryDirectory folder;
          make(folder / "a", "old");
          if (has_foreign) write(folder / "a/precious", "mine");
          make_and_end(folder / "a", "new", rename, exchanges);
          test::FakedFileSystem system;
          if (!locks) system.refuse_locks(ENOLCK);
          recover_output_folders(folder.path(), own);
          const bool is_done = exchanges ? rename > 0 : rename > 3;
          EXPECT_EQ(read_file(folder / "a/x"), is_done ? "new" : "old");
          if (has_foreign) {
            EXPECT_EQ(read_file(folder / (is_done ? "a.kept-1" : "a") / "precious"), "mine");
          }
          const bool is_kept = has_foreign && is_done;
          EXPECT_EQ(names_in(folder.path()),
                    is_kept ? std::vector<std::string>({"a", "a.kept-1"}) : std::vector<std::string>{"a"});
          make(folder / "a", "newer");
          EXPECT_EQ(read_file(folder / "a/x"), "newer");
        }
}

// Killed while the old folder was out of its place; then somebody made a folder there.
TEST(OutputFolder, KeepsTheOldFolderWhereThePlaceIsTaken) {
  const TemporaryDirectory folder;
  make(folder / "a", "old");
  make_and_end(folder / "a", "new", 3, false);
  ASSERT_FALSE(fs::exists(folder / "a"));
  fs::create_directory(folder / "a");
  EXPECT_THAT(recover_output_folders(folder.path(), own), ElementsAre(folder / "a.kept-1"));
  EXPECT_EQ(read_file(folder / "a.kept-1/x"), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "a.kept-1"));
}

// The list of a model, whose checksums.json names the other files: it is the last that is deleted.
TEST(OutputFolder, FinishesToDelete) {
  const auto listed = [](const fs::path& replaced) {
    return fs::exists(replaced / "inner/y") ? own(replaced) : std::vector<std::string>();
  };
  for (const bool exchanges : {false, true})
    for (int unlink = 0; unlink < 3; ++unlink) {
      const TemporaryDirectory folder;
      make(folder / "a", "old");
      fs::create_directory(folder / "a/inner");
      write(folder / "a/inner/y", "names x");
      make_and_end(folder / "a", "new", -1, exchanges, unlink);
      EXPECT_EQ(read_file(folder / "a/x"), "new");
      EXPECT_THAT(recover_output_folders(folder.path(), listed), ElementsAre()) << unlink;
      EXPECT_THAT(names_in(folder.path()), ElementsAre("a")) << unlink;
    }
}

// A link to another disk that has no exchange of names, killed between two renames, is a link to nothing.
TEST(OutputFolder, TheNextOneFindsTheOldFolderAgain) {
  const TemporaryDirectory folder;
  fs::create_directories(folder / "disk");
  make(folder / "disk/best", "old");
  fs::create_directory_symlink("disk/best", folder / "best");
  for (const auto& place : {folder / "disk/best", folder / "best"}) {
    make_and_end(place, "new", 3, /*exchanges=*/false);
    EXPECT_FALSE(fs::exists(place));
    { OutputFolder abandoned(place, own); }
    EXPECT_EQ(read_file(place / "x"), "old");
    EXPECT_THAT(names_in(folder / "disk"), ElementsAre("best"));
  }
}

TEST(OutputFolder, SaysWhereNothingKeepsOthersAway) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  EXPECT_EQ(OutputFolder(folder / "a", own).lock_problem(), "");
  system.refuse_locks(ENOLCK);
  OutputFolder first(folder / "a", own);
  EXPECT_EQ(first.lock_problem(), "No locks available");
  OutputFolder second(folder / "a", own);  // which may be at work as well: neither takes the other for a leftover
  write(first.path() / "x", "first");
  write(second.path() / "x", "second");
  first.commit();
  second.commit();
  EXPECT_EQ(read_file(folder / "a/x"), "second");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

TEST(OutputFolder, TouchesNothingThatItDidNotMake) {
  const TemporaryDirectory folder;
  fs::create_directories(folder / "other");
  write(folder / "other/notes", "mine");
  for (const char* name : {"a.partial", "a.abcdef.partial", "a.bcdefg.partial"}) fs::create_directories(folder / name);
  write(folder / "a.partial/notes", "mine");
  write(folder / "a.abcdef.partial/notes", "mine");
  write(folder / "a.bcdefg.partial/nmt.lock", "in a folder that others may enter");
  fs::create_directory_symlink("other", folder / "a.cdefgh.partial");
  make(folder / "a", "new");
  recover_output_folders(folder.path(), own);
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre("a", "a.abcdef.partial", "a.bcdefg.partial", "a.cdefgh.partial", "a.partial", "other"));
  for (const char* path : {"other/notes", "a.partial/notes", "a.abcdef.partial/notes"})
    EXPECT_EQ(read_file(folder / path), "mine") << path;
}

TEST(OutputFolder, FollowsNoNameOutOfTheFolder) {
  const TemporaryDirectory folder;
  write(folder / "precious", "mine");
  const auto damaged = [&](const fs::path&) {
    return std::vector<std::string>{"../precious", "../../precious", (folder / "precious").string(), "x"};
  };
  for (const char* text : {"old", "new"}) {
    OutputFolder output(folder / "a", damaged);
    write(output.path() / "x", text);
    output.commit();
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "precious"));
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

TEST(OutputFolder, KeepsAFolderInWhichSomethingIsMounted) {
  const TemporaryDirectory folder;
  make(folder / "a", "old");
  for (const char* name : {"volume", "a/inner"}) fs::create_directory(folder / name);
  write(folder / "volume/y", "theirs");
  const int status = status_with_mount(folder / "volume", folder / "a/inner", [&] {
    return make(folder / "a", "new") == folder / "a.kept-1" && fs::exists(folder / "a.kept-1/inner/y");
  });
  if (status == 77) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(folder / "volume/y"), "theirs");
}

TEST(RecoverOutputFolders, RemovesWhatWasKilledBeforeItHadALock) {
  const TemporaryDirectory folder;
  const auto empty = make_partial_folder(folder / "a"), foreign = make_partial_folder(folder / "b");
  write(foreign / "x", "of somebody else");
  OutputFolder(folder / "a", own);
  EXPECT_TRUE(fs::exists(empty)) << "it may be in the making";
  recover_output_folders(folder.path(), own);
  EXPECT_FALSE(fs::exists(empty));
  EXPECT_TRUE(fs::exists(foreign / "x"));
}

TEST(RemoveFolder, LeavesNothingUnderTheNameAtAnyMoment) {
  const TemporaryDirectory folder;
  make(folder / "a", "x");
  EXPECT_EQ(remove_folder(folder / "a", own), "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
  EXPECT_THAT(message_of<MachineError>([&] { remove_folder(folder / "a", own); }),
              EndsWith("(No such file or directory)"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
  make(folder / "a", "x");
  write(folder / "a/precious", "mine");
  EXPECT_EQ(remove_folder(folder / "a", own), folder / "a.kept-1");
  EXPECT_THAT(names_in(folder / "a.kept-1"), ElementsAre("precious", "x"));
}

TEST(ForeignEntry, NamesWhatIsNotOnTheList) {
  const TemporaryDirectory folder;
  write(folder / "a", "x");
  EXPECT_EQ(foreign_entry(folder.path(), {"a", "b"}), std::nullopt);
  EXPECT_EQ(foreign_entry(folder.path(), {"b"}), "a");
  fs::create_directory(folder / "b");
  EXPECT_EQ(foreign_entry(folder.path(), {"a", "b"}), "b") << "a folder may hold anything";
}

TEST(ForeignEntry, LooksIntoTheFoldersOfTheList) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "b");
  write(folder / "b" / "c", "x");
  EXPECT_EQ(foreign_entry(folder.path(), {"b/c", "b/d"}), std::nullopt);
  EXPECT_EQ(foreign_entry(folder.path(), {"b/d"}), "b/c");
  EXPECT_EQ(foreign_entry(folder.path(), {"b-/c", "ba/c"}), "b");
  fs::create_directory_symlink(folder / "b", folder / "e");
  EXPECT_EQ(foreign_entry(folder.path(), {"b/c", "e/c"}), "e") << "a link may lead anywhere";
}

}  // namespace
}  // namespace nmt::output_folder_test
