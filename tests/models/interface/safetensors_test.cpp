#include "models/interface/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/random.h"
#include "support.h"
#include "tensor_support.h"

namespace nmt::safetensors_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using test::wave;

std::string length_bytes(uint64_t length) { return {reinterpret_cast<const char*>(&length), sizeof length}; }

std::string file_of(const std::string& header, const std::string& data) {
  return length_bytes(header.size()) + header + data;
}

// Two tensors: a = F32 [2, 3], b = I64 [1]; 32 bytes of data.
NamedTensors two_tensors() { return {{"a", wave({2, 3})}, {"b", torch::tensor({int64_t{1} << 40}, torch::kInt64)}}; }
const char* kHeader =
    R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"I64","shape":[1],"data_offsets":[24,32]}})";

TEST(Safetensors, KeepsEveryTypeAndShape) {
  const TemporaryDirectory folder;
  const auto path = folder / "all.safetensors";
  NamedTensors tensors;
  for (const auto type : {torch::kFloat32, torch::kBFloat16, torch::kFloat16, torch::kFloat64, torch::kInt64,
                          torch::kInt32, torch::kInt8, torch::kUInt8})
    tensors.emplace_back(std::string("type ") + toString(type), (wave({3, 5}, 100) + 101).to(type));
  tensors.emplace_back("scalar", torch::tensor(2.5f));
  tensors.emplace_back("empty", torch::empty({0, 4}));
  tensors.emplace_back("transposed", wave({4, 6}).t());
  tensors.emplace_back("part of a larger one", wave({4, 6}).select(1, 2));
  tensors.emplace_back("a \"name\" with \xc3\xbc", wave({1}));
  save_safetensors(path, tensors, {{"format", "pt"}, {"note", "x"}});

  const auto file = load_safetensors(path);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(file.tensors.contains(name)) << name;
    const auto& found = file.tensors.at(name);
    EXPECT_EQ(found.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(found.equal(tensor)) << name;
  }
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"format", "pt"}, {"note", "x"}}));
}

TEST(Safetensors, OwnsWhatItRead) {
  const TemporaryDirectory folder;
  const auto path = folder / "x.safetensors";
  save_safetensors(path, two_tensors());
  const auto file = load_safetensors(path);
  write_file_atomically(path, "gone");
  EXPECT_TRUE(file.tensors.at("a").equal(two_tensors()[0].second));
}

TEST(Safetensors, MapsWhatItWouldRead) {
  const TemporaryDirectory folder;
  const auto path = folder / "x.safetensors";
  const NamedTensors tensors = {
      {"a", wave({2, 3})}, {"b", wave({7}, 100).to(torch::kInt8)}, {"empty", torch::empty({0})}};
  save_safetensors(path, tensors, {{"k", "v"}});
  auto mapped = map_safetensors(path);
  EXPECT_EQ(mapped.file.metadata.at("k"), "v");
  ASSERT_EQ(mapped.file.tensors.size(), 3U);
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(mapped.file.tensors.at(name).equal(tensor)) << name;
  const auto* data = static_cast<const std::byte*>(mapped.file.tensors.at("a").const_data_ptr());
  EXPECT_TRUE(data >= mapped.mapping->bytes().data() && data < &mapped.mapping->bytes().back()) << "not a copy";
  const auto a = mapped.file.tensors.at("a");
  mapped = {};
  write_file_atomically(path, "gone");
  EXPECT_TRUE(a.equal(tensors[0].second)) << "a tensor keeps its file mapped";
  a.mul_(2);
  EXPECT_TRUE(a.equal(tensors[0].second * 2));
}

TEST(Safetensors, SharesTensorsUnderTheChecksOfCopying) {
  const TemporaryDirectory folder;
  const auto path = folder / "x.safetensors";
  save_safetensors(path, two_tensors());
  const auto file = map_safetensors(path).file;
  const NamedTensors targets = {{"a", torch::zeros({2, 3}).requires_grad_(true)},
                                {"b", torch::zeros({1}, torch::kInt64)}};
  share_with(targets, file, path);
  EXPECT_TRUE(targets[0].second.equal(two_tensors()[0].second));
  EXPECT_TRUE(targets[0].second.requires_grad());
  EXPECT_EQ(targets[0].second.const_data_ptr(), file.tensors.at("a").const_data_ptr());
  const NamedTensors wrong = {{"a", torch::zeros({3, 2})}, {"b", torch::zeros({1}, torch::kInt64)}};
  EXPECT_EQ(message_of<Error>([&] { share_with(wrong, file, path); }),
            path.string() + ": tensor a is F32 [2, 3], the configuration needs F32 [3, 2]");
}

