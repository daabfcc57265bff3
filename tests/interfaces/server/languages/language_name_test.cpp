#include <gtest/gtest.h>

#include "server/languages/service_languages.h"

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
