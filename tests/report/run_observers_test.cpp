#include "report/run_observers.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include "base/files/file.h"
#include "report/html/html_report.h"
#include "support.h"

namespace nmt::run_observers_test {
namespace {

TEST(RunObservers, WriteWhatIsAskedFor) {
  for (const bool tensorboard : {true, false}) {
    const test::TemporaryDirectory run;
    Logger log("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    const auto observers = make_run_observers(
        {.directory = run.path(), .tensorboard = tensorboard, .environment = {{"processor", "a 486"}}}, log);
    observers->on_start({.name = "x"});
    observers->on_interval({.update = 1});
    EXPECT_GT(std::filesystem::file_size(run / "metrics.jsonl"), 0u);
    EXPECT_GT(std::filesystem::file_size(run / "validations.tsv"), 0u);
    EXPECT_EQ(std::filesystem::exists(run / "tensorboard"), tensorboard);
    write_file_atomically(run / "config.yaml", "");
    observers->on_end("done");
    const auto page = read_file(run / "report.html");
    EXPECT_NE(page.find("done"), std::string::npos);
    EXPECT_NE(page.find("a 486"), std::string::npos) << "the environment";
  }
}

TEST(ReportObserver, KeepsTheReportCurrent) {
  const test::TemporaryDirectory run;
  Logger log("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  write_file_atomically(run / "config.yaml", "");
  write_file_atomically(run / "metrics.jsonl", "");
  double now = 0;
  ReportObserver observer(run.path(), log, [&] { return now; });
  const auto page = run / "report.html";
  observer.on_interval({.update = 1});
  EXPECT_TRUE(std::filesystem::exists(page));
  std::filesystem::remove(page);
  now = 29;
  observer.on_validation({.update = 2});
  EXPECT_FALSE(std::filesystem::exists(page)) << "not so often";
  now = 31;
  observer.on_validation({.update = 3});
  EXPECT_TRUE(std::filesystem::exists(page));
  std::filesystem::remove(page);
  observer.on_end("done");
  EXPECT_TRUE(std::filesystem::exists(page));
}

}  // namespace
}  // namespace nmt::run_observers_test
