#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "convert/formats/weight_file.h"
#include "support.h"

namespace nmt::convert::npz_test {
namespace {

using test::Archive;
using test::as_bytes_of;
using test::message_of;
using test::number;
using testing::ElementsAre;
using testing::HasSubstr;

/// An array as NumPy's page on the format describes it; Marian writes version 1 with other spaces.
std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string header = dictionary + " \n";
  const std::string length =
      version == 1 ? number(static_cast<uint16_t>(header.size())) : number(static_cast<uint32_t>(header.size()));
  return "\x93NUMPY" + std::string{version, 0} + length + header + data;
}

std::string description(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string floats(int count) {
  std::string data;
  for (int i = 0; i < count; ++i) data += number(static_cast<float>(i));
  return data;
}

std::vector<float> values(const std::string& bytes) {
  return to_array(read_npy(as_bytes_of(bytes), "x"), "x", "w").values;
}

std::string refusal(const std::string& bytes) {
  return message_of<Error>([&] { read_npy(as_bytes_of(bytes), "x.npz: w"); });
}

TEST(Npz, ReadsArraysInBothOrders) {
  const auto rows = npy(description("<f4", "(2, 3)"), floats(6));
  EXPECT_THAT(read_npy(as_bytes_of(rows), "x").shape, ElementsAre(2, 3));
  EXPECT_THAT(values(rows), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(values(npy(description("<f4", "(2, 3)", "True"), floats(6))), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(values(npy(description("<f4", "(3,)"), floats(3), 2)), ElementsAre(0, 1, 2));
  EXPECT_THAT(values(npy(description("<f4", "()"), floats(1))), ElementsAre(0));
  EXPECT_THAT(values(npy(description("<f2", "(1,)"), number(uint16_t{0x3C00}))), ElementsAre(1));
  EXPECT_EQ(read_npy(as_bytes_of(npy(description("|i1", "(2,)"), "ab")), "x").type, "I8");
}

TEST(Npz, NamesTheMembersWithoutTheirEnding) {
  const auto file = Archive()
                        .add("Wemb.npy", npy(description("<f4", "(2,)"), floats(2)))
                        .add("special:model.yml.npy", npy(description("|i1", "(3,)"), "a: "))
                        .bytes();
  const auto members = read_zip(as_bytes_of(file), "x.npz");
  const auto arrays = read_npz(members, "x.npz");
  ASSERT_EQ(arrays.size(), 2);
  EXPECT_EQ(arrays.at("special:model.yml").data.size(), 3);
  EXPECT_THAT(to_array(arrays.at("Wemb"), "x.npz", "Wemb").values, ElementsAre(0, 1));
}

TEST(Npz, RefusesWhatLies) {
  EXPECT_THAT(refusal(npy(description("|O", "(1,)"), "cos\nsystem\n.")), HasSubstr("Python objects"));
  EXPECT_THAT(refusal(npy(description("<f4", "(3,)"), floats(2))), HasSubstr("shorter than its shape"));
  EXPECT_THAT(refusal(npy(description("<f4", "(1,)"), floats(2))), HasSubstr("longer than its shape"));
  for (const char* shape :
       {"(4611686018427387904, 4)", "(4294967296, 4294967296, 4294967296)", "(-1,)", "(99999999999999999999,)",
        "(1,1,1,1,1,1,1,1,1)", "2", "(4611686018427387904, 4, 0)", "(0, 4611686018427387904, 4, 4)"}) {
    EXPECT_THAT(refusal(npy(description("<i8", shape, "True"), "")), HasSubstr("damaged")) << shape;
    EXPECT_THAT(refusal(npy(description("<f4", shape), floats(1))), HasSubstr("damaged")) << shape;
  }
  EXPECT_THAT(refusal("PK"), HasSubstr("not an array of NumPy"));
  std::string long_header = npy(description("<f4", "(1,)"), floats(1), 2);
  long_header[9] = '\x7f';  // of the four bytes of its length
  EXPECT_THAT(refusal(long_header), HasSubstr("damaged"));
  EXPECT_THAT(message_of<Error>([&] { values(npy(description("<i8", "(1,)"), std::string(8, 'x'))); }),
              HasSubstr("type <i8"));
}

TEST(Npz, SeesEveryCut) {
  const auto whole = npy(description("<f4", "(2, 3)"), floats(6));
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto cut = whole.substr(0, size);
    EXPECT_THROW(read_npy(as_bytes_of(cut), "x"), Error) << size;
  }
}

}  // namespace
}  // namespace nmt::convert::npz_test
