#include <gtest/gtest.h>

#include "base/files/strict_json.h"
#include "report/dev_python.h"
#include "report/tensorboard/tensorboard_event.h"
#include "report/tensorboard/tensorboard_observer.h"

namespace nmt::model_graph_test {
namespace {

using nlohmann::json;

const TrainingStart kStart{.parameters = 6 + 3 + 8 + 1,
                           .variables = {{"embedding.weight", {2, 3}},
                                         {"encoder_0.norm.gain", {3}},
                                         {"encoder_0.feed_forward.inner.weight", {4, 2}},
                                         {"scale", {}},
                                         {"first_moment.embedding.weight", {2, 3}},
                                         {"steps", {}}}};

json read_back(const std::string& python, const std::filesystem::path& folder) {
  return json::parse(test::output_of("TF_CPP_MIN_LOG_LEVEL=3 '" + python + "' '" +
                                     (test::source_directory() / "tests/report/tensorboard/read_events.py").string() +
                                     "' '" + folder.string() + "'"));
}

TEST(ModelGraph, IsReadBackByTensorBoard) {
  const std::string python = test::dev_python();
  if (python.empty()) GTEST_SKIP() << "no Python with tensorboard: scripts/dev_python.sh makes one";
  const test::TemporaryDirectory folder;
  TensorBoardObserver(folder.path()).on_start(kStart);
  const auto weight = [](std::vector<int64_t> shape) {
    return json{"Weight", json::array(), json::array({json(shape)})};
  };
  const auto module = [](std::vector<std::string> parts) { return json{"Module", parts, json::array()}; };
  const json expected = {
      {"embedding/weight", weight({2, 3})},
      {"encoder_0/norm/gain", weight({3})},
      {"encoder_0/feed_forward/inner/weight", weight({4, 2})},
      {"scale", weight({})},
      {"embedding/module", module({"embedding/weight"})},
      {"encoder_0/norm/module", module({"encoder_0/norm/gain"})},
      {"encoder_0/feed_forward/inner/module", module({"encoder_0/feed_forward/inner/weight"})},
      {"encoder_0/feed_forward/module", module({"encoder_0/feed_forward/inner/module"})},
      {"encoder_0/module", module({"encoder_0/norm/module", "encoder_0/feed_forward/module"})},
      {"model", module({"embedding/module", "encoder_0/module", "scale"})},
  };
  EXPECT_EQ(read_back(python, folder.path())["graph"], expected);
}

TEST(ModelGraph, IsNotWrittenAgainWhereARunGoesOn) {
  const std::string python = test::dev_python();
  if (python.empty()) GTEST_SKIP() << "no Python with tensorboard: scripts/dev_python.sh makes one";
  const test::TemporaryDirectory folder;
  auto start = kStart;
  start.update = 5;
  TensorBoardObserver(folder.path()).on_start(start);
  EXPECT_EQ(read_back(python, folder.path())["graph"], json::object());
}

TEST(ModelGraph, HasTheWeightsAloneWithoutTheOptimizersState) {
  EXPECT_EQ(weights_of(kStart).size(), 4u);
  EXPECT_TRUE(weights_of({}).empty());
}

}  // namespace
}  // namespace nmt::model_graph_test
