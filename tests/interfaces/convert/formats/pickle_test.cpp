#include "convert/formats/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "support.h"

namespace nmt::convert::pickle_test {
namespace {

using Kind = PickleValue::Kind;
using test::as_bytes_of;
using test::message_of;
using testing::HasSubstr;

std::string refusal(const std::string& bytes) {
  return message_of<Error>([&] { const Pickle pickle(as_bytes_of(bytes), "x.bin"); });
}

// python3 -c 'import pickle; print(pickle.dumps({"a": [1, 300, -5, 2**40], "b": (True, None, 1.5)}, 2))'
TEST(Pickle, ReadsPlainValues) {
  using namespace std::string_literals;
  const std::string bytes =
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aq\x01]q\x02(K\x01M,\x01J\xfb\xff\xff\xff\x8a\x06\x00\x00\x00\x00\x00\x01"
      "eX\x01\x00\x00\x00"
      "bq\x03\x88NG?\xf8\x00\x00\x00\x00\x00\x00\x87q\x04u."s;
  const Pickle pickle(as_bytes_of(bytes), "x.bin");
  EXPECT_EQ(pickle.size(), bytes.size());
  const auto& items = pickle.value().items;
  ASSERT_EQ(pickle.value().kind, Kind::kDict);
  ASSERT_EQ(items.size(), 4);
  EXPECT_EQ(items[0]->text, "a");
  std::vector<int64_t> numbers;
  for (const auto* item : items[1]->items) numbers.push_back(item->number);
  EXPECT_THAT(numbers, testing::ElementsAre(1, 300, -5, int64_t{1} << 40));
  ASSERT_EQ(items[3]->items.size(), 3);
  EXPECT_EQ(items[3]->items[0]->kind, Kind::kBool);
  EXPECT_EQ(items[3]->items[1]->kind, Kind::kNone);
  EXPECT_EQ(items[3]->items[2]->real, 1.5);
}

// A few bytes that ask for the same large thing again and again.
TEST(Pickle, CopiesNothingLarge) {
  const auto repeated = [](const std::string& unit) {
    std::string all;
    for (int i = 0; i < 1000; ++i) all += unit;
    return all;
  };
  const std::string list = "(" + repeated("N") + "lq\x01" + "0";
  EXPECT_THAT(refusal(list + "ctorch._utils\n_rebuild_tensor_v2\nh\x01R."), HasSubstr("damaged"));
  EXPECT_THAT(refusal(list + "h\x01Q."), HasSubstr("damaged"));
  EXPECT_THAT(refusal("c" + repeated("torch") + "\nStorage\n."), HasSubstr("damaged"));
}

TEST(Pickle, CallsNothing) {
  EXPECT_THAT(refusal("\x80\x02"
                      "cos\nsystem\nX\x04\x00\x00\x00"
                      "true\x85R."),
              HasSubstr("asks for os.system"));
  EXPECT_THAT(refusal("cbuiltins\neval\n)R."), HasSubstr("builtins.eval"));
  EXPECT_THAT(refusal("\x8c\x05posix\x8c\x06system\x93."), HasSubstr("posix.system"));
  EXPECT_THAT(refusal("ctorch.evil\nStorage\n."), HasSubstr("torch.evil.Storage"));
  for (const char opcode : {'i', 'o', '\x81', '\x92', '\x82', 'P'})  // INST, OBJ, NEWOBJ, NEWOBJ_EX, EXT1, PERSID
    EXPECT_THAT(refusal(std::string("ccollections\nOrderedDict\n)") + opcode + "x\ny\n."), HasSubstr("instruction"));
}

TEST(Pickle, KeepsTheCallsThatStandForTensors) {
  const std::string bytes = "ctorch._utils\n_rebuild_tensor_v2\n(K\x05K\x06tR.";
  const Pickle pickle(as_bytes_of(bytes), "x.bin");
  EXPECT_EQ(pickle.value().kind, Kind::kCall);
  EXPECT_EQ(pickle.value().text, "torch._utils._rebuild_tensor_v2");
  EXPECT_EQ(pickle.value().items.size(), 2);
}

TEST(Pickle, SurvivesWhatIsDamaged) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {""s, "."s, "a."s, "(."s, "]"s, "h\x05."s, "X\xff\xff\xff\xffz."s, "}(K\x01u."s, "t."s, "(0."s, "R."s,
        "}q\x01)R."s, "\x8b\xff\xff\xff\x7f."s, "Ix\n."s, "cno end"s, "\x80"s})
    EXPECT_THROW(Pickle(as_bytes_of(bytes), "x.bin"), Error) << testing::PrintToString(bytes);
  // A value that contains itself, and one that is deep, are never walked.
  const std::string cycle =
      "]q\x01h\x01"
      "a.";
  EXPECT_NO_THROW(Pickle(as_bytes_of(cycle), "x.bin"));
  const std::string deep = "]" + std::string(50000, '\x85') + ".";
  EXPECT_NO_THROW(Pickle(as_bytes_of(deep), "x.bin"));
  EXPECT_THAT(refusal(std::string(1 << 20, ']') + "."), HasSubstr("too many steps"));
}

}  // namespace
}  // namespace nmt::convert::pickle_test
