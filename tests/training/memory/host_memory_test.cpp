#include "training/memory/host_memory.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files/file.h"
#include "support.h"

namespace fs = std::filesystem;

namespace nmt::host_memory_test {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

class MemoryLimit : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder_ / file.string()).parent_path());
    write_file_atomically(folder_ / file.string(), text + "\n");
  }
  test::TemporaryDirectory folder_;
};

TEST_F(MemoryLimit, IsTheLeastOfAGroupAndThoseAroundIt) {
  const auto limit = [&] { return memory_limit("0::/job/step\n", folder_.path()); };
  EXPECT_EQ(limit(), kNone);
  write("job/step/memory.max", "max");
  EXPECT_EQ(limit(), kNone);
  write("job/memory.max", "8000000000");
  EXPECT_EQ(limit(), 8'000'000'000);
  write("job/step/memory.max", "4000000000");
  EXPECT_EQ(limit(), 4'000'000'000);
  write("memory.max", "3000000000");
  EXPECT_EQ(limit(), 3'000'000'000) << "of a container";
  write("other/memory.max", "1");
  EXPECT_EQ(limit(), 3'000'000'000);
}

TEST_F(MemoryLimit, IsReadWhereVersion1Has) {
  const auto limit = [&] { return memory_limit("9:cpu,memory:/job\n4:cpuset:/\n0::/\n", folder_.path()); };
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_GT(limit(), int64_t{1} << 62);
  write("memory/job/memory.limit_in_bytes", "2000000000");
  EXPECT_EQ(limit(), 2'000'000'000);
}

TEST_F(MemoryLimit, IsNoneOfWhatIsNotUnderstood) {
  for (const char* text : {"", "0:", "x\n\n::\n", "0::../..\n"}) EXPECT_EQ(memory_limit(text, folder_.path()), kNone);
}

TEST(MemoryOfHost, IsSome) { EXPECT_GT(memory_of_host(), 100'000'000); }

}  // namespace
}  // namespace nmt::host_memory_test
