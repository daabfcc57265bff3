#include "report/tensorboard/tensorboard_writer.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/files/file.h"
#include "support.h"

namespace nmt::tensorboard_writer_test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

class TensorBoardWriterTest : public testing::Test {
 protected:
  void write_steps(const std::vector<int64_t>& steps) {
    TensorBoardWriter writer(folder_.path());
    for (const int64_t step : steps)
      writer.write(encode_scalars(now_at(step), std::vector<ScalarSummary>{{"loss", 1.0}}));
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  static std::vector<int64_t> steps_of(const std::filesystem::path& file) {
    const std::string bytes = read_file(file);
    std::vector<int64_t> steps;
    RecordReader reader(bytes);
    while (const auto event = reader.next()) steps.push_back(step_of_event(*event).value());
    EXPECT_EQ(reader.position(), bytes.size());
    return steps;
  }
  test::TemporaryDirectory folder_;
};

TEST_F(TensorBoardWriterTest, NamesALaterFileAfterThoseThatStandThere) {
  write_steps({1});
  const auto first = files().front();
  EXPECT_THAT(first.filename().string(), StartsWith("events.out.tfevents."));
  write_steps({2});
  write_steps({3});
  ASSERT_EQ(files().size(), 3u);
  EXPECT_EQ(files().front(), first);
  EXPECT_THAT(steps_of(files().back()), ElementsAre(0, 3));
}

TEST_F(TensorBoardWriterTest, IsCutBackToAStepOverSeveralFiles) {
  write_steps({10, 20, 30});
  write_steps({40, 50});
  truncate_event_files_after(folder_.path(), 45);
  ASSERT_EQ(files().size(), 2u);
  EXPECT_THAT(steps_of(files()[0]), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(steps_of(files()[1]), ElementsAre(0, 40));
  truncate_event_files_after(folder_.path(), 20);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_THAT(steps_of(files()[0]), ElementsAre(0, 10, 20));
  truncate_event_files_after(folder_.path(), 0);
  EXPECT_TRUE(files().empty());
}

TEST_F(TensorBoardWriterTest, IsCutBackToTheLastWholeEvent) {
  write_steps({10, 20});
  const auto file = files().front();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  truncate_event_files_after(folder_.path(), 99);
  EXPECT_THAT(steps_of(file), ElementsAre(0, 10));
}

TEST_F(TensorBoardWriterTest, LeavesOtherFilesAlone) {
  write_file_atomically(folder_ / "notes.txt", "mine");
  truncate_event_files_after(folder_.path(), 0);
  truncate_event_files_after(folder_ / "missing", 0);
  EXPECT_EQ(read_file(folder_ / "notes.txt"), "mine");
}

TEST(EscapeMarkdown, KeepsTextAsItStands) {
  EXPECT_EQ(escape_markdown("Hallo, du & ich ."), "Hallo, du & ich .");
  EXPECT_EQ(escape_markdown("<b> *x* _y_ `z` [1] #2 |"), "\\<b\\> \\*x\\* \\_y\\_ \\`z\\` \\[1\\] \\#2 \\|");
}

}  // namespace
}  // namespace nmt::tensorboard_writer_test
