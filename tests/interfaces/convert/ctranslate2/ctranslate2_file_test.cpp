#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "base/files/file.h"
#include "convert/plain/ctranslate2.h"
#include "support.h"

namespace nmt::convert::ctranslate2_file_test {
namespace {

using test::number;

std::string text(const std::string& value) { return number(static_cast<uint16_t>(value.size() + 1)) + value + '\0'; }

template <typename T>
std::string variable(const std::string& name, std::initializer_list<uint32_t> shape, uint8_t type,
                     std::initializer_list<T> data) {
  std::string bytes = text(name) + number(static_cast<uint8_t>(shape.size()));
  for (const uint32_t size : shape) bytes += number(size);
  bytes += number(type) + number(static_cast<uint32_t>(data.size() * sizeof(T)));
  for (const T value : data) bytes += number(value);
  return bytes;
}

std::string written(CTranslate2Type type) {
  const test::TemporaryDirectory folder;
  CTranslate2File file(type);
  file.add_flag("pre_norm", 1);
  file.add_number("num_heads", 8);
  file.add_matrix("w", {.shape = {3, 2}, .values = {1, -2, 0.3f, 0.1f, 0, 0}});
  file.add_vector("b", {.shape = {2}, .values = {0.5f, 1}});
  file.add_alias("v", "w");
  file.write(folder / "model.bin", "TransformerSpec", 7);
  return read_file(folder / "model.bin");
}

std::string expected(uint32_t variables, const std::string& matrix, const std::string& vector) {
  return number(uint32_t{6}) + text("TransformerSpec") + number(uint32_t{7}) + number(variables) +
         variable<int8_t>("pre_norm", {}, 1, {1}) + variable<int16_t>("num_heads", {}, 2, {8}) + matrix + vector +
         number(uint32_t{1}) + text("v") + text("w");
}

// The layout of CTranslate2's model_spec.py.
TEST(CTranslate2File, HasTheDocumentedLayout) {
  EXPECT_EQ(written(CTranslate2Type::kFloat32), expected(4, variable<float>("w", {3, 2}, 0, {1, -2, 0.3f, 0.1f, 0, 0}),
                                                         variable<float>("b", {2}, 0, {0.5f, 1})));
}

TEST(CTranslate2File, Int8HasAScaleARow) {
  EXPECT_EQ(written(CTranslate2Type::kInt8), expected(5,
                                                      variable<int8_t>("w", {3, 2}, 1, {64, -127, 127, 42, 0, 0}) +
                                                          variable<float>("w_scale", {3}, 0, {63.5f, 127 / 0.3f, 1}),
                                                      variable<float>("b", {2}, 0, {0.5f, 1})));
}

TEST(CTranslate2File, HalvesAreHalves) {
  EXPECT_EQ(written(CTranslate2Type::kFloat16),
            expected(4, variable<uint16_t>("w", {3, 2}, 4, {0x3C00, 0xC000, 0x34CD, 0x2E66, 0, 0}),
                     variable<uint16_t>("b", {2}, 4, {0x3800, 0x3C00})));
}

TEST(CTranslate2File, NamesTheTypes) {
  EXPECT_EQ(parse_ctranslate2_type("int8_float32"), CTranslate2Type::kInt8);
  EXPECT_EQ(test::message_of<Error>([] { parse_ctranslate2_type("int4"); }),
            "--quantization: 'int4' is none of float32, int8, int8_float32, float16, bfloat16");
}

}  // namespace
}  // namespace nmt::convert::ctranslate2_file_test
