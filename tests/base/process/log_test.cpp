#include "base/process/log.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::log_test {
namespace {

using testing::MatchesRegex;

TEST(Log, GoesToStandardErrorWithTheTime) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  make_logger("test")->info("epoch {}", 3);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), MatchesRegex("[0-9]{2}:[0-9]{2}:[0-9]{2} epoch 3\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, SaysWhatIsAWarningOrAnError) {
  testing::internal::CaptureStderr();
  const auto logger = make_logger("test");
  logger->warn("slow");
  logger->error("lost");
  logger->debug("not shown");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), MatchesRegex("[0-9:]+ warning: slow\n[0-9:]+ error: lost\n"));
}

TEST(Log, IsAppendedToTheFileLineByLine) {
  const test::TemporaryDirectory folder;
  testing::internal::CaptureStderr();
  for (const std::string text : {"one", "two"}) {
    const auto logger = make_logger("test");
    add_log_file(*logger, folder / "log.txt");
    logger->info(text);
    // Read while the logger lives: nothing waits in a buffer.
    EXPECT_THAT(read_file(folder / "log.txt"), testing::EndsWith(" " + text + "\n"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), MatchesRegex("[0-9:]+ one\n[0-9:]+ two\n"));
  EXPECT_THAT(read_file(folder / "log.txt"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} one\n[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} two\n"));
}

TEST(Log, TwoLoggersMayHaveOneName) {
  const auto first = make_logger("test");
  EXPECT_NO_THROW(make_logger("test"));
}

TEST(Log, AFileThatCannotBeOpenedIsAMachineError) {
  const test::TemporaryDirectory folder;
  const auto logger = make_logger("test");
  EXPECT_EQ(test::message_of<MachineError>([&] { add_log_file(*logger, folder.path()); }),
            folder.path().string() + ": cannot be opened to append to");
}

}  // namespace
}  // namespace nmt::log_test
