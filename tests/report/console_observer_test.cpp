#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "base/files/file.h"
#include "report/run_observers.h"
#include "support.h"

namespace nmt::console_observer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const TrainingInterval kInterval = {.epoch = 2,
                                    .update = 1234,
                                    .loss = 3.2109,
                                    .perplexity = 8.421,
                                    .accuracy = 0.5123,
                                    .learning_rate = 3e-4,
                                    .gradient_norm = 1.214,
                                    .source_tokens_per_second = 4210.4,
                                    .target_tokens_per_second = 4099.5,
                                    .real_token_share = 0.971,
                                    .seconds_left = 201};
const ValidationReport kValidation = {.epoch = 2,
                                      .update = 2914,
                                      .loss = 2.5,
                                      .perplexity = 9.254,
                                      .accuracy = 0.5,
                                      .has_bleu = true,
                                      .has_chrf = true,
                                      .bleu = 28.0649,
                                      .chrf = 52.1,
                                      .bleu_line = "BLEU|x = 28.06",
                                      .chrf_line = "chrF2|x = 52.10",
                                      .is_best = true,
                                      .seconds = 3.14,
                                      .samples = {{"Ja .", "Yes .", "Yeah ."}}};

TEST(FormatValidation, NamesSeveralSets) {
  auto report = kValidation, other = kValidation;
  report.set = "dev2010", other.set = "dev2011";
  other.is_best = false, other.samples.clear(), other.too_long = 3;
  report.others = {other};
  const auto lines = format_validation(report);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0].substr(0, 41), "validation at update 2,914 on dev2010: lo");
  EXPECT_EQ(lines[3].substr(0, 41), "validation at update 2,914 on dev2011: lo");
  EXPECT_EQ(lines[4], "  the loss is without 3 pairs that are too long for the model");
  EXPECT_EQ(lines[7], "  source     Ja .");
}

TEST(ExpectedUpdates, IsTheSmallerLimit) {
  EXPECT_EQ(expected_updates({.updates_per_epoch = 10}), 0);
  EXPECT_EQ(expected_updates({.max_updates = 50, .updates_per_epoch = 10}), 50);
  EXPECT_EQ(expected_updates({.updates_per_epoch = 10, .num_epochs = 3}), 30);
  EXPECT_EQ(expected_updates({.max_updates = 50, .updates_per_epoch = 10, .num_epochs = 3}), 30);
  EXPECT_EQ(expected_updates({.max_updates = 20, .updates_per_epoch = 10, .num_epochs = 3}), 20);
}

TEST(FormatStart, SaysWhatTheRunIs) {
  TrainingStart start{.name = "runs/iwslt2016/",
                      .parameters = 55794688,
                      .max_updates = 5000,
                      .updates_per_epoch = 1534,
                      .num_epochs = 20,
                      .device = "cpu",
                      .precision = "bf16",
                      .threads = 2};
  EXPECT_EQ(format_start(start),
            "run iwslt2016: 55,794,688 parameters; cpu, bf16, 2 threads; 20 epochs, at most 5,000 updates, about 1,534 "
            "updates an epoch");
  start.num_epochs = start.max_updates = 0;
  EXPECT_THAT(format_start(start), HasSubstr("2 threads; about 1,534 updates an epoch"));
}

TEST(FormatInterval, ShowsEveryFigure) {
  EXPECT_EQ(format_interval(kInterval),
            "epoch 2 update 1,234: loss 3.211 ppl 8.42 accuracy 51.2% lr 3.000e-04 gradient 1.21 source 4,210 tok/s "
            "target 4,100 tok/s real 97.1% left 3:21");
  TrainingInterval odd = kInterval;
  odd.seconds_left = -1;
  odd.skipped_updates = 3;
  EXPECT_THAT(format_interval(odd), testing::EndsWith("real 97.1% skipped 3"));
}

TEST(FormatValidation, ShowsScoresWithSignaturesAndSamples) {
  EXPECT_THAT(format_validation(kValidation),
              ElementsAre("validation at update 2,914: loss 2.500 ppl 9.25 accuracy 50.0% BLEU 28.06 chrF 52.10 in 3.1 "
                          "s * new best",
                          "  BLEU|x = 28.06", "  chrF2|x = 52.10", "  source     Ja .", "  reference  Yes .",
                          "  hypothesis Yeah ."));
  EXPECT_THAT(format_validation({.update = 0, .loss = 1}).front(), testing::StartsWith("validation before the first "
                                                                                       "update: loss 1.000"));
  EXPECT_THAT(
      format_validation({.update = 10, .loss = 1, .weights = "average of updates 5, 10"}),
      ElementsAre("validation at update 10: loss 1.000 ppl 0.00 accuracy 0.0%, average of updates 5, 10 in 0.0 s"));
}

TEST(FormatValidation, ShowsControlCharactersOfSamplesAsQuestionMarks) {
  const ValidationReport report = {
      .samples = {{"\033]0;title\a Mann\t\033[2J", "Grüße 中国 \u0085\u009b31m\u00a0x\x7f", "a\nb\rc\x9b\xff"}}};
  EXPECT_THAT(format_validation(report), ElementsAre(testing::_, "  source     ?]0;title? Mann\t?[2J",
                                                     "  reference  Grüße 中国 ??31m\u00a0x?", "  hypothesis a?b?c??"));
}