// Read by hand, as another program would.
TEST(Safetensors, WritesTheDocumentedLayout) {
  const TemporaryDirectory folder;
  const auto path = folder / "x.safetensors";
  save_safetensors(path, two_tensors(), {{"k", "v"}});
  const auto bytes = read_file(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 8, 0) << "data starts aligned";
  ASSERT_EQ(bytes.size(), 8 + length + 32);
  const auto header = bytes.substr(8, length);
  EXPECT_EQ(header.front(), '{');
  EXPECT_EQ(nlohmann::json::parse(header),
            nlohmann::json::parse(std::string(R"({"__metadata__":{"k":"v"},)") + (kHeader + 1)));
  EXPECT_LT(header.find("\"a\""), header.find("\"b\"")) << "tensors in the given order";
  float third = 0;
  std::memcpy(&third, bytes.data() + 8 + length + 8, 4);
  EXPECT_EQ(third, two_tensors()[0].second.flatten()[2].item<float>());
  int64_t number = 0;
  std::memcpy(&number, bytes.data() + 8 + length + 24, 8);
  EXPECT_EQ(number, int64_t{1} << 40);
}

TEST(Safetensors, ReadsAForeignFile) {
  const TemporaryDirectory folder;
  const auto path = folder / "foreign.safetensors";
  const float values[] = {1, 2, 3, 4, 5, 6};
  std::string data(reinterpret_cast<const char*>(values), sizeof values);
  data += length_bytes(7);
  write_file_atomically(path, file_of(kHeader, data));  // no blanks: its data starts unaligned
  const auto file = load_safetensors(path);
  EXPECT_TRUE(file.tensors.at("a").equal(torch::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}})));
  EXPECT_EQ(file.tensors.at("b").item<int64_t>(), 7);
  const auto mapped = map_safetensors(path).file;
  EXPECT_TRUE(mapped.tensors.at("a").equal(file.tensors.at("a")));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped.tensors.at("a").const_data_ptr()) % 4, 0U);
}

std::string with(const std::string& from, const std::string& to) {
  std::string header = kHeader;
  const auto at = header.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "no " << from << " in the header";
  return file_of(header.replace(at, from.size(), to), std::string(32, 'x'));
}

TEST(Safetensors, RefusesDamagedFiles) {
  const std::string good = file_of(kHeader, std::string(32, 'x'));
  struct Case {
    const char* what;
    std::string bytes;
    const char* message;
  };
  const std::string cut = "shorter than its header", json = "its header is not JSON",
                    form = "a header entry of the wrong form";
  const Case cases[] = {
      {"empty", "", "shorter than its header"},
      {"ends in the length", good.substr(0, 5), "shorter than its header"},
      {"ends in the header", good.substr(0, 40), "shorter than its header"},
      {"ends before the data", good.substr(0, good.size() - 32), "shape of a"},
      {"ends in the data", good.substr(0, good.size() - 1), "extent of b"},
      {"length beyond the file", length_bytes(good.size()) + good.substr(8), "shorter than its header"},
      {"length of all ones", length_bytes(~uint64_t{0}) + good.substr(8), "shorter than its header"},
      {"length one short", length_bytes(std::strlen(kHeader) - 1) + good.substr(8),
       "its header is not JSON (at byte 112)"},
      {"length one long", length_bytes(std::strlen(kHeader) + 1) + good.substr(8),
       "its header is not JSON (at byte 113)"},
      {"length zero", length_bytes(0) + good.substr(8), "its header is not JSON (at byte 1)"},
      {"header is text", file_of("hello", ""), "its header is not JSON (at byte 1)"},
      {"header is a list", file_of("[]", ""), "its header is not JSON of the right form"},
      {"header is not UTF-8", with("\"a\"", "\"\xff\""), "its header is not JSON (at byte 3)"},
      {"header holds zeros", file_of(std::string(64, '\0'), ""), "its header is not JSON (at byte 1)"},
      {"entry is a number", with(R"({"dtype":"I64","shape":[1],"data_offsets":[24,32]})", "5"),
       "a header entry of the wrong form"},
      {"entry is a list", with(R"({"dtype":"I64","shape":[1],"data_offsets":[24,32]})", "[]"),
       "a header entry of the wrong form"},
      {"no type", with(R"("dtype":"I64",)", ""), "a header entry of the wrong form"},
      {"type is a number", with("\"I64\"", "64"), "a header entry of the wrong form"},
      {"unknown type", with("I64", "C64"), "unknown type C64 of b"},
      {"another type", with("I64", "I32"), "extent of b"},
      {"no shape", with(R"("shape":[1],)", ""), "a header entry of the wrong form"},
      {"shape of text", with("[1]", "\"1\""), "a header entry of the wrong form"},
      {"shape of fractions", with("[2,3]", "[2.5,3]"), "a header entry of the wrong form"},
      {"negative shape", with("[2,3]", "[-2,-3]"), "shape of a"},
      {"smaller shape", with("[2,3]", "[2,2]"), "extent of a"},
      {"larger shape", with("[2,3]", "[3,3]"), "shape of a"},
      {"shape that overflows", with("[2,3]", "[4294967296,4294967296,2,3]"), "shape of a"},
      {"shape that overflows around zero",
       with(R"([2,3],"data_offsets":[0,24])", R"([0,4611686018427387904,4611686018427387904],"data_offsets":[0,0])"),
       "shape of a"},
      {"no offsets", with(R"(,"data_offsets":[0,24])", ""), "a header entry of the wrong form"},
      {"one offset", with("[0,24]", "[24]"), "extent of a"},
      {"three offsets", with("[0,24]", "[0,24,24]"), "extent of a"},
      {"swapped offsets", with("[0,24]", "[24,0]"), "extent of a"},
      {"negative offset", with("[0,24]", "[-24,0]"), "a header entry of the wrong form"},
      {"offset beyond the data", with("[24,32]", "[25,33]"), "extent of b"},
      {"offsets that overflow", with("[24,32]", "[18446744073709551608,18446744073709551616]"),
       "a header entry of the wrong form"},
      {"metadata of numbers", with("{\"a\"", R"({"__metadata__":{"k":1},"a")"), "a header entry of the wrong form"},
  };
  const TemporaryDirectory folder;
  const auto path = folder / "damaged.safetensors";
  write_file_atomically(path, good);
  EXPECT_EQ(load_safetensors(path).tensors.size(), 2);  // undamaged it is read
  for (const auto& c : cases) {
    write_file_atomically(path, c.bytes);
    EXPECT_EQ(message_of<Error>([&] { load_safetensors(path); }),
              path.string() + ": damaged: " + c.message + "; copy the file again or use another checkpoint")
        << c.what;
  }
}

