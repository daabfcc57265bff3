#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "server/admission.h"
#include "support.h"

namespace nmt::api_keys_test {
namespace {

using testing::HasSubstr;

class ApiKeysTest : public testing::Test {
 protected:
  ApiKeys keys(const std::string& text) {
    std::ofstream(folder_.path() / "keys") << text;
    return ApiKeys::from_file(folder_.path() / "keys");
  }
  std::string refusal(const std::string& text) {
    try {
      keys(text);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  test::TemporaryDirectory folder_;
};

TEST_F(ApiKeysTest, AFileOfKeys) {
  const auto all = keys("# key requests characters name\n\nabc 60 10000 nextcloud\r\n  def\t-\t500\nghi 7\njkl\n");
  ASSERT_NE(all.find("abc"), nullptr);
  EXPECT_EQ(all.find("abc")->name, "nextcloud");
  EXPECT_EQ(all.find("abc")->limit.requests, 60);
  EXPECT_EQ(all.find("abc")->limit.characters, 10000);
  EXPECT_EQ(all.find("def")->limit.requests, 0);
  EXPECT_EQ(all.find("def")->limit.characters, 500);
  EXPECT_EQ(all.find("def")->name, "line 4");
  EXPECT_EQ(all.find("ghi")->limit.requests, 7);
  EXPECT_FALSE(all.find("jkl")->limit.any());
  for (const char* wrong : {"", "ab", "abc ", "ABC", "abcd", "nextcloud", "#"}) EXPECT_EQ(all.find(wrong), nullptr);
}

TEST_F(ApiKeysTest, AByteOrderMarkIsNoPartOfTheFirstKey) {
  const auto all = keys(
      "\xEF\xBB\xBF"
      "abc 60\ndef\n");
  EXPECT_NE(all.find("abc"), nullptr);
  EXPECT_NE(all.find("def"), nullptr);
  EXPECT_EQ(keys("\xEF\xBB\xBF# keys\nabc\n").find("#"), nullptr);
  EXPECT_THAT(refusal("\xEF\xBB\xBF"), HasSubstr("holds no key"));
}

TEST_F(ApiKeysTest, ASingleKey) {
  EXPECT_NE(ApiKeys::single("secret").find("secret"), nullptr);
  EXPECT_EQ(ApiKeys::single("secret").find("secre"), nullptr);
  EXPECT_THROW(ApiKeys::single(""), Error);
  EXPECT_TRUE(ApiKeys().empty());
}

TEST_F(ApiKeysTest, RefusesWhatIsNotMeant) {
  EXPECT_THAT(refusal("abc\nabc 3\n"), HasSubstr("keys, line 2: this key stands there twice"));
  EXPECT_THAT(refusal("abc 1000 - same\ndef 1 - same\n"), HasSubstr("line 2: another key has the name 'same'"));
  EXPECT_THAT(refusal("abc many\n"), HasSubstr("line 1: 'many' is no limit"));
  EXPECT_THAT(refusal("abc 0\n"), HasSubstr("'0' is no limit"));
  EXPECT_THAT(refusal("abc 1 2 a name\n"), HasSubstr("line 1: a key, requests"));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("holds no key"));
  EXPECT_THROW(ApiKeys::from_file(folder_.path() / "missing"), Error);
}

}  // namespace
}  // namespace nmt::api_keys_test
