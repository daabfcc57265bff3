#include "training/checkpoints/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/files/file.h"
#include "base/folders/as_nobody.h"
#include "support.h"
#include "training/captured_log.h"

namespace fs = std::filesystem;

namespace nmt::checkpoint_test {
namespace {

using test::CapturedLog;
using test::message_of;
using test::TemporaryDirectory;

DirectoryWriter writer(const std::string& text) {
  return [text](const fs::path& folder) {
    write_file_atomically(folder / "weights", text);
    write_file_atomically(folder / "state", "state of " + text);
  };
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(WriteDirectory, MakesItWithChecksums) {
  const TemporaryDirectory folder;
  write_directory(folder / "made", writer("one"));
  EXPECT_THAT(names_in(folder / "made"), testing::ElementsAre("checksums.json", "state", "weights"));
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("made"));
  EXPECT_THAT(files_of_directory(folder / "made"), testing::ElementsAre("state", "weights", "checksums.json"))
      << "the list goes last: a kill leaves files that are known";
  EXPECT_EQ(damage_of(folder / "made"), std::nullopt);
  EXPECT_THAT(read_file(folder / "made" / "checksums.json"), testing::HasSubstr(sha256_of_bytes("one")));
}

TEST(WriteDirectory, ReplacesWhatStandsThere) {
  const TemporaryDirectory folder;
  write_directory(folder / "made", [](const fs::path& path) { write_file_atomically(path / "old file", "x"); });
  write_directory(folder / "made", writer("two"));
  EXPECT_THAT(names_in(folder / "made"), testing::ElementsAre("checksums.json", "state", "weights"));
  EXPECT_EQ(read_file(folder / "made" / "weights"), "two");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("made"));
}

TEST(WriteDirectory, KeepsTheFolderThatOthersHavePutSomethingInto) {
  const TemporaryDirectory folder;
  write_directory(folder / "made", writer("one"));
  write_file_atomically(folder / "made" / "test.hyp", "mine");
  EXPECT_EQ(damage_of(folder / "made"), std::nullopt) << "it is none of ours";
  EXPECT_EQ(write_directory(folder / "made", writer("two")), folder / "made.kept-1");
  EXPECT_THAT(names_in(folder / "made"), testing::ElementsAre("checksums.json", "state", "weights"));
  EXPECT_EQ(read_file(folder / "made.kept-1" / "test.hyp"), "mine");
  EXPECT_EQ(read_file(folder / "made.kept-1" / "weights"), "one");
}

TEST(WriteDirectory, KeepsAFolderWhoseListIsDamaged) {
  for (const auto& damage : std::vector<std::function<void(const fs::path&)>>{
           [](const fs::path& sums) { write_file_atomically(sums, "{"); },
           [](const fs::path& sums) { fs::remove(sums); },
           [](const fs::path& sums) {
             fs::remove(sums);
             ASSERT_EQ(::mkfifo(sums.c_str(), 0600), 0);  // which nobody waits for
           }}) {
    const TemporaryDirectory folder;
    write_directory(folder / "made", writer("one"));
    damage(folder / "made" / "checksums.json");
    EXPECT_EQ(write_directory(folder / "made", writer("two")), folder / "made.kept-1");
    EXPECT_EQ(read_file(folder / "made.kept-1" / "weights"), "one");
  }
}

TEST(WriteDirectory, LeavesTheOldOneWhenItFails) {
  const TemporaryDirectory folder;
  write_directory(folder / "made", writer("one"));
  const auto failing = [](const fs::path& path) {
    write_file_atomically(path / "weights", "half");
    throw MachineError("disk full");
  };
  EXPECT_EQ(message_of<MachineError>([&] { write_directory(folder / "made", failing); }), "disk full");
  EXPECT_EQ(message_of<MachineError>([&] { write_directory(folder / "new", failing); }), "disk full");
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("made")) << "nothing is left of the attempts";
  EXPECT_EQ(read_file(folder / "made" / "weights"), "one");
  EXPECT_EQ(damage_of(folder / "made"), std::nullopt);
}

TEST(WriteDirectory, SaysWhichFolderCannotBeMade) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "x");
  const auto inside = folder / "file/made";
  EXPECT_THAT(message_of<Error>([&] { write_directory(inside, writer("one")); }),
              testing::AllOf(testing::StartsWith((folder / "file").string() + ": cannot make the folder ("),
                             testing::Not(testing::HasSubstr("\n"))));
}

