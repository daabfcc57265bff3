// The fuzz targets without a fuzzer: on their seeds, and on what a few blind changes make of them, the same in every
// run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>

#include "fuzz_target.h"
#include "support.h"

namespace nmt::fuzz {
namespace {

constexpr size_t kMutations = 300;  // of a target

std::vector<std::filesystem::path> seeds_of(const std::string& target) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() / "tests/fuzz/seeds" / target))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Bytes that end where their memory ends, so that the address sanitizer sees who reads on.
void run(Target target, const std::string& input) {
  const auto bytes = std::make_unique<char[]>(input.size());
  std::copy(input.begin(), input.end(), bytes.get());
  target({bytes.get(), input.size()});
}

void mutate(std::string& input, std::mt19937_64& random) {
  const size_t at = random() % (input.size() + 1), left = input.size() - at;
  switch (random() % 6) {
    case 0:
      if (left > 0) input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (left > 0) input[at] = static_cast<char>(random());
      break;
    case 2:
      input.erase(at, random() % 16);
      break;
    case 3:
      input.insert(at, input.substr(random() % (input.size() + 1), random() % 32));
      break;
    case 4: {  // a number that is at the edge of something
      const uint64_t edges[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, uint64_t{1} << 63, ~uint64_t{0}};
      const size_t size = std::min<size_t>(left, size_t{1} << random() % 4);
      std::memcpy(input.data() + at, &edges[random() % std::size(edges)], size);
      break;
    }
    default:
      if (random() % 4 == 0) input.resize(at);
  }
}

class FuzzTarget : public testing::TestWithParam<NamedTarget> {};

TEST_P(FuzzTarget, TakesItsSeeds) {
  const auto seeds = seeds_of(GetParam().name);
  ASSERT_FALSE(seeds.empty()) << "tests/fuzz/make_seeds.py makes them";
  for (const auto& seed : seeds) run(GetParam().target, read(seed));
  run(GetParam().target, "");
}

TEST_P(FuzzTarget, TakesWhatIsMadeOfItsSeeds) {
  const auto seeds = seeds_of(GetParam().name);
  std::mt19937_64 random(1);
  for (size_t i = 0; i < kMutations; ++i) {
    std::string input = read(seeds[i % seeds.size()]);
    for (auto changes = 1 + random() % 4; changes > 0; --changes) mutate(input, random);
    run(GetParam().target, input);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTarget, testing::ValuesIn(targets()),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzTargets, HaveAllSeeds) {
  std::set<std::string> names;  // also of targets that this build leaves out
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(test::source_directory() / "tests/fuzz/targets"))
    names.insert(file.path().stem().string());
  size_t bytes = 0;
  for (const auto& folder : std::filesystem::directory_iterator(test::source_directory() / "tests/fuzz/seeds")) {
    const auto name = folder.path().filename().string();
    EXPECT_TRUE(names.contains(name + "_target")) << name;
    for (const auto& seed : std::filesystem::directory_iterator(folder)) bytes += seed.file_size();
  }
  EXPECT_GE(targets().size(), 10);
  EXPECT_LE(bytes, size_t{1} << 20);
}

}  // namespace
}  // namespace nmt::fuzz
