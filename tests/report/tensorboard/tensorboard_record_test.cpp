#include <gtest/gtest.h>

#include "report/tensorboard/tensorboard_writer.h"

namespace nmt::tensorboard_record_test {
namespace {

TEST(TensorBoardRecord, IsReadBackAsItWasWritten) {
  const std::string second("a\0b", 3);
  const std::string file = frame_record("first") + frame_record(second) + frame_record("");
  RecordReader reader(file);
  EXPECT_EQ(reader.next(), "first");
  EXPECT_EQ(reader.position(), 8u + 4 + 5 + 4);
  EXPECT_EQ(reader.next(), second);
  EXPECT_EQ(reader.next(), "");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.position(), file.size());
}

TEST(TensorBoardRecord, StopsBeforeARecordThatIsNotWhole) {
  const std::string first = frame_record("first"), both = first + frame_record("second");
  for (size_t size = first.size(); size < both.size(); ++size) {
    const std::string cut = both.substr(0, size);
    RecordReader reader(cut);
    EXPECT_EQ(reader.next(), "first");
    EXPECT_EQ(reader.next(), std::nullopt) << size;
    EXPECT_EQ(reader.position(), first.size());
  }
}

TEST(TensorBoardRecord, StopsBeforeADamagedRecord) {
  const std::string whole = frame_record("some bytes");
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_EQ(RecordReader(damaged).next(), std::nullopt) << "byte " << i;
  }
}

// One bad byte in the middle of a long run is no reason to lose what follows.
TEST(TensorBoardRecord, PassesOverBytesThatAreDamaged) {
  std::string file = frame_record("first") + frame_record("second") + frame_record("third");
  file[frame_record("first").size() + 8 + 4] = 'S';
  RecordReader reader(file);
  EXPECT_EQ(reader.next(), "first");
  EXPECT_EQ(reader.next(), "third");
  EXPECT_EQ(reader.position(), file.size());
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(TensorBoardRecord, BelievesNoLengthBeyondTheFile) {
  // 2^64 - 8, with the right checksum: adding to it would wrap around.
  const std::string length = "\xF8\xFF\xFF\xFF\xFF\xFF\xFF\xFF";
  const uint32_t crc = crc32c(length);
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
  std::string file = length;
  for (int i = 0; i < 4; ++i) file += static_cast<char>(masked >> (8 * i));
  file += frame_record("more");
  EXPECT_EQ(RecordReader(file).next(), std::nullopt);
}

}  // namespace
}  // namespace nmt::tensorboard_record_test