TEST(DamageOf, NamesTheFile) {
  struct Case {
    const char* what;
    std::function<void(const fs::path&)> damage;
    const char* expected;
  };
  const Case cases[] = {
      {"one byte differs", [](const fs::path& d) { write_file_atomically(d / "weights", "onf"); },
       "weights: checksum differs"},
      {"one byte more", [](const fs::path& d) { write_file_atomically(d / "weights", "one\n"); },
       "weights: checksum differs"},
      {"emptied", [](const fs::path& d) { fs::resize_file(d / "state", 0); }, "state: checksum differs"},
      {"removed", [](const fs::path& d) { fs::remove(d / "state"); }, "state: missing"},
      {"a folder in its place",
       [](const fs::path& d) {
         fs::remove(d / "state");
         fs::create_directory(d / "state");
       },
       "state: missing"},
      {"no JSON", [](const fs::path& d) { write_file_atomically(d / "checksums.json", "{"); },
       "checksums.json: damaged: not JSON (at byte 2)"},
      {"emptied checksums", [](const fs::path& d) { fs::resize_file(d / "checksums.json", 0); },
       "checksums.json: damaged: not JSON (at byte 1)"},
      {"checksums of nothing", [](const fs::path& d) { write_file_atomically(d / "checksums.json", "{}"); },
       "checksums.json: not readable"},
      {"checksums are a list", [](const fs::path& d) { write_file_atomically(d / "checksums.json", "[]"); },
       "checksums.json: not readable"},
      {"checksums are numbers",
       [](const fs::path& d) { write_file_atomically(d / "checksums.json", R"({"state":1})"); },
       "checksums.json: not readable"},
  };
  for (const auto& c : cases) {
    const TemporaryDirectory folder;
    write_directory(folder / "made", writer("one"));
    c.damage(folder / "made");
    EXPECT_THAT(damage_of(folder / "made").value_or("whole"), testing::EndsWith(c.expected)) << c.what;
  }
  const TemporaryDirectory folder;
  EXPECT_THAT(damage_of(folder / "none").value_or(""), testing::HasSubstr("checksums.json"));
}

TEST(CheckpointStore, GoesOnWhereOneCannotBeRemoved) {
  const test::AsNobody nobody;
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  store.save(10, 1, writer("10"));
  ASSERT_EQ(::chmod(store.path(10).c_str(), 0555), 0);  // as one of another user is
  store.save(20, 1, writer("20"));
  store.save(30, 1, writer("30"));
  EXPECT_THAT(store.updates(), testing::ElementsAre(10, 30));
  EXPECT_THAT(captured.text(), testing::StartsWith("warning: " + store.path(10).string() +
                                                   ": cannot be removed (Permission denied); it stays\n"));
  EXPECT_EQ(captured.text().find("warning", 1), std::string::npos) << "once for each";
  ::chmod(store.path(10).c_str(), 0755);
}

TEST(CheckpointStore, KeepsOneThatOthersHavePutSomethingInto) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  store.save(10, 1, writer("10"));
  write_file_atomically(store.path(10) / "notes", "mine");
  store.replace_file(10, "state", "another state", 1);
  EXPECT_EQ(captured.text(), "warning: " + store.path(10).string() +
                                 ".kept-1: the folder that was replaced; it is kept, because something else was put "
                                 "there\n");
  write_file_atomically(store.path(10) / "notes", "more");
  store.save(20, 1, writer("20"));
  EXPECT_THAT(names_in(folder / "checkpoints"), testing::ElementsAre("00000010.kept-1", "00000010.kept-2", "00000020"));
  EXPECT_EQ(read_file(folder / "checkpoints/00000010.kept-2/notes"), "more");
  EXPECT_THAT(captured.text(), testing::HasSubstr("00000010.kept-2: the folder that was replaced; it is kept"));
  EXPECT_THAT(store.updates(), testing::ElementsAre(20));
}

