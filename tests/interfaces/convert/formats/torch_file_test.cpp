#include "convert/formats/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "archive.h"
#include "base/error.h"
#include "convert/formats/weight_file.h"
#include "support.h"

namespace nmt::convert::torch_file_test {
namespace {

using test::Archive;
using test::as_bytes_of;
using test::message_of;
using test::number;
using testing::ElementsAre;
using testing::HasSubstr;

/// A whole number: one byte, or eight (LONG1).
std::string small(int64_t value) {
  if (value >= 0 && value < 256) return std::string("K") + static_cast<char>(value);
  return "\x8a\x08" + number(value);
}

struct Tensor {
  std::string storage = "torch\nFloatStorage", name = "w";
  int64_t offset = 1, rows = 2, columns = 3, row_stride = 1, column_stride = 2;
};

// {"w": a tensor whose storage has the key "0"}, as torch.save() describes it.
std::string dictionary(const Tensor& t = {}) {
  return "\x80\x02}X" + number(static_cast<uint32_t>(t.name.size())) + t.name +
         "ctorch._utils\n_rebuild_tensor_v2\n((X" + number(uint32_t{7}) + "storagec" + t.storage + "\nX" +
         number(uint32_t{1}) + "0X" + number(uint32_t{3}) + "cpu" + small(8) + "tQ" + small(t.offset) + small(t.rows) +
         small(t.columns) + "\x86" + small(t.row_stride) + small(t.column_stride) +
         "\x86\x89"
         "ccollections\nOrderedDict\n)RtRs.";
}

std::string storage() {
  std::string data;
  for (int i = 0; i < 8; ++i) data += number(static_cast<float>(i));
  return data;
}

std::map<std::string, StoredArray> read_torch(const std::string& file) {
  static ZipMembers members;  // of the last file
  return read_torch_file(as_bytes_of(file), "x.bin", members);
}

std::string archive(const Tensor& tensor) {
  return Archive().add("m/data.pkl", dictionary(tensor)).add("m/data/0", storage()).bytes();
}

TEST(TorchFile, ReadsTensorsByOffsetAndStrides) {
  const auto file = archive({});
  const auto arrays = read_torch(file);
  ASSERT_EQ(arrays.size(), 1);
  const auto array = to_array(arrays.at("w"), "x.bin", "w");
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_THAT(array.values, ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(TorchFile, ReadsTheFormBeforePyTorch16) {
  const std::string magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  const std::string file = magic + "\x80\x02M\xe9\x03." + "\x80\x02}." + dictionary() + "\x80\x02]X" +
                           number(uint32_t{1}) + "0a." + number(uint64_t{8}) + storage();
  const auto arrays = read_torch(file);
  EXPECT_THAT(to_array(arrays.at("w"), "x.bin", "w").values, ElementsAre(1, 3, 5, 2, 4, 6));
  for (size_t size = 0; size < file.size(); ++size) {
    const auto cut = file.substr(0, size);
    EXPECT_THROW(read_torch(cut), Error) << size;
  }
}

TEST(TorchFile, RefusesTensorsBeyondTheirStorage) {
  for (const Tensor& tensor : {Tensor{.offset = 3}, Tensor{.rows = 4, .row_stride = 3}, Tensor{.row_stride = 100},
                               Tensor{.offset = 0, .rows = 100, .columns = 100, .row_stride = 0, .column_stride = 0},
                               Tensor{.storage = "torch\nDoubleStorage"}}) {
    const auto file = archive(tensor);
    EXPECT_THAT(message_of<Error>([&] { read_torch(file); }), HasSubstr("damaged: w"));
  }
  const auto typeless = archive({.storage = "torch\nBoolStorage"});
  EXPECT_THAT(message_of<Error>([&] { read_torch(typeless); }), HasSubstr("BoolStorage"));
  const auto wordy = archive({.name = std::string(300, 'w')});
  EXPECT_THAT(message_of<Error>([&] { read_torch(wordy); }), HasSubstr("damaged: www"));
  const auto empty = Archive().add("m/data.pkl", dictionary()).bytes();
  EXPECT_THAT(message_of<Error>([&] { read_torch(empty); }), HasSubstr("data of w"));
}

// Offset and strides whose sum is negative: the data would begin far before the file.
TEST(TorchFile, RefusesPlacesThatOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const Tensor& tensor :
       {Tensor{.offset = kMost - 3}, Tensor{.offset = kMost}, Tensor{.offset = std::numeric_limits<int64_t>::min()},
        Tensor{.offset = -1}, Tensor{.offset = 9}, Tensor{.offset = kMost / 4 + 1}}) {
    const auto file = archive(tensor);
    EXPECT_THAT(message_of<Error>([&] { read_torch(file); }), HasSubstr("damaged: w")) << tensor.offset;
  }
  // No element, but sizes whose products are too large for strides.
  for (const Tensor& tensor : {Tensor{.rows = 0, .columns = kMost}, Tensor{.rows = kMost, .columns = 0}}) {
    const auto file = archive(tensor);
    EXPECT_THAT(message_of<Error>([&] { read_torch(file); }), HasSubstr("damaged: w"));
  }
}

}  // namespace
}  // namespace nmt::convert::torch_file_test
