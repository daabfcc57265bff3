#include "server/languages/language_name.h"

#include <gtest/gtest.h>

namespace nmt::language_name_test {
namespace {

TEST(LanguageName, IsEnglish) {
  EXPECT_EQ(language_name("de"), "German");
  EXPECT_EQ(language_name("pt-BR"), "Portuguese (Brazil)");
  EXPECT_EQ(language_name("qqx"), "qqx");
  EXPECT_EQ(language_name("no such code!"), "no such code!");
}

}  // namespace
}  // namespace nmt::language_name_test
