#include "text/augmentation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/edit_distance.h"
#include "base/unicode.h"

namespace nmt::augmentation_test {
namespace {

TEST(Augmentation, ChangesASide) {
  EXPECT_EQ(changed_text("Die Straße.", "", {.upper = true}), "DIE STRASSE.");
  EXPECT_EQ(changed_text("we don't (ever) visit \"éclairs\" on the 3rd of NATO", "", {.title = true}),
            "We Don't (Ever) Visit \"Éclairs\" On The 3rd Of NATO");
  for (const auto& [text, expected] :
       {std::pair("Ja.", "Ja"), std::pair("Vraiment ?!", "Vraiment"), std::pair("So…", "So"), std::pair("何？", "何"),
        std::pair("हाँ।", "हाँ"), std::pair("He said \"No.\"", "He said \"No.\""), std::pair("?!", "?!")})
    EXPECT_EQ(changed_text(text, "", {.no_end_mark = true}), expected);
  EXPECT_EQ(changed_text("One.", "Two.", {.joined = true}), "One. Two.");
  EXPECT_EQ(changed_text("One.", "", {.joined = true}), "One.");
  EXPECT_EQ(changed_text("One.", "Two.", {.joined = true, .no_end_mark = true, .upper = true}), "ONE. TWO");
  EXPECT_EQ(changed_text("One.", "Two.", {}), "One.");
}

TEST(Augmentation, LeavesTagsAsTheyAre) {
  for (const auto& [text, tags] : {std::pair(">>fr<< a b", ">>fr<< "), std::pair("<BT> >>de<<a", "<BT> >>de<<"),
                                   std::pair("a <b>", ""), std::pair("<3 you > me", ""), std::pair("<x>", "<x>")})
    EXPECT_EQ(leading_tags(text), tags);
  EXPECT_EQ(changed_text(">>fr<< one.", ">>fr<< two.", {.joined = true, .no_end_mark = true, .upper = true}),
            ">>fr<< ONE. TWO");
  for (uint64_t i = 0; i < 50; ++i) {
    CounterRandom random({i});
    EXPECT_TRUE(with_typos(">>fr<< one", random).starts_with(">>fr<< "));
  }
}

TEST(Augmentation, DrawsEachChangeAtItsRate) {
  const AugmentationRates rates{.upper = 0.1, .title = 0.2, .typos = 0.3, .no_end_mark = 0.4, .joined = 0.05};
  constexpr int kDraws = 20000;
  int upper = 0, title = 0, typos = 0, no_end_mark = 0, joined = 0, typos_in_capitals = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    CounterRandom random({7, i});
    const auto changes = draw_changes(rates, random);
    upper += changes.upper, title += changes.title, typos += changes.typos;
    no_end_mark += changes.no_end_mark, joined += changes.joined;
    typos_in_capitals += changes.upper && changes.typos;
    EXPECT_FALSE(changes.upper && changes.title);
  }
  // Four standard deviations are 0.014 at most.
  EXPECT_NEAR(upper / double{kDraws}, 0.1, 0.014);
  EXPECT_NEAR(title / double{kDraws}, 0.2, 0.014);
  EXPECT_NEAR(typos / double{kDraws}, 0.3, 0.014);
  EXPECT_NEAR(no_end_mark / double{kDraws}, 0.4, 0.014);
  EXPECT_NEAR(joined / double{kDraws}, 0.05, 0.014);
  EXPECT_NEAR(typos_in_capitals / double{kDraws}, 0.03, 0.014) << "whatever the others are";
  CounterRandom random({1});
  EXPECT_FALSE(draw_changes({}, random).any());
}

TEST(Augmentation, MakesATypoForTwentyFiveLetters) {
  const std::string text = "Zwei Männer laufen.", longer = text + " " + text + " " + text;  // of 16 and 48 letters
  int changed = 0, far = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    const auto typos = [&](const std::string& of) {
      CounterRandom random({3, i});
      return with_typos(of, random);
    };
    EXPECT_EQ(typos(text), typos(text)) << "a function of the key";
    // A letter that is replaced may have two bytes, or give way to one of two.
    EXPECT_LE(edit_distance(text, typos(text)), 2u);
    changed += typos(text) != text;
    far += edit_distance(longer, typos(longer)) > 1;
    EXPECT_FALSE(find_invalid_utf8(typos(text)));
    EXPECT_EQ(typos("12 a 3 b."), "12 a 3 b.") << "no word has two letters";
  }
  EXPECT_GT(changed, 420) << "equal letters change places now and then";
  EXPECT_GT(far, 300) << "two typos";
}

}  // namespace
}  // namespace nmt::augmentation_test
