#include "text/language_code.h"

#include <gtest/gtest.h>

namespace nmt::language_code_test {
namespace {

TEST(MayBeIso639, TakesCodesAndWhatMayStandBehindThem) {
  for (const char* code : {"de", "cs", "CS", "pt_BR", "zh-Hant", "mul", "und", "cze", "ces", "hsb", "sr-Latn-RS", "iw"})
    EXPECT_TRUE(may_be_iso_639(code)) << code;
  for (const char* code : {"czech", "German", "cz", "xx", "c", "12", "d3", "", "-de"})
    EXPECT_FALSE(may_be_iso_639(code)) << code;
}

}  // namespace
}  // namespace nmt::language_code_test