TEST(CheckpointStore, RefusesOneThatItMayNotRead) {
  const test::AsNobody nobody;
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  for (const int64_t update : {10, 20}) store.save(update, 2, writer(std::to_string(update)));
  for (const auto& path : {store.path(20) / "weights", store.path(20) / "checksums.json", store.path(20)}) {
    struct stat before;
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0), 0);
    EXPECT_EQ(message_of<Error>([&] { store.newest_whole(); }),
              path.string() + ": cannot read (Permission denied); give this user the right to read it");
    ASSERT_EQ(::chmod(path.c_str(), before.st_mode & 07777), 0);
    EXPECT_THAT(store.updates(), testing::ElementsAre(10, 20)) << "it is not set aside";
  }
  write_file_atomically(store.path(20) / "notes", "another's");
  ASSERT_EQ(::chmod((store.path(20) / "notes").c_str(), 0), 0);
  EXPECT_EQ(store.newest_whole(), 20);
  EXPECT_EQ(captured.text(), "");
}

TEST(CheckpointStore, KeepsTheBestToo) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  for (const int64_t update : {10, 20, 30, 40, 50}) store.save(update, 2, writer(std::to_string(update)), {20, 30});
  EXPECT_EQ(store.updates(), (std::vector<int64_t>{20, 30, 40, 50}));
  store.save(60, 2, writer("60"), {30, 60, 77});
  EXPECT_EQ(store.updates(), (std::vector<int64_t>{30, 50, 60}));
}

TEST(CheckpointStore, KeepsTheNewest) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  EXPECT_TRUE(store.updates().empty());
  for (const int64_t update : {10, 20, 30, 40}) store.save(update, 3, writer(std::to_string(update)));
  EXPECT_THAT(store.updates(), testing::ElementsAre(20, 30, 40));
  EXPECT_EQ(store.path(40).filename(), "00000040");
  EXPECT_EQ(read_file(store.path(20) / "weights"), "20");
  store.save(50, 0, writer("50"));  // the one just written always stays
  EXPECT_THAT(store.updates(), testing::ElementsAre(50));
  store.save(50, 3, writer("again"));
  EXPECT_EQ(read_file(store.path(50) / "weights"), "again");
  store.save(123456789, 3, writer("beyond eight digits"));
  EXPECT_THAT(store.updates(), testing::ElementsAre(50, 123456789));
}

// A run goes back and trains on: what it writes is not pruned for having a lower number than an old one.
TEST(CheckpointStore, NeverRemovesTheOneJustWritten) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  store.save(30, 1, writer("30"));
  store.save(20, 1, writer("20"));
  EXPECT_THAT(store.updates(), testing::Contains(20));
}

TEST(CheckpointStore, RemovesLeftoversAndIgnoresForeignNames) {
  const TemporaryDirectory folder;
  const auto directory = folder / "checkpoints";
  for (const char* name : {"00000010.partial", "notes", "12a", "5", "000000005", "1234567890123",
                           "\u0661\u0662"})  // the last: Arabic digits
    fs::create_directories(directory / name);
  write_file_atomically(directory / "00000007", "a file");
  // What a kill leaves of a write: a folder that OutputFolder made, and nobody holds.
  const auto left = directory / "00000020.abcdef.partial";
  fs::create_directories(left / "new");
  fs::permissions(left, fs::perms::owner_all);
  write_file_atomically(left / "nmt.lock", "");
  CapturedLog captured;
  const CheckpointStore store(directory, captured.log());
  EXPECT_TRUE(store.updates().empty());
  EXPECT_THAT(names_in(directory), testing::ElementsAre("000000005", "00000007", "00000010.partial", "1234567890123",
                                                        "12a", "5", "notes", "\u0661\u0662"));
}

// Once it continued in a new folder of that name, without a lock, beside whoever had begun another run there.
TEST(CheckpointStore, EndsWhereItsFolderIsMovedAway) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "run" / "checkpoints", captured.log());
  store.save(10, 2, writer("10"));
  store.require_place();
  fs::rename(folder / "run", folder / "old");
  EXPECT_EQ(message_of<MachineError>([&] { store.save(20, 2, writer("20")); }),
            (folder / "run" / "checkpoints").string() +
                ": the folder was moved or removed while the run was at work; bring it back");
  EXPECT_FALSE(fs::exists(folder / "run"));
  EXPECT_THROW(store.replace_file(10, "weights", "11", 2), MachineError);
}

