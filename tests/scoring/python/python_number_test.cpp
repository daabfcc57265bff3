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
  EXPECT_EQ(json_number(NAN), "NaN");
  EXPECT_EQ(json_number(-INFINITY), "-Infinity");
  EXPECT_EQ(json_number(40), "40.0");
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
  EXPECT_EQ(test::message_of<Error>([] { fixed(1, -1); }),
            "-w -1: the number of digits after the point cannot be negative");
}

TEST(PythonNumber, JsonStringsEscapeAsPython) {
  EXPECT_EQ(json_string("a\"b\\c\n\r\t\b\f\x01/", JsonEscapes::kControlOnly), R"("a\"b\\c\n\r\t\b\f\u0001/")");
  EXPECT_EQ(json_string("μ\u2028\x7F", JsonEscapes::kControlOnly), "\"μ\u2028\x7F\"");
  EXPECT_EQ(json_string("μ\U0001F600\x7F", JsonEscapes::kAscii), "\"\\u03bc\\ud83d\\ude00\x7F\"");
  EXPECT_EQ(json_string("\xFF", JsonEscapes::kAscii), "\"\\udcff\"");  // a file name that is not UTF-8
  EXPECT_EQ(json_string("\uFFFD", JsonEscapes::kAscii), "\"\\ufffd\"");
}

TEST(PythonNumber, ParsesIntegersAsPython) {
  EXPECT_EQ(parse_int(" 42\n"), 42);
  EXPECT_EQ(parse_int("+1_000"), 1000);
  EXPECT_EQ(parse_int("-7"), -7);
  EXPECT_EQ(parse_int("007"), 7);
  for (const auto* text : {"", "x", "1.0", "1e3", "_1", "1_", "+-1", "0x10", "99999999999999999999"}) {
    EXPECT_EQ(parse_int(text), std::nullopt) << text;
  }
}

TEST(PythonNumber, ParsesRealsAsPython) {
  EXPECT_EQ(parse_float("1e1"), 10.0);
  EXPECT_EQ(parse_float(" -.5 "), -0.5);
  EXPECT_EQ(parse_float("5."), 5.0);
  EXPECT_EQ(parse_float("1_0.2_5"), 10.25);
  EXPECT_EQ(parse_float("-Infinity"), -INFINITY);
  EXPECT_TRUE(std::isnan(*parse_float("NaN")));
  for (const auto* text : {"", ".", "e5", "1e", "0x1p3", "1,5", "--1", "nan(1)"}) {
    EXPECT_EQ(parse_float(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace nmt::scoring::python_number_test
