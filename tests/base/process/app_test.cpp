#include "base/process/app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "support.h"

namespace nmt::app_test {
namespace {

struct Outcome {
  int exit_code;
  std::string standard_error;
  bool operator==(const Outcome&) const = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << outcome.exit_code << " \"" << outcome.standard_error << '"';
}

Outcome outcome_of(const std::function<int()>& body) {
  testing::internal::CaptureStderr();
  const int exit_code = run_app("nmt-test", body);
  return {exit_code, testing::internal::GetCapturedStderr()};
}

TEST(RunApp, ReturnsTheCodeOfTheBody) {
  EXPECT_EQ(outcome_of([] { return 0; }), (Outcome{0, ""}));
  EXPECT_EQ(outcome_of([] { return 130; }), (Outcome{130, ""}));
}

TEST(RunApp, TurnsWhatIsThrownIntoOneLineAndACode) {
  EXPECT_EQ(outcome_of([]() -> int { throw Error("x.txt:3: bad; mend it"); }),
            (Outcome{2, "nmt-test: x.txt:3: bad; mend it\n"}));
  EXPECT_EQ(outcome_of([]() -> int { throw MachineError("disk full"); }), (Outcome{1, "nmt-test: disk full\n"}));
  EXPECT_EQ(outcome_of([]() -> int { throw std::bad_alloc(); }), (Outcome{1, "nmt-test: out of memory\n"}));
  EXPECT_EQ(outcome_of([]() -> int { throw std::system_error(std::make_error_code(std::errc::io_error), "reading"); }),
            (Outcome{1, "nmt-test: reading: Input/output error\n"}));
  EXPECT_EQ(outcome_of([]() -> int { throw std::runtime_error("first line\nstack trace"); }),
            (Outcome{1, "nmt-test: first line\n"}));
  EXPECT_EQ(outcome_of([]() -> int { throw 5; }), (Outcome{1, "nmt-test: an unknown error\n"}));
}

TEST(RunApp, LeavesAFormOfJsonThatNobodyLookedForToTheUser) {
  const auto outcome = outcome_of([]() -> int { return nlohmann::json({{"a", "x"}}).at("a").get<int>(); });
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.standard_error,
              testing::MatchesRegex("nmt-test: a file of JSON has another form than this program reads .*\n"));
}

TEST(RunApp, NamesTheFileOfAFilesystemError) {
  const auto outcome = outcome_of([]() -> int { return static_cast<int>(std::filesystem::file_size("/no/such")); });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, testing::MatchesRegex("nmt-test: .*No such file or directory.*/no/such.*\n"));
}

TEST(RunApp, LeavesToTheUserWhatHisNamesAndPermissionsCause) {
  const std::filesystem::path name(std::string(300, 'n'));
  EXPECT_EQ(
      outcome_of([&]() -> int { return std::filesystem::exists(name); }),
      (Outcome{2, "nmt-test: " + name.string() +
                      ": cannot be used (File name too long); change its name or permissions, or name another\n"}));
}

TEST(RunApp, KeepsAMessageOnOneLine) {
  EXPECT_EQ(outcome_of([]() -> int { throw Error("one\ntwo"); }), (Outcome{2, "nmt-test: one two\n"}));
  // Text that may stand in a file of a stranger: what would colour or clear a terminal.
  EXPECT_EQ(outcome_of([]() -> int { throw Error("tensor \x1b[31mw\r is missing"); }),
            (Outcome{2, "nmt-test: tensor ?[31mw? is missing\n"}));
}

/// How a program writes: checked, unchecked, and in small or large pieces.
struct Writer {
  const char* name;
  std::function<void()> write;
};

const std::vector<Writer> kWriters = {{"a buffered piece", [] { std::fputs("text\n", stdout); }},
                                      {"a buffered piece that flushing the stream does not reach",
                                       [] {
                                         std::ios::sync_with_stdio(false);
                                         std::fputs("text\n", stdout);
                                       }},
                                      {"more than the buffer, unchecked",
                                       [] {
                                         for (int i = 0; i < 100000; ++i) std::fputs("text\n", stdout);
                                       }},
                                      {"checked by fmt", [] { fmt::print("{}", std::string(1000000, 'x')); }},
                                      {"a stream", [] {
                                         for (int i = 0; i < 100000; ++i) std::cout << "text\n";
                                       }}};

/// In the child of a death test: standard output is `descriptor`, then the program ends with run_app's code.
[[noreturn]] void run_with_output(int descriptor, const std::function<void()>& write) {
  dup2(descriptor, STDOUT_FILENO);
  std::_Exit(run_app("nmt-test", [&] {
    write();
    return 0;
  }));
}

TEST(RunApp, AFullDiskBehindStandardOutputIsAMachineFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "the system has no /dev/full";
  for (const auto& writer : kWriters) {
    SCOPED_TRACE(writer.name);
    EXPECT_EXIT(run_with_output(open("/dev/full", O_WRONLY), writer.write), testing::ExitedWithCode(1),
                testing::MatchesRegex("nmt-test: [^\n]*(No space left on device|data lost)[^\n]*\n"));
  }
}

TEST(RunApp, AClosedPipeEndsQuietly) {
  for (const auto& writer : kWriters) {
    SCOPED_TRACE(writer.name);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    close(ends[0]);
    EXPECT_EXIT(run_with_output(ends[1], writer.write), testing::ExitedWithCode(0), testing::Eq(""));
    close(ends[1]);
  }
}

TEST(RunApp, WritesWhatIsBufferedEvenAfterAnError) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EXIT(run_with_output(ends[1],
                              [] {
                                std::fputs("text", stdout);
                                throw Error("late");
                              }),
              testing::ExitedWithCode(2), testing::Eq("nmt-test: late\n"));
  char bytes[8];
  EXPECT_EQ(read(ends[0], bytes, sizeof bytes), 4);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace nmt::app_test
