#include "report/run_observers.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include "base/files/file.h"
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

}  // namespace
}  // namespace nmt::run_observers_test