TEST(CheckpointStore, GoesBackToTheNewestWholeOneWithAWarning) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  EXPECT_EQ(store.newest_whole(), std::nullopt);
  for (const int64_t update : {10, 20, 30}) store.save(update, 3, writer(std::to_string(update)));
  EXPECT_EQ(store.newest_whole(), 30);
  EXPECT_EQ(captured.text(), "");

  fs::resize_file(store.path(30) / "weights", 1);
  fs::remove(store.path(20) / "state");
  EXPECT_EQ(store.newest_whole(), 10);
  EXPECT_EQ(captured.text(),
            "warning: " + store.path(30).string() +
                ": damaged (weights: checksum differs): it is now 00000030.damaged; going back to the checkpoint "
                "before\n"
                "warning: " +
                store.path(20).string() +
                ": damaged (state: missing): it is now 00000020.damaged; going back to the checkpoint before\n");
  EXPECT_THAT(store.updates(), testing::ElementsAre(10));
  EXPECT_EQ(read_file(folder / "checkpoints/00000030.damaged/state"), "state of 30") << "nothing is lost";
}

TEST(CheckpointStore, NoDamagedOneTakesThePlaceOfAnother) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  store.save(10, 9, writer("10"));
  for (const char* text : {"first", "second", "third"}) {
    store.save(20, 9, writer(text));
    fs::remove(store.path(20) / "state");
    EXPECT_EQ(store.newest_whole(), 10);
  }
  EXPECT_THAT(names_in(folder / "checkpoints"),
              testing::ElementsAre("00000010", "00000020.damaged", "00000020.damaged-2", "00000020.damaged-3"));
  EXPECT_EQ(read_file(folder / "checkpoints/00000020.damaged-3/weights"), "third");
}

// A run that began again here would put its first model in the place of best/, the only other trace of the training.
TEST(CheckpointStore, StopsWhereAllAreDamaged) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder / "checkpoints", captured.log());
  for (const int64_t update : {10, 20}) {
    store.save(update, 3, writer(std::to_string(update)));
    fs::remove(store.path(update) / "checksums.json");
  }
  for (int start = 0; start < 2; ++start) {
    EXPECT_THAT(
        message_of<Error>([&] { store.newest_whole(); }),
        testing::AllOf(testing::StartsWith(store.path(20).string() + ": every checkpoint is damaged, the newest "),
                       testing::HasSubstr("checksums.json"), testing::HasSubstr("--restart renames the whole run")));
    EXPECT_THAT(names_in(folder / "checkpoints"), testing::ElementsAre("00000010", "00000020"));
  }
  fs::rename(store.path(10), folder / "checkpoints/00000010.damaged");
  fs::remove_all(store.path(20));
  EXPECT_THAT(message_of<Error>([&] { store.newest_whole(); }),
              testing::HasSubstr("only damaged checkpoints are left"));
}

TEST(CheckpointStore, ReplacesAFileAndLeavesTheOthers) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder.path(), captured.log());
  for (const int64_t update : {1, 2, 3}) store.save(update, 5, writer(std::to_string(update)));
  store.replace_file(3, "state", "another state", 2, {});
  EXPECT_THAT(store.updates(), testing::ElementsAre(2, 3)) << "the last two are kept";
  EXPECT_EQ(read_file(store.path(3) / "state"), "another state");
  EXPECT_EQ(read_file(store.path(3) / "weights"), "3");
  EXPECT_EQ(damage_of(store.path(3)), std::nullopt);
  EXPECT_THAT(names_in(store.path(3)), testing::ElementsAre("checksums.json", "state", "weights"));
  EXPECT_EQ(fs::hard_link_count(store.path(3) / "weights"), 1u) << "nothing is left beside";
}

TEST(CheckpointStore, DoesNotHideDamageWhenItReplacesAFile) {
  const TemporaryDirectory folder;
  CapturedLog captured;
  const CheckpointStore store(folder.path(), captured.log());
  store.save(1, 5, writer("one"));
  write_file_atomically(store.path(1) / "weights", "broken meanwhile");
  store.replace_file(1, "state", "another state", 2, {});
  EXPECT_EQ(damage_of(store.path(1)), "weights: checksum differs");
}

}  // namespace
}  // namespace nmt::checkpoint_test
