#include "translation/lines/loops.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/scripted_model.h"
#include "translation/translator.h"
#include "translation/word_tokenizer.h"

namespace nmt::loops_test {
namespace {

using test::Ids;

TEST(RepeatsItself, FourTimesInARowAndEightTokens) {
  EXPECT_TRUE(repeats_itself(Ids{9, 4, 5, 4, 5, 4, 5, 4, 5}));
  EXPECT_TRUE(repeats_itself(Ids{4, 5, 4, 5, 4, 5, 4, 5, 9}));
  EXPECT_TRUE(repeats_itself(Ids{4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5, 6}));
  EXPECT_TRUE(repeats_itself(Ids(8, 4)));
  EXPECT_FALSE(repeats_itself(Ids(7, 4))) << "so few may be meant: ha ha ha";
  EXPECT_FALSE(repeats_itself(Ids{4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5})) << "three times and a half";
  EXPECT_FALSE(repeats_itself(Ids{4, 5, 4, 5, 9, 4, 5, 4, 5})) << "not in a row";
  EXPECT_FALSE(repeats_itself({}));
}

TEST(IsLoop, ComparesWithTheSource) {
  const auto loop = [](Ids source, Ids target, bool finished = true) {
    Alternative one;
    one.parts = {{.source = std::move(source), .target = std::move(target), .finished = finished}};
    return is_loop(one);
  };
  EXPECT_TRUE(loop({4, 5}, Ids(9, 4)));
  EXPECT_FALSE(loop(Ids(9, 7), Ids(9, 4))) << "the source repeats itself, too";
  Ids rising(24);
  std::ranges::generate(rising, [next = 4]() mutable { return next++; });
  EXPECT_TRUE(loop({4, 5}, rising, false)) << "cut far behind the source";
  EXPECT_FALSE(loop({4, 5}, rising, true));
  EXPECT_FALSE(loop({4, 5, 6}, rising, false));
}

/// Says "a b a b ..." and never ends, unless "a b" comes seldom enough: then "c".
std::vector<double> stutter(const Ids& /*source*/, const Ids& prefix) {
  std::vector<double> p(7, 1e-6);
  p[prefix.size() % 2 == 0 ? test::kA : test::kB] = 0.9;
  p[test::kC] = 0.09;
  if (!prefix.empty() && prefix.back() == test::kC) p[test::kEnd] = 9;
  return p;
}

class RetryLoops : public testing::Test {
 protected:
  Translation translate(bool retry) {
    test::ScriptedModel model(7, stutter);
    const TextCodec codec = test::word_codec({"a", "b", "c"});
    const Translator translator(model, codec, {.search = {{.beam_size = 1, .retry_loops = retry}}});
    return translator.translate(std::vector<std::string>{"a b"}).front();
  }
};

TEST_F(RetryLoops, AreMarkedAndSearchedOnceMoreWhereAskedFor) {
  const auto first = translate(false);
  EXPECT_TRUE(first.loop);
  EXPECT_TRUE(first.text.starts_with("a b a b a b a b a b"));
  const auto second = translate(true);
  EXPECT_TRUE(second.loop) << "the first search ended in one";
  EXPECT_EQ(second.text, "a b a b a c");
}

}  // namespace
}  // namespace nmt::loops_test
