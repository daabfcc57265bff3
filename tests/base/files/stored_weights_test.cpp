#include "base/files/stored_weights.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <list>

#include "base/error.h"
#include "support.h"

namespace nmt::stored_weights_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(IsQuantized, TakesTablesAndTheMatricesOfAffineMaps) {
  for (const char* name :
       {"embedding", "source_embedding", "target_embedding", "output_weight", "encoder_0.self_attention.query.weight",
        "decoder_11.cross_attention.output.weight", "decoder_0.feed_forward.gated.weight"})
    EXPECT_TRUE(is_quantized(name, 2)) << name;
  for (const char* name : {"output_bias", "encoder_0.self_attention.query.bias", "encoder_norm.weight",
                           "source_positions.weight", "encoder_0.self_attention.positions.weight",
                           "encoder_0.self_attention.positions.key.weight", "embedding_scale", "weight"})
    EXPECT_FALSE(is_quantized(name, 2)) << name;
  EXPECT_FALSE(is_quantized("encoder_0.self_attention.query.weight", 1));
}

TEST(QuantizeRow, GivesTheLargestMagnitude127Units) {
  const std::vector<float> row{0.0f, -2.54f, 1.27f, 0.03f, 0.05f};
  std::vector<int8_t> numbers(row.size(), 99);
  EXPECT_FLOAT_EQ(quantize_row(row, numbers.data()), 0.02f);
  EXPECT_THAT(numbers, ElementsAre(0, -127, 64, 2, 2)) << "63.5 and 2.5 units are ties: to even; 1.5 units go up";
}

TEST(QuantizeRow, KeepsWhatIsNoNumberAndWhatIsNothing) {
  std::vector<int8_t> numbers(2, 99);
  EXPECT_EQ(quantize_row(std::vector<float>{0, 0}, numbers.data()), 0);
  EXPECT_THAT(numbers, ElementsAre(0, 0));
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(quantize_row(std::vector<float>{1, wrong}, numbers.data())));
    EXPECT_THAT(numbers, ElementsAre(0, 0));
  }
}

/// A file's tensors; bytes are kept here.
class File {
 public:
  template <typename T>
  File& add(const std::string& name, const std::string& type, std::vector<int64_t> shape, std::vector<T> values) {
    std::string& bytes = bytes_.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    index_.tensors.push_back(
        {.name = name, .type = type, .shape = std::move(shape), .data = std::as_bytes(std::span<const char>(bytes))});
    return *this;
  }
  std::map<std::string, StoredWeight> read(WeightType type) const { return stored_weights(index_, type, "F"); }

 private:
  std::list<std::string> bytes_;
  SafetensorsIndex index_;
};

const std::string kQuery = "encoder_0.self_attention.query.weight";

TEST(StoredWeights, AreRowsTimesScales) {
  File int8, bf16;
  int8.add<int8_t>("embedding", "I8", {2, 3}, {1, -2, 3, 127, 0, -127})
      .add<float>("embedding_scale", "F32", {2}, {0.5f, 2})
      .add<float>("output_bias", "F32", {2}, {7, 8});
  const auto weights = int8.read(WeightType::kInt8);
  ASSERT_EQ(weights.size(), 2);
  EXPECT_THAT(weights.at("embedding").to_floats(), ElementsAre(0.5f, -1, 1.5f, 254, 0, -254));
  EXPECT_THAT(weights.at("output_bias").to_floats(), ElementsAre(7, 8));
  bf16.add<uint16_t>(kQuery, "BF16", {1, 2}, {0x3f80, 0xc020});
  EXPECT_THAT(bf16.read(WeightType::kBfloat16).at(kQuery).to_floats(), ElementsAre(1, -2.5f));
}

TEST(StoredWeights, OfAnotherTypeAreRefused) {
  const auto message = [](const File& file, WeightType type) {
    return test::message_of<Error>([&] { file.read(type); });
  };
  EXPECT_THAT(message(File().add<float>(kQuery, "F32", {1, 1}, {1}), WeightType::kInt8),
              HasSubstr("F: tensor " + kQuery + " is F32, in a directory of int8 weights it is I8"));
  EXPECT_THAT(message(File().add<int8_t>(kQuery, "I8", {1, 1}, {1}), WeightType::kBfloat16),
              HasSubstr("is I8, in a directory of bf16 weights it is BF16"));
  EXPECT_THAT(message(File().add<int8_t>("encoder_norm.weight", "I8", {1}, {1}), WeightType::kInt8),
              HasSubstr("encoder_norm.weight is I8, in a directory of int8 weights it is F32"));
}

TEST(StoredWeights, WithWrongScalesAreRefused) {
  const auto message = [](const std::string& name, const std::string& type, std::vector<int64_t> shape,
                          std::vector<float> scales) {
    File file;
    file.add<int8_t>(kQuery, "I8", {2, 1}, {1, 2});
    if (!name.empty()) file.add<float>(name, type, std::move(shape), std::move(scales));
    return test::message_of<Error>([&] { file.read(WeightType::kInt8); });
  };
  EXPECT_THAT(message("", "", {}, {}), HasSubstr("F: tensor " + kQuery + "_scale is missing"));
  EXPECT_THAT(message(kQuery + "_scale", "F32", {1}, {1}), HasSubstr("_scale is not F32 [2], a number a row"));
  EXPECT_THAT(message(kQuery + "_scale", "F32", {2, 1}, {1, 1}), HasSubstr("is not F32 [2]"));
  EXPECT_THAT(message(kQuery + "_scale", "I32", {2}, {1, 1}), HasSubstr("is not F32 [2]"));
  for (const float wrong : {-1.0f, std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_THAT(message(kQuery + "_scale", "F32", {2}, {1, wrong}), HasSubstr("negative or not finite"));
  File stray;
  stray.add<float>("embedding_scale", "F32", {2}, {1, 1});
  EXPECT_THAT(test::message_of<Error>([&] { stray.read(WeightType::kInt8); }),
              HasSubstr("F: tensor embedding_scale belongs to no int8 weight"));
  stray.add<uint16_t>("embedding", "BF16", {2, 1}, {1, 1});
  EXPECT_THAT(test::message_of<Error>([&] { stray.read(WeightType::kBfloat16); }),
              HasSubstr("embedding_scale belongs to no int8 weight"));
}

TEST(StoredWeights, TakeRowsWhoseSumsAreExact) {
  const int64_t columns = (1 << 16) + 1;
  File file;
  file.add<int8_t>(kQuery, "I8", {1, columns}, std::vector<int8_t>(columns))
      .add<float>(kQuery + "_scale", "F32", {1}, {1});
  EXPECT_THAT(test::message_of<Error>([&] { file.read(WeightType::kInt8); }),
              HasSubstr("65537 columns, int8 takes 65536"));
}

}  // namespace
}  // namespace nmt::stored_weights_test
