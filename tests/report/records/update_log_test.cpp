#include <gmock/gmock.h>

#include <charconv>

#include "base/error.h"
#include "base/files/file.h"
#include "report/records/metrics_writer.h"
#include "support.h"

namespace nmt::update_log_test {
namespace {

// Lines "UPDATE WEIGHTS VALUE" with single letters for weights and value; "-" stands for no weights.
std::optional<UpdateLogKey> key_of(std::string_view line) {
  UpdateLogKey key;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), key.update);
  const std::string_view rest(end, line.data() + line.size() - end);
  if (error != std::errc() || rest.size() != 4) return std::nullopt;
  if (rest[1] != '-') key.weights = rest[1];
  return key;
}

class UpdateLogTest : public testing::Test {
 protected:
  UpdateLog open() { return UpdateLog(path_, "header", key_of); }
  std::string text() const { return read_file(path_); }
  test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_ / "log.txt";
};

TEST_F(UpdateLogTest, BeginsWithItsHeaderOnce) {
  open();
  open();
  EXPECT_EQ(text(), "header\n");
}

TEST_F(UpdateLogTest, DropsLaterUpdates) {
  const std::string all = "header\n10 - a\n20 - b\n20 w c\n30 - d\n";
  const struct {
    int64_t update;
    std::string kept;
  } cases[] = {{0, "header\n"},
               {9, "header\n"},
               {10, "header\n10 - a\n"},
               {19, "header\n10 - a\n"},
               {20, "header\n10 - a\n20 - b\n20 w c\n"},
               {30, all},
               {99, all}};
  for (const auto& [update, kept] : cases) {
    write_file_atomically(path_, all);
    open().truncate_after(update);
    EXPECT_EQ(text(), kept) << "after update " << update;
  }
}

TEST_F(UpdateLogTest, DropsWhatAKillLeftHalfWritten) {
  const struct {
    std::string damaged, kept;
  } cases[] = {{"head", "header\n"},
               {"header\n10 - a\n20 -", "header\n10 - a\n"},
               {"header\n10 - a\n20 - b", "header\n10 - a\n"},
               {std::string("header\n10 - a\n\0\0\0\0", 18), "header\n10 - a\n"}};
  for (const auto& [damaged, kept] : cases) {
    write_file_atomically(path_, damaged);
    open();
    EXPECT_EQ(text(), kept);
  }
}

TEST_F(UpdateLogTest, ALineThatCannotBeReadTakesNoOtherWithIt) {
  const std::string all = "header\n10 - a\nrubbish\n20 - b\n30 - c\nmore\n";
  const struct {
    int64_t update;
    std::string kept;
  } cases[] = {
      {99, all}, {20, "header\n10 - a\nrubbish\n20 - b\n"}, {10, "header\n10 - a\nrubbish\n"}, {9, "header\n"}};
  for (const auto& [update, kept] : cases) {
    write_file_atomically(path_, all);
    open().truncate_after(update);
    EXPECT_EQ(text(), kept) << "after update " << update;
  }
  // A digit that became another: the line goes, those behind it stay.
  write_file_atomically(path_, "header\n10 - a\n9920 - b\n30 - c\n");
  auto log = open();
  log.truncate_after(40);
  log.append({.update = 50, .weights = ""}, "50 - d");
  EXPECT_EQ(text(), "header\n10 - a\n30 - c\n50 - d\n");
}

TEST_F(UpdateLogTest, ARepeatedEventDoesNotReplaceALineThatCannotBeRead) {
  write_file_atomically(path_, "header\n10 - a\nrubbish\n");
  open().append({.update = 10, .weights = ""}, "10 - b");
  EXPECT_EQ(text(), "header\n10 - a\nrubbish\n10 - b\n");
}

TEST_F(UpdateLogTest, ARepeatedEventTakesThePlaceOfTheFirst) {
  {
    auto log = open();
    log.append({.update = 10, .weights = ""}, "10 - a");
    log.append({.update = 20, .weights = ""}, "20 - b");
    log.append({.update = 20, .weights = ""}, "20 - c");
    log.append({.update = 20, .weights = "w"}, "20 w d");
  }
  auto log = open();
  log.truncate_after(20);
  log.append({.update = 20, .weights = "w"}, "20 w e");
  log.append({.update = 30, .weights = "w"}, "30 w f");
  EXPECT_EQ(text(), "header\n10 - a\n20 - c\n20 w e\n30 w f\n");
}

// A validation of the weights and of their average was recorded, then the run was killed: both are done again.
TEST_F(UpdateLogTest, RepeatedEventsOfAnUpdateTakeThePlacesOfTheFirst) {
  open().append({.update = 10, .weights = ""}, "10 - a");
  {
    auto log = open();
    log.append({.update = 20, .weights = ""}, "20 - b");
    log.append({.update = 20, .weights = "w"}, "20 w c");
  }
  auto log = open();
  log.truncate_after(20);
  log.append({.update = 20, .weights = ""}, "20 - d");
  EXPECT_EQ(text(), "header\n10 - a\n20 - d\n");
  log.append({.update = 20, .weights = "w"}, "20 w e");
  EXPECT_EQ(text(), "header\n10 - a\n20 - d\n20 w e\n");
}

TEST_F(UpdateLogTest, GoesOnAsIfTheRunHadNotStopped) {
  auto log = open();
  for (const char* update : {"10", "20", "30"}) log.append({std::stoi(update), ""}, update + std::string(" - a"));
  const std::string unbroken = text();
  auto resumed = open();
  resumed.truncate_after(10);
  for (const char* update : {"20", "30"}) resumed.append({std::stoi(update), ""}, update + std::string(" - a"));
  EXPECT_EQ(text(), unbroken);
}

TEST_F(UpdateLogTest, RefusesAFileWithAnotherHeader) {
  write_file_atomically(path_, "other\n10 - a\n");
  EXPECT_THAT(test::message_of<Error>([&] { open(); }),
              testing::HasSubstr("log.txt:1: not the header that this version writes (header); move the file away"));
  EXPECT_EQ(text(), "other\n10 - a\n");
}

}  // namespace
}  // namespace nmt::update_log_test
