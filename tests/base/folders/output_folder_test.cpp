#include "base/folders/output_folder.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files/faked_file_system.h"
#include "base/files/file.h"
#include "base/files/partial_name.h"
#include "base/folders/folder_tree.h"
#include "support.h"

namespace nmt::output_folder_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

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
  EXPECT_THAT(names_in(folder / "a"), ElementsAre("b"));
  { OutputFolder abandoned(folder / "c/"); }
  { OutputFolder abandoned(folder / "d/e/f"); }  // nor do the folders above it stay
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
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
  std::filesystem::create_directory_symlink("gone/disk", folder / "link");
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / "link/"); }),
              EndsWith("link: is a symbolic link to nothing (gone/disk); make that folder, or name another"));
  std::filesystem::create_directory_symlink("loop", folder / "loop");
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / "loop"); }),
              EndsWith("loop: cannot make the folder (Too many levels of symbolic links)"));
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / std::string(250, 'n')); }),
              HasSubstr("cannot make the folder (File name too long)"));
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / "link/below/it"); }),
              EndsWith("link: is a symbolic link to nothing (gone/disk); make that folder, or name another"));
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output(folder / "new/and" / std::string(300, 'n')); }),
              HasSubstr("cannot make the folder (File name too long)"));
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output("/proc/none/below"); }), HasSubstr("cannot make the folder"));
  EXPECT_THAT(message_of<Error>([&] { OutputFolder output("/proc"); }),
              EndsWith("/proc: is a mount point, which nothing can take the place of; name a folder in it"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("file", "link", "loop"));
}

void make(const std::filesystem::path& path, const std::string& text) {
  OutputFolder output(path);
  write(output.path() / "x", text);
  output.commit();
}

TEST(OutputFolder, ReplacesWhereNamesCannotBeExchanged) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  system.refuse_exchange();
  make(folder / "a", "one");
  make(folder / "a", "two");
  EXPECT_EQ(read_file(folder / "a/x"), "two");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

std::optional<std::string> first_name_in(const std::filesystem::path& folder) {
  const auto names = names_in(folder);
  return names.empty() ? std::nullopt : std::optional(names.front());
}

const char* const kLoss =
    "a: precious came there during the work and would be lost, so nothing was written; move it "
    "and start again, or name another folder";

TEST(OutputFolder, ReplacesNothingThatCameMeanwhile) {
  for (const bool stood_there : {false, true}) {
    const TemporaryDirectory folder;
    if (stood_there) std::filesystem::create_directory(folder / "a");
    {
      OutputFolder output(folder / "a", first_name_in);
      write(output.path() / "x", "new");
      std::filesystem::create_directory(folder / "a");
      write(folder / "a/precious", "mine");
      EXPECT_THAT(message_of<Error>([&] { output.commit(); }), EndsWith(kLoss));
    }
    EXPECT_EQ(read_file(folder / "a/precious"), "mine");
    EXPECT_THAT(names_in(folder / "a"), ElementsAre("precious"));
    EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
  }
}

// Between the look at the folder and the exchange: what comes in that moment goes back with the folder.
TEST(OutputFolder, PutsBackWhatCameAtTheLastMoment) {
  for (const bool exchanges : {true, false}) {
    const TemporaryDirectory folder;
    test::FakedFileSystem system;
    if (!exchanges) system.refuse_exchange();
    std::filesystem::create_directory(folder / "a");
    {
      OutputFolder output(folder / "a", [&](const std::filesystem::path& standing) {
        const auto name = first_name_in(standing);
        if (!name) write(standing / "precious", "mine");
        return name;
      });
      write(output.path() / "x", "new");
      EXPECT_THAT(message_of<Error>([&] { output.commit(); }), EndsWith(kLoss));
    }
    EXPECT_EQ(read_file(folder / "a/precious"), "mine") << exchanges;
    EXPECT_THAT(names_in(folder / "a"), ElementsAre("precious"));
    EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
  }
}

// Another program puts a folder of its own in the place while the old one lies aside.
TEST(OutputFolder, NeverRemovesWhatCannotGoBack) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  system.refuse_exchange();
  std::filesystem::create_directory(folder / "a");
  int looks = 0;
  std::filesystem::path kept;
  {
    OutputFolder output(folder / "a", [&](const std::filesystem::path& standing) -> std::optional<std::string> {
      if (++looks == 1) return std::nullopt;
      write(standing / "precious", "mine");
      kept = standing;
      std::filesystem::create_directory(folder / "a");
      write(folder / "a/theirs", "theirs");
      return "precious";
    });
    EXPECT_THAT(message_of<MachineError>([&] { output.commit(); }),
                HasSubstr("a: what stood there cannot be put back (Directory not empty); it is " + kept.string()));
  }
  make(folder / "a", "next");
  recover_output_folders(folder.path(), OtherWriters::kNone);
  EXPECT_EQ(read_file(kept / "precious"), "mine");
}

