#include "report/run_observers.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include "support.h"

namespace nmt {
namespace {

TEST(RunObservers, WriteWhatIsAskedFor) {
  for (const bool tensorboard : {true, false}) {
    const test::TemporaryDirectory run;
    Logger log("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    const auto observers = make_run_observers({.directory = run.path(), .tensorboard = tensorboard}, log);
    observers->on_start({.name = "x"});
    observers->on_interval({.update = 1});
    EXPECT_GT(std::filesystem::file_size(run / "metrics.jsonl"), 0u);
    EXPECT_GT(std::filesystem::file_size(run / "validations.tsv"), 0u);
    EXPECT_EQ(std::filesystem::exists(run / "tensorboard"), tensorboard);
  }
}

}  // namespace
}  // namespace nmt
