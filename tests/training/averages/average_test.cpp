#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"
#include "tensor_support.h"
#include "training/loop/averages.h"

namespace nmt::average_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;

std::vector<std::filesystem::path> save(const TemporaryDirectory& folder, const std::vector<NamedTensors>& files) {
  std::vector<std::filesystem::path> paths;
  for (const auto& tensors : files) {
    paths.push_back(folder / (std::to_string(paths.size()) + ".safetensors"));
    save_safetensors(paths.back(), tensors);
  }
  return paths;
}

TEST(LoadAverage, IsTheMeanOfTheFiles) {
  const TemporaryDirectory folder;
  // In float32 the large ones would swallow the small one: 1e8 + 1 = 1e8.
  const auto paths = save(folder, {{{"a", torch::tensor({1.0f, 1e8f})}, {"b", torch::tensor({{4.0f}})}},
                                   {{"a", torch::tensor({2.0f, 1.0f})}, {"b", torch::tensor({{-1.0f}})}},
                                   {{"a", torch::tensor({6.0f, -1e8f})}, {"b", torch::tensor({{0.0f}})}}});
  for (const auto device : test::devices()) {
    auto a = torch::zeros({2}).to(device).requires_grad_(true), b = torch::zeros({1, 1}).to(device);
    load_average({{"a", a}, {"b", b}}, paths);
    EXPECT_TRUE(a.cpu().equal(torch::tensor({3.0f, 1.0f / 3})));
    EXPECT_TRUE(b.cpu().equal(torch::tensor({{1.0f}})));
    load_average({{"a", a}, {"b", b}}, std::span(paths).subspan(1, 1));
    EXPECT_TRUE(a.cpu().equal(torch::tensor({2.0f, 1.0f}))) << "one file is itself";
  }
}

TEST(LoadAverage, RefusesFilesThatDoNotFitAndLeavesTheTargets) {
  const TemporaryDirectory folder;
  const auto paths = save(folder, {{{"a", torch::ones({2})}}, {{"a", torch::ones({3})}}, {{"b", torch::ones({2})}}});
  auto a = torch::full({2}, 7.0f);
  const auto message = [&](std::vector<std::filesystem::path> files) {
    return message_of<Error>([&] { load_average({{"a", a}}, files); });
  };
  EXPECT_EQ(message({}), "no checkpoints to average");
  EXPECT_EQ(message({paths[0], paths[1]}),
            paths[1].string() + ": tensor a is F32 [3], the configuration needs F32 [2]");
  EXPECT_EQ(message({paths[0], paths[2]}), paths[2].string() + ": tensor a is missing");
  EXPECT_TRUE(a.equal(torch::full({2}, 7.0f)));
}

}  // namespace
}  // namespace nmt::average_test