TEST(OutputFolder, ReplacesNoFileThatCameMeanwhile) {
  const TemporaryDirectory folder;
  OutputFolder output(folder / "a");
  write(folder / "a", "mine");
  EXPECT_THAT(message_of<Error>([&] { output.commit(); }), HasSubstr("a: a file came there during the work"));
  EXPECT_EQ(read_file(folder / "a"), "mine");
}

/// What a process that ends before one of its renames leaves of making `path`.
void make_and_end(const std::filesystem::path& path, const std::string& text, int rename, bool exchanges) {
  const pid_t child = ::fork();
  if (child == 0) {
    test::FakedFileSystem system;
    if (!exchanges) system.refuse_exchange();
    system.end_process_before_rename(rename);
    make(path, text);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

// The renames of a commit: the lock gets its name, the old folder goes aside, the new one comes, the old one goes where
// the new one was. After each there is the old folder or the new one, and no trace of the rest.
TEST(OutputFolder, FinishesOrUndoesWhatAKillCutOff) {
  for (const bool locks : {true, false})
    for (const bool exchanges : {false, true})
      for (int rename = 0; rename < 5; ++rename) {
        const TemporaryDirectory folder;
        make(folder / "a", "old");
        make_and_end(folder / "a", "new", rename, exchanges);
        test::FakedFileSystem system;
        if (!locks) system.refuse_locks(ENOLCK);
        recover_output_folders(folder.path(), OtherWriters::kNone);
        const bool is_done = exchanges ? rename > 0 : rename > 2;
        EXPECT_EQ(read_file(folder / "a/x"), is_done ? "new" : "old") << rename << exchanges << locks;
        if (rename > 0) {
          EXPECT_THAT(names_in(folder.path()), ElementsAre("a")) << rename << exchanges << locks;
        }
        make(folder / "a", "newer");
        EXPECT_EQ(read_file(folder / "a/x"), "newer");
      }
}

std::filesystem::path make_among_others(const std::filesystem::path& path, const std::string& text) {
  OutputFolder output(path);
  write(output.path() / "x", text);
  return output.commit_among_others({"x"});
}

/// The process ends before this rename.
void make_among_others_and_end(const std::filesystem::path& path, int rename, bool exchanges) {
  const pid_t child = ::fork();
  if (child == 0) {
    test::FakedFileSystem system;
    if (!exchanges) system.refuse_exchange();
    system.end_process_before_rename(rename);
    make_among_others(path, "new");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
}

// Killed between the renames; then somebody made a folder in the place, or moved what stood there.
TEST(OutputFolder, RemovesNoModelForAFolderThatIsNone) {
  const TemporaryDirectory folder;
  make(folder / "a", "old");
  write(folder / "a/precious", "mine");
  make_among_others_and_end(folder / "a", 3, false);
  ASSERT_FALSE(std::filesystem::exists(folder / "a"));
  std::filesystem::create_directory(folder / "a");
  EXPECT_EQ(recover_output_folders(folder.path(), OtherWriters::kNone).size(), 2u);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a", "a.kept-1", "a.kept-2"));
  EXPECT_EQ(read_file(folder / "a.kept-1/x"), "old");
  EXPECT_EQ(read_file(folder / "a.kept-1/precious"), "mine");
  EXPECT_EQ(read_file(folder / "a.kept-2/x"), "new");

  const TemporaryDirectory other;
  make(other / "a", "old");
  write(other / "a/precious", "mine");
  make_among_others_and_end(other / "a", 4, false);
  std::filesystem::rename(other / "a", other / "b");
  recover_output_folders(other.path(), OtherWriters::kNone);
  EXPECT_EQ(read_file(other / "a/precious"), "mine") << "it is back in its place";
}

// The renames are these, with the list of names as the second, and then that of what is moved. Wherever it ends, what
// is another's stands in the folder again.
TEST(OutputFolder, FinishesToHandOverWhatIsOfOthers) {
  for (const bool exchanges : {false, true})
    for (int rename = 0; rename < 8; ++rename) {
      SCOPED_TRACE(testing::Message() << rename << " " << exchanges);
      const TemporaryDirectory folder;
      make(folder / "a", "old");
      write(folder / "a/precious", "mine");
      make_among_others_and_end(folder / "a", rename, exchanges);
      recover_output_folders(folder.path(), OtherWriters::kNone);
      EXPECT_EQ(read_file(folder / "a/precious"), "mine");
      EXPECT_EQ(read_file(folder / "a/x"), (exchanges ? rename > 1 : rename > 3) ? "new" : "old");
      if (rename > 0) {
        EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
      }
      EXPECT_EQ(make_among_others(folder / "a", "newer"), "");
      EXPECT_THAT(names_in(folder / "a"), ElementsAre("precious", "x"));
    }
}

TEST(OutputFolder, TheNextOneFindsTheOldFolderAgain) {
  const TemporaryDirectory folder;
  make(folder / "a", "old");
  make_and_end(folder / "a", "new", 2, /*exchanges=*/false);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  { OutputFolder abandoned(folder / "a"); }
  EXPECT_EQ(read_file(folder / "a/x"), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

TEST(OutputFolder, SaysWhereNothingKeepsOthersAway) {
  const TemporaryDirectory folder;
  test::FakedFileSystem system;
  EXPECT_EQ(OutputFolder(folder / "a").lock_problem(), "");
  system.refuse_locks(ENOLCK);
  OutputFolder first(folder / "a");
  EXPECT_EQ(first.lock_problem(), "No locks available");
  OutputFolder second(folder / "a");  // which may be at work as well: neither takes the other for a leftover
  write(first.path() / "x", "first");
  write(second.path() / "x", "second");
  first.commit();
  second.commit();
  EXPECT_EQ(read_file(folder / "a/x"), "second");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("a"));
}

TEST(OutputFolder, TouchesNothingThatItDidNotMake) {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "other");
  write(folder / "other/notes", "mine");
  for (const char* name : {"a.partial", "a.abcdef.partial", "a.bcdefg.partial"})
    std::filesystem::create_directories(folder / name);
  write(folder / "a.partial/notes", "mine");
  write(folder / "a.abcdef.partial/notes", "mine");
  write(folder / "a.bcdefg.partial/nmt.lock", "not empty");
  std::filesystem::create_directory_symlink("other", folder / "a.cdefgh.partial");
  make(folder / "a", "new");
  recover_output_folders(folder.path(), OtherWriters::kNone);
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre("a", "a.abcdef.partial", "a.bcdefg.partial", "a.cdefgh.partial", "a.partial", "other"));
  for (const char* path : {"other/notes", "a.partial/notes", "a.abcdef.partial/notes"})
    EXPECT_EQ(read_file(folder / path), "mine") << path;
}

TEST(OutputFolder, AReplacedFolderHandsItsModeOn) {
  const TemporaryDirectory folder;
  make(folder / "a", "old");
  std::filesystem::permissions(folder / "a", std::filesystem::perms::owner_all);
  make(folder / "a", "new");
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions(), std::filesystem::perms::owner_all);
}

TEST(RecoverOutputFolders, RemovesWhatWasKilledBeforeItsLockHadItsName) {
  const TemporaryDirectory folder;
  const auto empty = make_partial_folder(folder / "a"), begun = make_partial_folder(folder / "b");
  make_partial_file(begun / "nmt.lock", 0600);
  const auto foreign = make_partial_folder(folder / "c");
  write(foreign / "x", "of somebody else");
  recover_output_folders(folder.path(), OtherWriters::kPossible);
  EXPECT_TRUE(std::filesystem::exists(empty) && std::filesystem::exists(begun)) << "they may be in the making";
  recover_output_folders(folder.path(), OtherWriters::kNone);
  EXPECT_FALSE(std::filesystem::exists(empty));
  EXPECT_FALSE(std::filesystem::exists(begun));
  EXPECT_TRUE(std::filesystem::exists(foreign / "x"));
}

// A link to another disk that has no exchange of names, killed between two renames, is a link to nothing.
TEST(RecoverOutputFolder, FollowsALinkToNothing) {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "disk");
  std::filesystem::create_directories(folder / "run");
  make(folder / "disk/best", "old");
  std::filesystem::create_directory_symlink("../disk/best", folder / "run/best");
  make_among_others_and_end(folder / "run/best", 3, false);
  ASSERT_FALSE(std::filesystem::exists(folder / "run/best"));
  recover_output_folders(folder / "run", OtherWriters::kNone);
  EXPECT_FALSE(std::filesystem::exists(folder / "run/best"));
  recover_output_folder(folder / "run/best", OtherWriters::kNone);
  EXPECT_EQ(read_file(folder / "run/best/x"), "old");
  EXPECT_THAT(names_in(folder / "disk"), ElementsAre("best"));
}

