#include "base/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"

namespace nmt {

enum class Fruit { kApple, kPear, kQuince };
template <>
inline constexpr auto kNames<Fruit> = names("apple", "pear", "quince");

namespace choice_test {
namespace {

using testing::ElementsAre;

TEST(Choice, IsTheEnumInExpressions) {
  const Choice<Fruit> choice = Fruit::kPear;
  EXPECT_TRUE(choice == Fruit::kPear);
  EXPECT_TRUE(choice != Fruit::kApple);
  switch (choice) {
    case Fruit::kPear:
      break;
    default:
      FAIL();
  }
}

TEST(Choice, HasTheNamesInTheOrderOfTheEnumerators) {
  EXPECT_EQ(Choice<Fruit>("quince"), Fruit::kQuince);
  EXPECT_EQ(name_of(Fruit::kQuince), "quince");
  EXPECT_THAT(Choice<Fruit>(Fruit::kApple).names(), ElementsAre("apple", "pear", "quince"));
}

TEST(Choice, NamesAllForAnUnknownOne) {
  EXPECT_EQ(test::message_of<Error>([] { Choice<Fruit>("plum"); }), "'plum' is not one of: apple, pear, quince");
  Choice<Fruit> choice = Fruit::kPear;
  EXPECT_FALSE(choice.assign("plum"));
  EXPECT_EQ(choice, Fruit::kPear) << "nothing is changed";
  EXPECT_TRUE(choice.assign("apple"));
  EXPECT_EQ(choice, Fruit::kApple);
}

TEST(Choices, KeepTheOrderOfTheUser) {
  Choices<Fruit> choices = {"quince", "apple"};
  EXPECT_THAT(choices.chosen_names(), ElementsAre("quince", "apple"));
  EXPECT_THAT(choices.values(), ElementsAre(Fruit::kQuince, Fruit::kApple));
  EXPECT_TRUE(choices.contains(Fruit::kApple));
  EXPECT_FALSE(choices.contains(Fruit::kPear));
  EXPECT_FALSE(choices.append("plum"));
  EXPECT_EQ(choices.size(), 2u);
}

}  // namespace
}  // namespace choice_test
}  // namespace nmt
