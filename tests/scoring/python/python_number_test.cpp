#include "scoring/python/python_number.h"

#include <cmath>
#include <cstdlib>
#include <random>

#include "base/error.h"
#include "support.h"

namespace nmt::scoring::python_number_test {
namespace {

TEST(PythonNumber, ReprEqualsPython) {
  struct Case {
    double value;
    std::string text;
  };
  for (const auto& [value, text] :
       {Case{100, "100.0"}, Case{0, "0.0"}, Case{-0.0, "-0.0"}, Case{48.530827009929865, "48.530827009929865"},
        Case{0.1, "0.1"}, Case{1e-4, "0.0001"}, Case{1e-5, "1e-05"}, Case{1.5e-7, "1.5e-07"},
        Case{1e15, "1000000000000000.0"}, Case{1e16, "1e+16"}, Case{1.25e100, "1.25e+100"}, Case{123456.5, "123456.5"},
        Case{-2.5, "-2.5"}, Case{NAN, "nan"}, Case{INFINITY, "inf"}, Case{-INFINITY, "-inf"}, Case{5e-324, "5e-324"}}) {
    EXPECT_EQ(repr(value), text);
  }
}

TEST(PythonNumber, ReprReadsBackAsTheSameNumber) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 130);
    ASSERT_EQ(std::strtod(repr(value).c_str(), nullptr), value);
  }
}

TEST(PythonNumber, FixedRoundsTheExactValue) {
  EXPECT_EQ(fixed(0.25, 1), "0.2");  // halves to even
  EXPECT_EQ(fixed(0.35, 1), "0.3");  // less than a half in binary
  EXPECT_EQ(fixed(2.5, 0), "2");
  EXPECT_EQ(fixed(99.95, 1), "100.0");
  EXPECT_EQ(fixed(0.1, 60), "0.100000000000000005551115123125782702118158340454101562500000");
  EXPECT_EQ(fixed(1 + 0x1p-52, 1000), "1.0000000000000002220446049250313080847263336181640625" + std::string(948, '0'));
  EXPECT_EQ(fixed(-1e300, 1000).size(), 1 + 301 + 1 + 1000u);
  EXPECT_EQ(fixed(NAN, 1), "nan");
  EXPECT_EQ(fixed(-NAN, 1), "nan");
  EXPECT_EQ(fixed(INFINITY, 2), "inf");
  EXPECT_EQ(nmt::test::message_of<Error>([] { fixed(1, -1); }),
            "-w -1: the number of digits after the point cannot be negative");
}

TEST(PythonNumber, WritesJsonAsPython) {
  EXPECT_EQ(json_string("a\"b\\c\n\r\t\b\f\x01/", {}), R"("a\"b\\c\n\r\t\b\f\u0001/")");
  EXPECT_EQ(json_string("μ\u2028\x7F", {}), "\"μ\u2028\x7F\"");
  EXPECT_EQ(json_string("μ\U0001F600", {.only_ascii = true}), "\"\\u03bc\\ud83d\\ude00\"");
  EXPECT_EQ(json_string("\xFF", {.only_ascii = true}), "\"\\ufffd\"");
  EXPECT_EQ(json_object({{"a", "1"}, {"b", "null"}}, {.indent = 2}, 1), "{\n    \"a\": 1,\n    \"b\": null\n  }");
}

}  // namespace
}  // namespace nmt::scoring::python_number_test