TEST(RemoveFolder, LeavesNothingUnderTheNameAtAnyMoment) {
  const TemporaryDirectory folder;
  make(folder / "a", "x");
  remove_folder(folder / "a");
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
  EXPECT_THAT(message_of<MachineError>([&] { remove_folder(folder / "a"); }), EndsWith("(No such file or directory)"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST(ForeignEntry, NamesWhatIsNotOnTheList) {
  const TemporaryDirectory folder;
  write(folder / "a", "x");
  EXPECT_EQ(foreign_entry(folder.path(), {"a", "b"}), std::nullopt);
  EXPECT_EQ(foreign_entry(folder.path(), {"b"}), "a");
  std::filesystem::create_directory(folder / "b");
  EXPECT_EQ(foreign_entry(folder.path(), {"a", "b"}), "b") << "a folder may hold anything";
}

TEST(ForeignEntry, LooksIntoTheFoldersOfTheList) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "b");
  write(folder / "b" / "c", "x");
  EXPECT_EQ(foreign_entry(folder.path(), {"b/c", "b/d"}), std::nullopt);
  EXPECT_EQ(foreign_entry(folder.path(), {"b/d"}), "b/c");
  EXPECT_EQ(foreign_entry(folder.path(), {"b-/c", "ba/c"}), "b");
  std::filesystem::create_directory_symlink(folder / "b", folder / "e");
  EXPECT_EQ(foreign_entry(folder.path(), {"b/c", "e/c"}), "e") << "a link may lead anywhere";
}

}  // namespace
}  // namespace nmt::output_folder_test
