#include "base/files/adapter.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/stored_weights.h"
#include "support.h"

namespace nmt::adapter_test {
namespace {

using test::message_of;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kMatrix = "encoder_0.feed_forward.inner.weight";
std::filesystem::path golden(const std::string& name) { return test::source_directory() / "tests/base/golden" / name; }

/// 0, 1/8, 2/8, ..., as in make_adapter.py.
std::vector<float> base() {
  std::vector<float> values;
  for (int i = 0; i < 12; ++i) values.push_back(static_cast<float>(i) / 8);
  return values;
}

TEST(Adapter, AddsWhatNumpyAdds) {
  const auto adapter = read_adapter(golden("adapter.safetensors"));
  EXPECT_EQ(adapter.base, "0123");
  EXPECT_EQ(adapter.scale, 3);
  auto matrix = base();
  adapter.add_to(kMatrix, std::vector<int64_t>{3, 4}, matrix);
  std::ifstream expected(golden("adapter_merged.tsv"));
  for (const float found : matrix) {
    float value = 0;
    ASSERT_TRUE(expected >> value);
    EXPECT_NEAR(found, value, 1e-5);
  }
}

TEST(Adapter, LeavesOtherMatricesAndRows) {
  const auto adapter = read_adapter(golden("adapter.safetensors"));
  auto matrix = base();
  adapter.add_to("encoder_0.feed_forward.outer.weight", std::vector<int64_t>{3, 4}, matrix);
  EXPECT_EQ(matrix, base());

  auto whole = base(), parts = base();
  const auto update = adapter.factors.at(kMatrix).update();
  add_update(whole, update, adapter.scale, 0, 3);
  add_update(parts, update, adapter.scale, 2, 3);
  const auto first = base();
  EXPECT_TRUE(std::equal(first.begin(), first.begin() + 8, parts.begin()));
  add_update(parts, update, adapter.scale, 0, 2);
  EXPECT_EQ(parts, whole);
}

TEST(Adapter, RefusesAMatrixOfAnotherShape) {
  const auto adapter = read_adapter(golden("adapter.safetensors"));
  auto matrix = base();
  EXPECT_THAT(message_of<Error>([&] {
                adapter.add_to(kMatrix, std::vector<int64_t>{4, 3}, matrix);
              }),
              HasSubstr("encoder_0.feed_forward.inner.weight has another shape in the model"));
}

TEST(Adapter, IsForOneModel) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "model.safetensors", "weights");
  auto adapter = read_adapter(golden("adapter.safetensors"));
  EXPECT_THAT(message_of<Error>([&] { require_base(adapter, folder.path()); }),
              HasSubstr("adapter.safetensors: is for a model whose weights have the SHA-256 0123, those of " +
                        (folder / "model.safetensors").string() + " have " + sha256_of_bytes("weights") +
                        "; name the model that it was trained from (for int8, nmt-export --adapter"));
  adapter.base = sha256_of_bytes("weights");
  require_base(adapter, folder.path());
}

/// A file of zeros.
std::string file_of(const std::vector<SafetensorsEntry>& entries, const std::map<std::string, std::string>& metadata,
                    char value = 0) {
  std::string bytes = safetensors_header(entries, metadata);
  for (const auto& entry : entries) {
    int64_t numbers = entry.type == "F32" ? 4 : 2;
    for (const int64_t size : entry.shape) numbers *= size;
    bytes.append(static_cast<size_t>(numbers), value);
  }
  return bytes;
}

TEST(Adapter, RefusesWhatIsNone) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "f.safetensors";
  const auto message = [&](const std::string& bytes) {
    write_file_atomically(path, bytes);
    return message_of<Error>([&] { read_adapter(path); });
  };
  const SafetensorsEntry a{"m.lora_A.weight", "F32", {2, 3}, {}}, b{"m.lora_B.weight", "F32", {4, 2}, {}};
  const auto about = adapter_metadata("0", 2, 16);
  EXPECT_THAT(message(file_of({a, b}, {})), HasSubstr("f.safetensors: is no adapter: base_sha256 is missing"));
  auto wrong = about;
  for (const char* rank : {"", "0", "-2", "nan", "2x"}) {
    wrong["lora_rank"] = rank;
    EXPECT_THAT(message(file_of({a, b}, wrong)), HasSubstr("damaged: lora_rank is '" + std::string(rank) + "'"));
  }
  EXPECT_THAT(message(file_of({a}, about)), HasSubstr("damaged: a factor of m.weight is missing"));
  EXPECT_THAT(message(file_of({a, {"m.lora_B.weight", "F32", {4, 1}, {}}}, about)),
              HasSubstr("tensor m.lora_B.weight is not of rank 2"));
  EXPECT_THAT(message(file_of({a, {"m.lora_B.weight", "F32", {8}, {}}}, about)),
              HasSubstr("tensor m.lora_B.weight is no matrix of F32"));
  EXPECT_THAT(message(file_of({a, {"m.lora_B.weight", "BF16", {4, 2}, {}}}, about)),
              HasSubstr("tensor m.lora_B.weight is no matrix of F32"));
  EXPECT_THAT(message(file_of({{"m.weight", "F32", {2, 2}, {}}}, about)),
              HasSubstr("tensor m.weight is no factor of an update"));
  EXPECT_THAT(message(file_of({a, b}, about, '\xff')), HasSubstr("has numbers that are not finite"));
  EXPECT_THAT(message("no tensors"), HasSubstr("damaged"));
}

}  // namespace
}  // namespace nmt::adapter_test
