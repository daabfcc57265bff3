#include <cstdlib>

#include "base/error.h"
#include "scoring/python/numpy_random.h"
#include "support.h"

namespace nmt::scoring::seed_test {
namespace {

using nmt::test::message_of;

TEST(Seed, ReadsNumbersOfAnySize) {
  struct Case {
    std::string text, number;
    std::vector<uint32_t> words;
  };
  for (const auto& [text, number, words] :
       {Case{"12345", "12345", {12345}}, Case{"007", "7", {7}}, Case{"0", "0", {0}}, Case{"000", "0", {0}},
        Case{"4294967296", "4294967296", {0, 1}}, Case{"18446744073709551616", "18446744073709551616", {0, 0, 1}}}) {
    const Seed seed = Seed::parse(text);
    EXPECT_EQ(seed.words, words) << text;
    EXPECT_EQ(seed.number_text(), number) << text;
    EXPECT_EQ(seed.text, text);
    EXPECT_EQ(seed.is_zero(), number == "0");
  }
}

TEST(Seed, NoneMeansEntropyOfTheSystem) {
  const Seed seed = Seed::parse("None");
  EXPECT_TRUE(seed.is_random());
  EXPECT_EQ(seed.text, "none");
  EXPECT_EQ(seed.number_text(), "none");
}

TEST(Seed, RefusesWhatIsNoNumber) {
  for (const std::string text : {"", "x", "-1", "1.5", "1_0", "+1", " 1"}) {
    EXPECT_EQ(message_of<Error>([&] { Seed::parse(text); }),
              "SACREBLEU_SEED=" + text + ": give a whole number from 0 on, or none");
  }
}

TEST(Seed, ComesFromTheEnvironment) {
  unsetenv("SACREBLEU_SEED");
  EXPECT_EQ(Seed::from_environment().words, (std::vector<uint32_t>{12345}));
  setenv("SACREBLEU_SEED", "99", 1);
  EXPECT_EQ(Seed::from_environment().words, (std::vector<uint32_t>{99}));
  unsetenv("SACREBLEU_SEED");
}

}  // namespace
}  // namespace nmt::scoring::seed_test
