#include "base/control_groups.h"

#include <gtest/gtest.h>

#include <charconv>

#include "base/files/file.h"
#include "support.h"

namespace fs = std::filesystem;

namespace nmt::control_groups_test {
namespace {

class LimitOfControlGroups : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder_ / file.string()).parent_path());
    write_file_atomically(folder_ / file.string(), text + "\n");
  }
  std::optional<int64_t> limit(std::string_view groups = "0::/job/step\n") const {
    return limit_of_control_groups(groups, folder_.path(), "memory.max",
                                   [](std::string_view line) -> std::optional<int64_t> {
                                     int64_t bytes = 0;
                                     const auto* end = line.data() + line.size();
                                     if (std::from_chars(line.data(), end, bytes).ec != std::errc()) return {};
                                     return bytes;
                                   });
  }
  test::TemporaryDirectory folder_;
};

TEST_F(LimitOfControlGroups, IsTheLeastOfAGroupAndThoseAroundIt) {
  EXPECT_EQ(limit(), std::nullopt);
  write("job/step/memory.max", "max");
  EXPECT_EQ(limit(), std::nullopt);
  write("job/memory.max", "8000000000");
  EXPECT_EQ(limit(), 8'000'000'000);
  write("job/step/memory.max", "4000000000");
  EXPECT_EQ(limit(), 4'000'000'000);
  write("memory.max", "3000000000");
  EXPECT_EQ(limit(), 3'000'000'000) << "of a container";
  write("other/memory.max", "1");
  EXPECT_EQ(limit(), 3'000'000'000);
}

TEST_F(LimitOfControlGroups, IsNoneOfWhatIsNotUnderstood) {
  for (const char* text : {"", "0:", "x\n\n::\n", "9:memory:/job\n"}) EXPECT_EQ(limit(text), std::nullopt) << text;
}

TEST(MemoryOfHost, IsSome) { EXPECT_GT(memory_of_host(), 100'000'000); }

}  // namespace
}  // namespace nmt::control_groups_test