/// A whole short run.
void show_a_run(ConsoleObserver& observer) {
  observer.on_start({.name = "runs/iwslt2016", .update = 2000, .max_updates = 3000, .updates_per_epoch = 1457});
  observer.on_update({.epoch = 2, .update = 2001});
  observer.on_interval(kInterval);
  observer.on_checkpoint(2500);
  observer.on_epoch({.epoch = 2, .update = 2914, .loss = 2.6449, .perplexity = 9.125});
  observer.on_validation(kValidation);
  observer.on_checkpoint(2914);
  observer.on_end("3,000 updates done");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(ConsoleObserver, WritesPlainLinesWhereThereIsNoTerminal) {
  std::ostringstream out;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  log.set_pattern("%v");
  ConsoleObserver observer(log);
  show_a_run(observer);
  EXPECT_THAT(lines_of(out.str()),
              ElementsAre(testing::StartsWith("run iwslt2016: "), "resuming after update 2,000",
                          "epoch 2 update 2,001: loss 0.000 ppl 0.00 lr 0.000e+00", format_interval(kInterval),
                          "checkpoint of update 2,500 is saved", "epoch 2 is done: loss 2.645 ppl 9.12",
                          format_validation(kValidation).front(), "  BLEU|x = 28.06", "  chrF2|x = 52.10",
                          "  source     Ja .", "  reference  Yes .", "  hypothesis Yeah .",
                          "checkpoint of update 2,914 is saved", "end: 3,000 updates done"));
}

TEST(ConsoleObserver, SaysTheFirstUpdateAndOneEach30Seconds) {
  std::ostringstream out;
  Logger log("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  log.set_pattern("%v");
  double now = 0;
  ConsoleObserver observer(log, [&] { return now; });
  observer.on_start({.name = "runs/x", .max_updates = 40});
  out.str("");
  const UpdateReport report{.update = 1, .loss = 8.3125, .perplexity = 3912.4, .learning_rate = 1e-6};
  for (int64_t update = 1; update <= 20; ++update) {
    now += 5;
    UpdateReport next = report;
    next.update = update, next.target_tokens = 100;
    observer.on_update(next);
    if (update == 10) observer.on_interval(kInterval);
  }
  EXPECT_THAT(lines_of(out.str()),
              ElementsAre("epoch 1 update 1: loss 8.312 ppl 3912.40 lr 1.000e-06",
                          "epoch 1 update 7: loss 8.312 ppl 3912.40 lr 1.000e-06 target 20 tok/s left 2:45",
                          format_interval(kInterval),
                          "epoch 1 update 16: loss 8.312 ppl 3912.40 lr 1.000e-06 target 20 tok/s left 2:00"));
}

/// Standard error is a terminal while this lives.
class TerminalAtStandardError {
 public:
  TerminalAtStandardError() {
    winsize size{.ws_row = 24, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
    if (::openpty(&screen_, &keyboard_, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pseudo-terminal");
    saved_ = ::dup(STDERR_FILENO);
    ::dup2(keyboard_, STDERR_FILENO);
    ::setenv("TERM", "xterm", 1);
  }
  ~TerminalAtStandardError() {
    ::dup2(saved_, STDERR_FILENO);
    for (const int file : {screen_, keyboard_, saved_}) ::close(file);
  }
  std::string shown() {
    ::fcntl(screen_, F_SETFL, O_NONBLOCK);
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t count; (count = ::read(screen_, buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), count);
    return text;
  }

 private:
  int screen_ = -1, keyboard_ = -1, saved_ = -1;
};

TEST(ConsoleObserver, ShowsABarOnATerminalAndTheIntervalsInTheLogFileOnly) {
  const test::TemporaryDirectory folder;
  std::string screen;
  {
    TerminalAtStandardError terminal;
    auto log = make_logger("test");
    add_log_file(*log, folder / "log.txt");
    ConsoleObserver observer(*log);
    show_a_run(observer);
    screen = terminal.shown();
  }
  EXPECT_THAT(screen, HasSubstr("train  ["));
  EXPECT_THAT(screen, HasSubstr("2,001/3,000 updates"));
  EXPECT_THAT(screen, HasSubstr("epoch 2 is done: loss 2.645"));
  EXPECT_THAT(screen, Not(HasSubstr("update 1,234: loss")));
  const std::string file = read_file(folder / "log.txt");
  EXPECT_THAT(file, HasSubstr(format_interval(kInterval)));
  EXPECT_THAT(file, HasSubstr("epoch 2 is done: loss 2.645"));
  EXPECT_THAT(file, Not(HasSubstr("train  [")));
}

TEST(ConsoleObserver, LeavesNoBarInALineOfTheLog) {
  std::string screen;
  {
    TerminalAtStandardError terminal;
    auto log = make_logger("test");
    ConsoleObserver observer(*log);
    observer.on_start({.name = "runs/x", .max_updates = 3000});
    observer.on_update({.epoch = 2, .update = 1235});
    log->warn("a batch was split");
    screen = terminal.shown();
  }
  const size_t bar = screen.find("train  ["), warning = screen.find("warning: a batch was split");
  ASSERT_LT(bar, warning);
  ASSERT_NE(warning, std::string::npos);
  EXPECT_THAT(screen.substr(bar, warning - bar), testing::MatchesRegex("train  .*\r\033\\[K[0-9:]+ "));
}

TEST(ConsoleObserver, ShowsTheLastFiguresBehindTheBar) {
  std::string screen;
  {
    TerminalAtStandardError terminal;
    auto log = make_logger("test");
    ConsoleObserver observer(*log);
    observer.on_start({.name = "runs/x", .max_updates = 3000});
    observer.on_interval(kInterval);
    observer.on_update({.epoch = 2, .update = 1235});
    screen = terminal.shown();
  }
  EXPECT_THAT(screen, HasSubstr("epoch 2 loss 3.211 ppl 8.42 lr 3.0e-04 src 4,210 tgt 4,100 tok/s real 97%"));
}

}  // namespace
}  // namespace nmt::console_observer_test