TEST(Safetensors, SurvivesChangedBytes) {
  const TemporaryDirectory folder;
  const auto path = folder / "changed.safetensors";
  const std::string good = file_of(kHeader, std::string(32, 'x'));
  int refused = 0;
  for (uint64_t round = 0; round < 400; ++round) {
    CounterRandom random({17, round});
    auto bytes = good;
    for (uint64_t i = 0; i <= random.below(3); ++i)
      bytes[random.below(bytes.size() - 32)] = static_cast<char>(random.below(256));
    write_file_atomically(path, bytes);
    try {
      load_safetensors(path);
    } catch (const Error&) {
      ++refused;
    }  // anything else ends the test
  }
  EXPECT_GT(refused, 200);
}

TEST(Safetensors, ReportsAMissingFileAndFolder) {
  const TemporaryDirectory folder;
  EXPECT_THAT(message_of<Error>([&] { load_safetensors(folder / "none"); }),
              testing::HasSubstr((folder / "none").string()));
  EXPECT_THAT(message_of<Error>([&] { load_safetensors(folder.path()); }), testing::HasSubstr("is a folder"));
}

TEST(CopyInto, FillsTargetsAndNamesWhatDoesNotFit) {
  const std::filesystem::path path = "m.safetensors";
  const auto file_with = [](std::map<std::string, torch::Tensor> tensors) {
    return SafetensorsFile{std::move(tensors), {}};
  };
  auto a = torch::zeros({2, 3}).requires_grad_(true), b = torch::zeros({4});
  const NamedTensors targets = {{"a", a}, {"b", b}};
  copy_into(targets, file_with({{"a", wave({2, 3})}, {"b", wave({4}, 2)}}), path);
  EXPECT_TRUE(a.equal(wave({2, 3})));
  EXPECT_TRUE(b.equal(wave({4}, 2)));

  const auto message = [&](std::map<std::string, torch::Tensor> tensors) {
    return message_of<Error>([&] { copy_into(targets, file_with(std::move(tensors)), path); });
  };
  EXPECT_EQ(message({{"a", wave({2, 3})}}), "m.safetensors: tensor b is missing");
  EXPECT_EQ(message({{"a", wave({2, 3})}, {"b", wave({4})}, {"c", wave({1})}}),
            "m.safetensors: tensor c belongs to no part of this model");
  EXPECT_EQ(message({{"a", wave({3, 2})}, {"b", wave({4})}}),
            "m.safetensors: tensor a is F32 [3, 2], the configuration needs F32 [2, 3]");
  EXPECT_EQ(message({{"a", wave({2, 3})}, {"b", wave({4}).to(torch::kFloat64)}}),
            "m.safetensors: tensor b is F64 [4], the configuration needs F32 [4]");
}

}  // namespace
}  // namespace nmt::safetensors_test
