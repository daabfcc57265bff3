#include "base/files/strict_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nmt::strict_json_test {
namespace {

using nlohmann::json;

template <typename T>
bool takes(const std::string& text) {
  try {
    const auto value = json::parse(text).get<T>();
    EXPECT_EQ(json::parse(json(value).dump()).get<T>(), value) << "it is written as it is read";
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

TEST(StrictJson, TakesWholeNumbersThatFit) {
  for (const char* text : {"0", "-1", "2147483647", "-2147483648", "3.0", "-2.147483648e9", "1e3"})
    EXPECT_TRUE(takes<int>(text)) << text;
  EXPECT_TRUE(takes<int64_t>("9223372036854775807"));
  EXPECT_TRUE(takes<int64_t>("-9223372036854775808"));
  EXPECT_TRUE(takes<int64_t>("-9.223372036854775808e18"));
  EXPECT_TRUE(takes<uint64_t>("18446744073709551615"));
  EXPECT_TRUE(takes<std::vector<int>>("[1, 2, 3e0]"));
  EXPECT_EQ(json::parse("-2.0").get<int>(), -2);
}

TEST(StrictJson, RefusesNumbersThatAreNotWholeOrDoNotFit) {
  for (const char* text : {"1e33", "-1e33", "2147483648", "2.147483648e9", "-2147483649", "4294967297", "0.5", "-1.5",
                           "18446744073709551615", "\"1\"", "true", "null", "[1]"})
    EXPECT_FALSE(takes<int>(text)) << text;
  EXPECT_FALSE(takes<int64_t>("9223372036854775808"));
  EXPECT_FALSE(takes<int64_t>("9.223372036854775808e18"));
  EXPECT_FALSE(takes<uint64_t>("-1"));
  EXPECT_FALSE(takes<uint64_t>("1.8446744073709551616e19"));
  EXPECT_FALSE(takes<std::vector<int>>("[1, 1e10]"));
  EXPECT_FALSE(takes<int>(json(std::numeric_limits<double>::quiet_NaN()).dump()));
  EXPECT_THROW(json(std::numeric_limits<double>::quiet_NaN()).get<int>(), json::exception);
}

TEST(StrictJson, LeavesOtherValuesToTheLibrary) {
  EXPECT_EQ(json::parse("true").get<bool>(), true);
  EXPECT_EQ(json::parse("1e33").get<double>(), 1e33);
  EXPECT_EQ(json::parse("3").get<double>(), 3);
  EXPECT_EQ(nlohmann::ordered_json::parse("7").get<int>(), 7);
}

}  // namespace
}  // namespace nmt::strict_json_test
