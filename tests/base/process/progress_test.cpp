#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "base/process/log.h"
#include "support.h"

namespace nmt::progress_test {
namespace {

using testing::HasSubstr;

TEST(WithCommas, GroupsByThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-1), "-1");
  EXPECT_EQ(with_commas(-999), "-999");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(with_commas(-123456), "-123,456");
  EXPECT_EQ(with_commas(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(FormatDuration, ShowsHoursWhereThereAreAny) {
  EXPECT_EQ(format_duration(0), "0:00");
  EXPECT_EQ(format_duration(9.9), "0:09");
  EXPECT_EQ(format_duration(123), "2:03");
  EXPECT_EQ(format_duration(3599.99), "59:59");
  EXPECT_EQ(format_duration(3600), "1:00:00");
  EXPECT_EQ(format_duration(3723), "1:02:03");
  EXPECT_EQ(format_duration(360000), "100:00:00");
  EXPECT_EQ(format_duration(-5), "0:00");
  EXPECT_EQ(format_duration(INFINITY), "?");
  EXPECT_EQ(format_duration(NAN), "?");
}

TEST(FormatProgress, ShowsBarCountSpeedTimeAndNote) {
  const ProgressLine line{
      .label = "prepro", .unit = "sentences", .note = "loss 3.2", .done = 1234, .total = 3000, .per_second = 812};
  EXPECT_EQ(format_progress(line, 120),
            "prepro  [############                  ] 41% 1,234/3,000 sentences 812/s 0:02 left  loss 3.2");
}

TEST(FormatProgress, FitsTheWidth) {
  const ProgressLine line{.label = "übersetzen", .unit = "Sätze", .done = 5, .total = 10, .per_second = 1};
  EXPECT_EQ(format_progress(line, 55), "übersetzen  [#####     ] 50% 5/10 Sätze 1.0/s 0:05 left");
  EXPECT_EQ(format_progress(line, 40), "übersetzen  50% 5/10 Sätze 1.0/s 0:05 le");
  EXPECT_EQ(format_progress(line, 1), "ü");
  EXPECT_EQ(format_progress(line, 0), "");
  EXPECT_EQ(format_progress(line, -1), "");
}

TEST(FormatProgress, ShowsTheCountAloneWhereTheTotalIsUnknown) {
  EXPECT_EQ(format_progress({.label = "read", .unit = "lines", .done = 12345, .per_second = 0.5}, 80),
            "read  12,345 lines 0.50/s");
}

TEST(FormatProgress, StaysInItsBoundsBeyondTheTotal) {
  EXPECT_EQ(format_progress({.label = "x", .unit = "u", .done = 30, .total = 20, .per_second = 10}, 80),
            "x  [##############################] 100% 30/20 u 10/s 0:00 left");
}

TEST(ProgressBar, DrawsNothingWhereThereIsNoTerminal) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar("label", 10, "units");
    bar.update(5);
    bar.clear();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Standard error is a terminal while the object lives.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)), saved_(dup(STDERR_FILENO)) {
    grantpt(master_);
    unlockpt(master_);
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    works_ = master_ >= 0 && slave_ >= 0 && dup2(slave_, STDERR_FILENO) >= 0;
    setenv("TERM", "xterm", 1);
  }
  ~Terminal() {
    dup2(saved_, STDERR_FILENO);
    for (const int descriptor : {master_, slave_, saved_}) close(descriptor);
  }
  bool works() const { return works_; }
  std::string shown() {
    char bytes[4096];
    const ssize_t count = read(master_, bytes, sizeof bytes);
    return count > 0 ? std::string(bytes, count) : "";
  }

 private:
  int master_, slave_ = -1, saved_;
  bool works_ = false;
};

TEST(ProgressBar, DrawsOnATerminalAndClearsBehindItself) {
  std::string first, soon, cleared, after, end;
  {
    Terminal terminal;
    if (!terminal.works()) GTEST_SKIP() << "the system gives no pseudo terminal";
    {
      ProgressBar bar("label", 10, "units");
      const auto start = std::chrono::steady_clock::now();
      bar.update(5, "note");
      first = terminal.shown();
      bar.update(6);
      soon = terminal.shown();
      // On a busy machine the two calls may be further apart than the tenth of a second.
      if (std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(100)) soon.clear();
      bar.clear();
      cleared = terminal.shown();
      bar.update(7);
      after = terminal.shown();
    }
    end = terminal.shown();
  }
  EXPECT_THAT(first, HasSubstr("label  ["));
  EXPECT_THAT(first, HasSubstr("50% 5/10 units  note"));
  EXPECT_EQ(soon, "") << "drawn again within a tenth of a second";
  EXPECT_EQ(cleared, "\r\033[K");
  EXPECT_THAT(after, HasSubstr("70% 7/10 units"));
  EXPECT_EQ(end, "\r\033[K");
}

TEST(ProgressBar, DrawsNothingOnTheScreenOfAProgramThatOnlyLinksTheLibrary) {
  std::string hidden, after;
  {
    Terminal terminal;
    if (!terminal.works()) GTEST_SKIP() << "the system gives no pseudo terminal";
    {
      const NoProgressBars no_bars;
      ProgressBar bar("label", 10, "units");
      bar.update(5);
      hidden = terminal.shown();
    }
    ProgressBar bar("label", 10, "units");
    bar.update(5);
    after = terminal.shown();
  }
  EXPECT_EQ(hidden, "");
  EXPECT_THAT(after, HasSubstr("50%"));
}

TEST(ProgressBar, LeavesWorkBeforeTheFirstCallOutOfTheSpeed) {
  std::string shown;
  {
    Terminal terminal;
    if (!terminal.works()) GTEST_SKIP() << "the system gives no pseudo terminal";
    ProgressBar bar("label", 100000, "units");
    bar.update(50000);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    terminal.shown();
    bar.update(50010);
    shown = terminal.shown();
  }
  // Ten units in 0.15 s or more.
  EXPECT_THAT(shown, testing::ContainsRegex("50,010/100,000 units [0-9.]{1,4}/s "));
}

}  // namespace
}  // namespace nmt::progress_test
